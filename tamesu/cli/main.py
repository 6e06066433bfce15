"""The `tamesu` command: names of commands and the modules that hold them, imported when they are called."""

from __future__ import annotations

import importlib
from typing import Any

import click

from tamesu import __version__
from tamesu.cli.groups import NamedCommands
from tamesu.cli.session import end_interrupted, guarded, leave_behind_threads
from tamesu.short_lived import collect_seldom

# In the order of the help; the plumbing that rules call is hidden there.
COMMANDS = {
    "new": "creating",
    "run": "running",
    "show": "showing",
    "lint": "linting",
    "preflight": "preflighting",
    "plan": "planning",
    "activate": "activating",
    "status": "standing",
    "list": "listing",
    "leaderboard": "ranking",
    "compare": "comparing",
    "judge": "judging",
    "report": "deriving",
    "review": "reviewing",
    "present": "presenting",
    "pack": "packing",
    "resume": "running",
    "rescore": "rescoring",
    "close": "closing",
    "promote": "promoting",
    "lock": "locking",
    "verify": "unpacking",
    "unpack": "unpacking",
    "fork": "unpacking",
    "publish": "publishing",
    "site": "publishing",
    "models": "models",
    "where": "places",
    "freeze": "freezing",
    "execute": "plumbing",
    "ingest": "plumbing",
    "judging": "judging",
    "metrics": "deriving",
    "complete": "deriving",
}


class Commands(NamedCommands):
    """A group whose commands cost their import only when they are used."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interruption at any moment ends as one, before click calls it an abort."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            end_interrupted()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tamesu.cli.{COMMANDS[cmd_name]}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tamesu")
def cli() -> None:
    """AI evaluations as experiments with evidence: lint, plan, run, and defend every figure later.

    Begin in an empty folder with `tamesu new case NAME`; each command says what comes next. An EVAL is named
    CASE/EXPERIMENT/EVAL, or by any end of that which fits one only.
    """


def main() -> None:
    """Run the command line."""
    collect_seldom()
    try:
        guarded(cli)
    except SystemExit as ended:
        leave_behind_threads(ended.code)
        raise
