"""What people and judging models said of the items of a run: records beside each result, one immutable file each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import EvidenceError
from tamesu.base.model.judgement import ItemJudged, JudgmentFailure, JudgmentRecord, ReviewRecord
from tamesu.core.judging.reply import contradicts
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.parsed import remembered
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import is_intact

_FOLDERS = ("reviews", "judgments", "judgment-failures")
T = TypeVar("T", ReviewRecord, JudgmentRecord, JudgmentFailure)


@dataclass(frozen=True, slots=True)
class _Inventory:
    """The record files of a run, by path below `items/`, with their digests."""

    files: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        return digest([list[Json](one) for one in self.files])


def judged_digest(run: RunPaths, cache: DigestCache) -> str | None:
    """Return the digest over all records of a run; None when there are none."""
    found = _inventory(run, cache)
    return found.digest if found.files else None


def read_judged(project: Project, run: RunPaths, cache: DigestCache) -> dict[str, ItemJudged]:
    """Return what was said of the items of a run, by item. Raises EvidenceError for a record that is not one."""
    found = _inventory(run, cache)
    if not found.files:
        return {}
    # by the run as well: the same files copied into another run are not its own
    known = digest([run.folder.name, found.digest])
    return remembered(project, "judged", known, dict[str, ItemJudged], lambda: _read(run, found))


def _inventory(run: RunPaths, cache: DigestCache) -> _Inventory:
    return _Inventory(tuple((path.relative_to(run.items).as_posix(), cache.digest(path)) for path in _files(run)))


def _files(run: RunPaths) -> Iterator[Path]:
    if not run.items.is_dir():
        return
    for item in sorted(run.items.iterdir()):
        for name in _FOLDERS:
            folder = item / name
            if folder.is_dir():
                yield from sorted(path for path in folder.glob("*.yml") if not path.name.startswith("."))


def _read(run: RunPaths, found: _Inventory) -> dict[str, ItemJudged]:
    items = dict.fromkeys(path.partition("/")[0] for path, _ in found.files)
    return {item: _item(run, item) for item in items}


def _item(run: RunPaths, item: str) -> ItemJudged:
    return ItemJudged(
        reviews=tuple(sorted(_records(run, item, run.reviews(item), ReviewRecord), key=lambda one: one.time)),
        judgments=tuple(_records(run, item, run.judgments(item), JudgmentRecord)),
        failures=tuple(_records(run, item, run.judgment_failures(item), JudgmentFailure)),
    )


def _records(run: RunPaths, item: str, folder: Path, kind: type[T]) -> Iterator[T]:
    for path in sorted(folder.glob("*.yml")):
        if path.name.startswith("."):
            continue
        record = read_record(path, kind)
        if (record.run_id, record.item) != (run.folder.name, item):
            said = f"is of item '{record.item}' of run {record.run_id}"
            raise EvidenceError(f"{path}: {said}; move it back, or restore it from version control")
        if not _is_named(path, record):
            raise EvidenceError(f"{path}: {_own_name(record)}; remove the copy, or restore it from version control")
        if isinstance(record, JudgmentRecord) and contradicts(record.raw, record.answers):
            raise EvidenceError(f"{path}: its answers are not what its reply says; restore it from version control")
        if isinstance(record, ReviewRecord) and not is_intact(record):
            fix = "restore it from version control, or remove it and import the answers again"
            raise EvidenceError(f"{path}: was changed after it was imported; {fix}")
        yield record


def _is_named(path: Path, record: ReviewRecord | JudgmentRecord | JudgmentFailure) -> bool:
    """Whether a record lies under its own name: a copy under another one would count once more."""
    if isinstance(record, ReviewRecord):
        return path.stem.partition("--")[0] == record.reviewer
    return path.stem == f"{record.call.judge}--{record.rubric[:8]}--{record.number:04d}"


def _own_name(record: ReviewRecord | JudgmentRecord | JudgmentFailure) -> str:
    if isinstance(record, ReviewRecord):
        return f"is a review by '{record.reviewer}', not by whom the file is named after"
    return f"is number {record.number} of judge '{record.call.judge}', not what the file is named after"
