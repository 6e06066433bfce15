"""One eval worked off on a backend, with its tables and views, and what differs between two such projects."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from tamesu.core.planning import Grouping, Retries
from tamesu.edge.store.paths import Project
from tamesu.stages.metrics import make_tables
from tamesu.stages.plan import digest_cache, plan_eval
from tamesu.stages.report import make_report
from tests.ingest.lab import work_off
from tests.projects import ShapesProject

# the run by its identity, the clock, and the class of an error as each backend meets it
OF_THE_BACKEND = {"run_id", "latency_ms", "error_type"}


def execution(backend: str, limits: str) -> str:
    """Return the block that chooses a backend, as it stands in eval.yml."""
    return f"execution:\n  backend: {backend}\n  limits: {limits}\n"


def with_views(project: ShapesProject) -> None:
    """Make one attempt at what the project's only eval owes, then its tables and its report."""
    worked = work_off(project)
    assert worked.error is None, worked
    place = Project(project.root)
    (ref,) = place.refs()
    cache = digest_cache(place)
    planned = plan_eval(place, ref, Grouping.BATCHED, Retries.BOUNDED, cache)
    make_tables(place, planned, cache)
    make_report(place, planned, cache)


def table(project: ShapesProject, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((project.eval / "tables" / name).read_text())))


def differing(one: list[dict[str, str]], other: list[dict[str, str]]) -> set[str]:
    """Return the columns in which any line differs."""
    return {name for mine, theirs in zip(one, other, strict=True) for name in mine if mine[name] != theirs[name]}


def boards_differ_in(one: ShapesProject, other: ShapesProject) -> list[str]:
    """Return the lines of one leaderboard that are others in the other one."""
    boards = [(project.eval / "leaderboard.md").read_text().splitlines() for project in (one, other)]
    return [mine for mine, theirs in zip(*boards, strict=True) if mine != theirs]


def of_the_answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result less what names its run, its clock and the class of its error."""
    return {name: value for name, value in result.items() if name not in {"run_id", "latency_ms", "error"}}
