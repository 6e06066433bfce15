"""The `tamesu` command."""

from __future__ import annotations

import click

from tamesu import __version__
from tamesu.cli.plumbing import complete, execute, freeze, ingest, metrics, report
from tamesu.cli.reading import lint, plan, status, where
from tamesu.cli.running import rescore, resume, run
from tamesu.cli.session import guarded


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tamesu")
def cli() -> None:
    """AI evaluations as experiments with evidence: lint, plan, run, and defend every figure later."""


for command in (run, resume, rescore, status, plan, lint, report, where, freeze, execute, ingest, metrics, complete):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    guarded(cli)
