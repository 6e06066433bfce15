"""The command `list`: cases, experiments and evals as a tree."""

from __future__ import annotations

import click
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from tamesu.cli.session import emit_json, project_here, say
from tamesu.core.report.text import visible
from tamesu.stages.listing import ListedCase, ListedEval, list_cases

_COLOURS = {"active": "green", "draft": "yellow", "invalid": "red", "complete": "blue"}


@click.command("list", short_help="Show cases, experiments and evals.")
@click.argument("case", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list(case: str | None, as_json: bool) -> None:
    """Show cases, experiments and evals: status, task, planned runs and items, question.

    CASE, left out, is every case. Nothing is executed; where runs stand is told by `tamesu status`.
    """
    project = project_here()
    cases = list_cases(project, project.cases() if case is None else (project.find_case(case),))
    if as_json:
        emit_json(cases)
        return
    if not cases:
        say(f"{project.root}: holds no case yet; begin with `tamesu new case NAME`")
    for one in cases:
        _show(one)


def _show(case: ListedCase) -> None:
    about = [f"\n{visible(line)}" for line in (case.question, case.problem) if line]
    tree = Tree(Text.assemble((case.name, "bold"), *about))
    for experiment in case.experiments:
        branch = tree.add(Text(experiment.name))
        for one in experiment.evals:
            branch.add(_label(one))
        if not experiment.evals:
            branch.add(Text(f"no eval yet; `tamesu new eval {case.name}/{experiment.name}/NAME`", style="dim"))
    if case.reports_alone:
        tree.add(Text(f"reports alone; `tamesu present {case.name}`", style="dim"))
    elif not case.experiments:
        tree.add(Text(f"no experiment yet; `tamesu new experiment {case.name}/NAME`", style="dim"))
    Console(highlight=False).print(tree)


def _label(one: ListedEval) -> Text:
    label = Text.assemble(f"{one.eval.rpartition('/')[2]}: ", (one.status, _COLOURS[one.status]))
    if one.status != "invalid":
        label.append(f", {one.task}, {_counted(one.runs, 'run')} x {_counted(one.items, 'item')}")
    for line in (one.question, one.problem):
        if line:
            label.append(f"\n{visible(line)}")
    return label


def _counted(number: int | None, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
