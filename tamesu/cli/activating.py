"""The step from draft to active: from then on an eval may spend."""

from __future__ import annotations

import click

from tamesu.cli.session import project_here, say
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.stages.activate import Activation, activate_eval


@click.command(short_help="Make a draft active, so that it may run.")
@click.argument("name")
@click.option("--reopen", is_flag=True, help="Make a complete eval active again, for reviews that came late.")
def activate(name: str, reopen: bool) -> None:
    """Check an eval and set its status to active; only an active eval runs and spends.

    The word is replaced in eval.yml and every other byte stays. With errors, nothing is written. What closing.yml holds
    stays on record when a complete eval is opened again.
    """
    project = project_here()
    ref = project.find_ref(name)
    read = read_eval(project, ref)
    for finding in read.findings:
        say(str(finding))
    if read.evaluation is None:
        raise SystemExit(1)
    done = activate_eval(project, read.evaluation, reopen=reopen)
    say(f"{ref}: {done.value}")
    if done is Activation.DONE:
        say(f"next: `tamesu plan {name}` shows what it may cost, `tamesu run {name}` starts it")
    if done is Activation.REOPENED:
        say(f"next: `tamesu close {name}` when the new evidence is there; earlier closings stay in closing.yml")
