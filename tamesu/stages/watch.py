"""Watching a project while its pages are shown: they are made anew, some quiet moments after their evidence changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tamesu.base.errors import TamesuError
from tamesu.core.progress import AT_WORK, Progress, advanced, totals
from tamesu.edge.store.locks import holder
from tamesu.edge.store.paths import Project
from tamesu.edge.store.progress import ProgressReader
from tamesu.stages.plan import digest_cache
from tamesu.stages.present import case_is_current, present_case
from tamesu.stages.report import view_made_from

_MOST_PATIENCE = 10  # looks after which a page is made anew although files still change
_NOT_WATCHED = frozenset({"inspect", "__pycache__"})

Signature = frozenset[tuple[str, int, int]]


@dataclass(slots=True)
class Watcher:
    """What is known of the cases that are shown. `look` is called again and again by one thread; others read."""

    project: Project
    cases: Sequence[str]
    say: Callable[[str], None]
    progress: str = ""
    _seen: dict[str, Signature] = field(default_factory=dict)
    _waiting: dict[str, int] = field(default_factory=dict)
    _told: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, tuple[int, str]] = field(default_factory=dict)
    _work: _Work | None = None

    def begin(self) -> None:
        """Make the pages that are stale."""
        for case in self.cases:
            self._seen[case] = _signature(self.project, case)
            self._make(case)

    def look(self) -> None:
        """Look once at every case; one that changed and is quiet now gets its page."""
        for case in self.cases:
            seen = _signature(self.project, case)
            if seen != self._seen[case]:
                self._seen[case] = seen
                self._waiting[case] = self._waiting.get(case, 0) + 1
                if self._waiting[case] < _MOST_PATIENCE:
                    continue
            if self._waiting.pop(case, 0):
                self._make(case)
        self._work = self._work or _Work(self.project)
        self.progress = self._work.line()

    def version(self, case: str) -> str:
        """Return what the page of a case was made from, as the page states it.

        While a workflow makes the page anew it is gone for a moment; until then it counts as what it was.
        """
        page = self.project.case_page(case)
        changed = _changed(page)
        known = self._versions.get(case)
        if known is None or (changed and known[0] != changed):
            known = (changed, f"sha256:{view_made_from(page) or ''}")
            self._versions[case] = known
        return known[1]

    def _make(self, case: str) -> None:
        """A page that cannot be made now is told once, and tried again at the next change."""
        cache = digest_cache(self.project)
        try:
            if not case_is_current(self.project, case, cache):
                present_case(self.project, case, cache)
            self._told.pop(case, None)
        except (TamesuError, OSError) as error:
            if self._told.get(case) != str(error):
                self._told[case] = str(error)
                self.say(f"{case}: the page is as it was: {error}")
        cache.save()


class _Work:
    """What a `tamesu run` of this project tells while it is at work, in one line."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._file: Path | None = None
        self._progress = Progress()

    def line(self) -> str:
        newest = max(self._project.progress("x").parent.glob("*.jsonl"), key=_changed, default=None)
        if newest is None:
            return ""
        if newest != self._file:
            self._file, self._reader, self._progress = newest, ProgressReader(newest), Progress()
        self._progress = advanced(self._progress, self._reader.new())
        at_work = [one for one in self._progress.runs.values() if one.state == AT_WORK]
        if not any(holder(self._project.lock(one.begun.run_id)) for one in at_work):
            return ""
        sums = totals(self._progress)
        recorded = ", recorded answers" if sums.recorded else ""
        failed = f", {sums.failed} failed" if sums.failed else ""
        return f"At work: {sums.done} of {sums.asked} items{failed}{recorded}"


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _signature(project: Project, case: str) -> Signature:
    """Return what the file system says of everything that the page of a case may be made from."""
    return frozenset((*_files(project.case(case)), *_files(project.root / "config")))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _NOT_WATCHED:
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                found = entry.stat(follow_symlinks=False)
                yield entry.path, found.st_mtime_ns, found.st_size
        except OSError:
            continue
