"""Commands that begin something: new case, new experiment, new eval."""

from __future__ import annotations

import math
from pathlib import Path

import click

from tamesu.base.errors import NoProject, UnknownName, UsageError, shown
from tamesu.base.model.manifest import EvalRef, ExperimentRef
from tamesu.cli.groups import NamedCommands, OneOf
from tamesu.cli.session import project_here, say
from tamesu.core.naming import check_id
from tamesu.core.routes import find_route, route_names
from tamesu.core.scaffold import Wishes
from tamesu.edge.store.paths import Project, find_project
from tamesu.stages.lint import lint_eval
from tamesu.stages.scaffold import Written, shortest_name, write_case, write_eval, write_experiment, write_project


@click.group(cls=NamedCommands, short_help="Begin a case, an experiment or an eval.")
def new() -> None:
    """Write a small working example to edit: a case, then an experiment in it, then an eval of that.

    \b
      tamesu new case word-problems
      tamesu new experiment word-problems/steps-first
      tamesu new eval steps-first/replayed

    The first case makes the project in this folder. Nothing is ever overwritten.
    """


@new.command(short_help="A real problem, with a dataset; the first one makes the project.")
@click.argument("name")
def case(name: str) -> None:
    """Write a case: the problem and a dataset of three items.

    Where no folder here or above holds cases/, this folder becomes the project. NAME is lowercase-with-hyphens.
    """
    check_id("case", name)
    try:
        project = find_project(Path.cwd())
    except NoProject:
        project = Project(Path.cwd().resolve())
        made = write_project(project.root)
        say(f"no project here or above: made one in {project.root}")
        _tell(made)
    _tell(write_case(project, name))
    say(f"next: describe the problem in case.yml, then `tamesu new experiment {name}/NAME`")


@new.command(short_help="A hypothesis in a case: prompts of two arms, and the task that scores.")
@click.argument("name", metavar="[CASE/]NAME")
@click.option("--with", "extra", type=OneOf(["review"]), help="Add a rubric, and a picture to review.")
def experiment(name: str, extra: str | None) -> None:
    """Write an experiment: a journal, the prompts of two arms, and an Inspect task with a scorer.

    CASE may be left out when there is one case.
    """
    project = project_here()
    parts = _parts(name, "experiment", "CASE/NAME", 2)
    ref = ExperimentRef(_case(project, parts[:-1]), parts[-1])
    _tell(write_experiment(project, ref, review=extra == "review"))
    say(f"next: state the hypothesis in README.md, then `tamesu new eval {ref}/NAME`")


@new.command("eval", short_help="A measurement plan of an experiment: eval.yml, as a draft.")
@click.argument("name", metavar="[CASE/][EXPERIMENT/]NAME")
@click.option("--provider", default="replay", show_default=True, help="Who answers; replay reads recorded answers.")
@click.option("--model", help="The model, as its provider names it.")
@click.option("--dataset", help="Which dataset of the case; needed when it has several.")
@click.option("--items", default="all", show_default=True, help="all, the first N, or IDs joined by commas.")
@click.option("--repetitions", type=click.IntRange(min=1), default=1, show_default=True, help="Runs per model and arm.")
@click.option("--budget-usd", type=float, default=1.0, show_default=True, help="Nothing starts that could cost more.")
@click.option("--with", "extra", type=OneOf(["sandbox"]), help="Ask for programs, and run them in a container.")
def new_eval(
    name: str,
    provider: str,
    model: str | None,
    dataset: str | None,
    items: str,
    repetitions: int,
    budget_usd: float,
    extra: str | None,
) -> None:
    """Write a draft eval of an experiment as it stands: its arms, its task, its case's dataset.

    CASE and EXPERIMENT may be left out when there is one. With provider replay, placeholder answers are written
    too; replace them by recorded ones. `--with sandbox` writes a task of the eval's own that runs the answer, a
    Python program, in a hardened Docker container; its image is yours to pin.
    """
    project = project_here()
    if find_route(provider) is None:
        raise UnknownName("provider", provider, route_names())
    if not (math.isfinite(budget_usd) and budget_usd >= 0):
        raise UsageError(f"--budget-usd {budget_usd}: is no amount in US dollars; give a number from 0 up")
    parts = _parts(name, "eval", "CASE/EXPERIMENT/NAME", 3)
    within = _experiment(project, parts[:-1])
    ref = EvalRef(within.case, within.experiment, parts[-1])
    wishes = Wishes(provider, model, items, repetitions, budget_usd, sandbox=extra == "sandbox")
    _tell(write_eval(project, ref, dataset, wishes))
    linted = lint_eval(project, ref)
    for finding in linted.findings:
        say(str(finding))
    tail = shortest_name(project, ref)
    first = "correct what is named above" if linted.errors else "read eval.yml"
    say(f"next: {first}, then `tamesu activate {tail}` and `tamesu run {tail}`")


def _parts(name: str, kind: str, form: str, most: int) -> list[str]:
    parts = name.strip("/").split("/")
    if len(parts) > most or not all(parts):
        raise UsageError(f"'{shown(name)}' cannot name an {kind}: write {form}")
    check_id(kind, parts[-1])
    return parts


def _case(project: Project, named: list[str]) -> str:
    if named:
        return project.find_case(named[0])
    known = project.cases()
    if len(known) == 1:
        return known[0]
    if not known:
        raise UsageError("there is no case here; begin with `tamesu new case NAME`")
    raise UsageError(f"several cases are here: {', '.join(known)}; write CASE/NAME")


def _experiment(project: Project, named: list[str]) -> ExperimentRef:
    if len(named) == 2:
        project.find_case(named[0])
    if named:
        return project.find_experiment("/".join(named))
    known = project.experiments()
    if len(known) == 1:
        return known[0]
    if not known:
        raise UsageError("there is no experiment here; begin with `tamesu new experiment CASE/NAME`")
    raise UsageError(f"several experiments are here: {', '.join(map(str, known))}; write EXPERIMENT/NAME")


def _tell(written: Written) -> None:
    for path in written.files:
        say(f"wrote {path}")
    for path in written.kept:
        say(f"kept  {path}, as it was")
