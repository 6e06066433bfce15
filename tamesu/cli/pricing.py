"""The option `--accept-unknown-price`: a person's word that nobody knows what a run will cost."""

from __future__ import annotations

import click

from tamesu.core.situation import Unpriced

accept_price_option = click.option(
    "--accept-unknown-price",
    "unpriced",
    flag_value=Unpriced.ACCEPTED,
    default=Unpriced.REFUSED,
    type=Unpriced,
    help="Run native evals whose price nobody knows; no budget can hold them.",
)
