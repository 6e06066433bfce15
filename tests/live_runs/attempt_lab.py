"""Attempts over a model server in a process of their own, without Snakemake: a second or two instead of eight."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import live
from tests.ingest.lab import Worked, in_process
from tests.servers import Asked, ModelServer, Reply

STAGES = ("freeze", "execute", "ingest")
_ITEM = re.compile(r"item (\d{4})")


def number(asked: Asked) -> int:
    """Return the number of the item that a request is about, from 1."""
    found = _ITEM.search(asked.prompt)
    assert found is not None, asked.prompt
    return int(found[1])


def by_item(replies: Mapping[int, Reply | Sequence[Reply]], other: Reply = Reply()) -> Callable[[Asked], Reply]:  # noqa: B008
    """Return an answer by item number; of several replies each try gets the next, and the last one stays."""

    def answer(asked: Asked) -> Reply:
        found = replies.get(number(asked), other)
        return found if isinstance(found, Reply) else found[min(asked.tries, len(found)) - 1]

    return answer


def attempted(
    target: Path, server: ModelServer, models: Sequence[live.Model], checked: bool = True, **settings: Any
) -> live.LiveProject:
    """Return a project of the given models after one attempt at each; `settings` are those of `live.make`."""
    project = live.make(target, server.url, models, **settings)
    worked = attempt(project, checked=checked)
    assert worked.error is None, worked
    return project


def attempt(
    project: live.LiveProject, env: Mapping[str, str] | None = None, again: bool = False, checked: bool = True
) -> Worked:
    """Work off what the project owes now: freeze, execute, ingest; `checked` False leaves the preflight out."""
    return in_process(_work_off, str(project.root), {**project.env, **(env or {})}, again, checked)


def the_attempt(project: live.LiveProject) -> dict[str, Any]:
    """Return the record of the only attempt."""
    (record,) = project.attempts()
    return record


def differences(record: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return what the wire check of an attempt found: kind, name, requests."""
    return [(found["kind"], found["name"], found["requests"]) for found in record["wire"]["differences"]]


def states(project: live.LiveProject) -> dict[str, str]:
    """Return how each run stands in the plan, by model."""
    return {run["model"]: run["state"] for run in project.plan()["runs"]}


def _work_off(root: str, variables: Mapping[str, str], again: bool, checked: bool) -> Worked:
    from tamesu.base.errors import TamesuError
    from tamesu.cli.main import cli
    from tamesu.core.planning import Grouping, Retries
    from tamesu.edge.store.paths import Project
    from tamesu.stages import launch_preflight
    from tamesu.stages.plan_file import save_plan
    from tamesu.stages.workflow import make_workflow_plan

    launch_preflight._WARM_UP_SECONDS = 5.0
    if not checked:
        launch_preflight.LaunchPreflight.check = lambda self, spec: None  # type: ignore[method-assign]
    told = io.StringIO()
    project = Project(Path(root))
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            os.environ.update(variables)
            os.chdir(root)
            retries = Retries.AGAIN if again else Retries.BOUNDED
            plan = make_workflow_plan(project, project.refs(), Grouping.BATCHED, retries, 1e12)
            assert not plan.broken, plan.broken
            plan_file = save_plan(project, plan)
            for launch in plan.launches:
                for stage in STAGES:
                    # an execution leaves only what it allows
                    os.environ.update(variables)
                    os.chdir(root)
                    receipt = project.receipts / f"{stage}-{launch.id}"
                    arguments = [stage, launch.id, "--plan", str(plan_file), "--receipt", str(receipt)]
                    cli.main(arguments, standalone_mode=False)
    except TamesuError as error:
        return Worked(told.getvalue(), f"{type(error).__name__}: {error}")
    return Worked(told.getvalue())
