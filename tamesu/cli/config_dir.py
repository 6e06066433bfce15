"""The option `--config-dir`: another folder whose .env may hold credentials and base URLs."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tamesu.edge.credentials import CONFIG_DIR


def _set(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        # by the environment, so that every job of this invocation reads the same folder
        os.environ[CONFIG_DIR] = str(value.resolve())


config_dir_option = click.option(
    "--config-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    expose_value=False,
    is_eager=True,
    callback=_set,
    help="A folder whose .env may hold credentials and base URLs.",
)
