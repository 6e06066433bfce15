"""The Inspect that the runs of an unpacked case were executed with, where this project pins another one."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from tamesu.base.errors import EvidenceError
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.settings_reader import read_setting
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.runs import read_run


@dataclass(frozen=True, slots=True)
class OtherInspect:
    """How many runs were executed with which Inspect, the most used one, and which one counts here."""

    runs: int
    executed: str
    pinned: str


def other_inspect(project: Project, case: str) -> OtherInspect | None:
    """Return what makes runs of a case stale here; None when all were executed with what is pinned."""
    pinned = read_setting(Reading(project.root), project.config, project.models).inspect_version
    versions: Counter[str] = Counter()
    for path in project.case(case).glob("experiments/*/evals/*/runs/*/run.yml"):
        with suppress(EvidenceError):
            versions[read_run(RunPaths(path.parent)).execution.inspect_version] += 1
    del versions[pinned]
    if not versions:
        return None
    return OtherInspect(versions.total(), versions.most_common(1)[0][0], pinned)
