"""Reading recorded answers while a manifest is checked: whether they parse, and whether every item has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import Message, RunSpec
from tamesu.core.lint import Remark
from tamesu.core.matrix import Matrix
from tamesu.core.roles import as_run
from tamesu.edge.documents.document import DocumentFault
from tamesu.edge.documents.reading import Reading
from tamesu.edge.providers.recordings import Cell, RecordedPicture, Recordings, parse_recordings

_MOST_LOOKUPS = 200_000  # of a large plan only first repetitions are looked up


def read_recordings(reading: Reading, path: Path) -> Recordings | None:
    """Return the recorded answers of a file; None, with a finding, when it cannot be read."""
    try:
        recordings = parse_recordings(reading.content(path), reading.relative(path))
    except DocumentFault as error:
        reading.findings.append(error.finding)
        return None
    _check_pictures(reading, path, recordings)
    return recordings


def _check_pictures(reading: Reading, path: Path, recordings: Recordings) -> None:
    """Note each recorded picture that is not here, or holds other bytes than its line says."""
    seen: set[RecordedPicture] = set()
    for line, picture in recordings.shown:
        if picture in seen:
            continue
        seen.add(picture)
        found = _digest(reading, path.parent / picture.file)
        if found == picture.sha256:
            continue
        if found is None:
            message, fix = f"'{picture.file}' cannot be read", "put the picture there, or correct its path"
        else:
            message = f"'{picture.file}' holds other bytes than `sha256` says"
            fix = f"put the picture back, or write sha256 {found}"
        reading.findings.append(
            Finding(reading.relative(path), line, 1, "error", "replay/picture", f"the picture {message}", fix)
        )


def _digest(reading: Reading, path: Path) -> str | None:
    """Return the digest of a picture's bytes, None when it cannot be read."""
    try:
        return digest_bytes(reading.content(path))
    except DocumentFault:
        return None


def answer_remarks(reading: Reading, evaluation: Eval, runs: Matrix) -> Iterator[Remark]:
    """Yield a warning for each run with items that no recorded answer fits; asking them would fail."""
    replayed = [spec for spec in runs.runs if spec.recordings is not None]
    if sum(len(spec.items) for spec in replayed) > _MOST_LOOKUPS:
        replayed = [spec for spec in replayed if spec.repetition == 1]
    yield from _lacking_roles(reading, runs)
    yield from _same_prompts(evaluation, runs)
    numbers = {(entry.provider, entry.model): number for number, entry in enumerate(evaluation.models)}
    for spec in replayed:
        lacking = _lacking(reading, spec)
        if lacking:
            label = f"{spec.model} x {spec.arm} rep {spec.repetition}"
            which = f"{len(lacking)} of {len(spec.items)} items of {label}, such as '{lacking[0]}'"
            message = f"no answer is recorded for {which}"
            fix = "record them, or correct the names in the recordings"
            yield Remark(("runs", numbers[spec.provider, spec.model]), "replay/no-answer", message, fix, "warning")


def _same_prompts(evaluation: Eval, runs: Matrix) -> Iterator[Remark]:
    """Yield an error for each replayed arm with two items that render to the same prompt: it names the item.

    On native calls are known by their items.
    """
    if evaluation.execution.backend == "native":
        return
    replayed = {spec.arm for spec in runs.runs if spec.recordings is not None}
    for number, arm in enumerate(evaluation.arms):
        seen: dict[tuple[Message, ...], str] = {}
        for sample in runs.datasets[arm.id].samples if arm.id in replayed else ():
            other = seen.setdefault(sample.messages, sample.item)
            if other != sample.item:
                message = f"items '{other}' and '{sample.item}' render to the same prompt, which replay knows items by"
                fix = "let the prompt tell them apart, or take one of them out"
                yield Remark(("arms", number), "replay/same-prompt", message, fix)
                break


def _lacking_roles(reading: Reading, runs: Matrix) -> Iterator[Remark]:
    """Yield one warning a role, for the first run of which some item has no recorded answer."""
    told: set[str] = set()
    for spec in runs.runs:
        for role in spec.roles:
            lacking = _lacking(reading, as_run(spec, role)) if role.role not in told else []
            if lacking:
                told.add(role.role)
                which = f"{len(lacking)} of {len(spec.items)} items of role '{role.role}', such as '{lacking[0]}'"
                fix = "record them, or correct the names in the recordings"
                at = ("execution", "model_roles", role.role)
                yield Remark(at, "replay/no-answer", f"no answer is recorded for {which}", fix, "warning")


def _lacking(reading: Reading, spec: RunSpec) -> list[str]:
    if spec.recordings is None:
        return []
    recordings = reading.shared("recordings", reading.root / spec.recordings.path, read_recordings)
    cell = Cell(spec.model, spec.arm, spec.repetition)
    return [] if recordings is None else [item for item in spec.items if recordings.answer(item, cell) is None]
