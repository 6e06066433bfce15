"""Where the packaged workflow lies."""

from __future__ import annotations

import click

from tamesu.cli.groups import OneOf
from tamesu.cli.session import say
from tamesu.workflow_files import profile, snakefile


@click.command()
@click.argument("what", type=OneOf(["snakefile", "profile"]))
def where(what: str) -> None:
    """Print where the packaged workflow lies."""
    say(str(snakefile() if what == "snakefile" else profile()))
