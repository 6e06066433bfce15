"""What a page shows of outputs: small pictures, remembered by the digest of what they show, and the words of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import StorageFull
from tamesu.base.model.evidence import Artifact, ItemResult, OutputFile
from tamesu.core.media import Kind, kind_of
from tamesu.core.report.exhibits import Exhibit, picture_exhibit, recording_exhibit, text_exhibit
from tamesu.core.report.page import MOST_TILES
from tamesu.core.report.study.case import PictureKey
from tamesu.core.report.study.items import Outputs, Shown, excerpt
from tamesu.core.report.text import clean
from tamesu.core.rows import SlotEvidence
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_verified
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned
from tamesu.stages.summary import slot_results

_THUMBNAIL_SIDE = 96
_PNG = b"\x89PNG\r\n\x1a\n"
_RECORDINGS_BYTES = 16 * 1024 * 1024  # of all sounds and films in a page
_ALL_TEXT = 6_000_000  # characters of all outputs in a page
_MOST_TEXT, _LEAST_TEXT = 2_000, 120  # characters of one output

ExhibitsByOutput = dict[tuple[str, str], tuple[Exhibit, ...]]


def exhibits_of(project: Project, planned: Planned, cache: DigestCache) -> ExhibitsByOutput:
    """Return what is shown of outputs by run and item, as many as a page shows."""
    found: ExhibitsByOutput = {}
    room = _RECORDINGS_BYTES
    for slot in planned.plan.slots:
        run = project.eval(slot.spec.ref).run(slot.spec.run_id)
        for name, result in slot_results(project, slot, cache).items():
            if result.outcome.status != "generated":
                continue
            if len(found) >= MOST_TILES:
                return found
            shown = tuple(filter(None, (_exhibit(project, one, run.item(name), room) for one in _reviewed(result))))
            room -= sum(len(one.source) for one in shown if one.kind != "image" and one.source is not None)
            if shown:
                found[slot.spec.run_id, name] = shown
    return found


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """A review artifact: its role where there are several, its path in the item's folder, its kind and digest."""

    role: str
    path: str
    kind: Kind | None
    sha256: str


def _reviewed(result: ItemResult) -> list[_Reviewed]:
    """Return the review artifacts in the order of their roles."""
    media = {artifact.path: artifact.media_type for artifact in result.artifacts}
    match result.output:
        case None:
            return []
        case OutputFile(path=path, sha256=sha256):
            return [_Reviewed("", path, kind_of(media.get(path, "")), sha256)]
        case files:
            return [_Reviewed(one.role, one.path, kind_of(media.get(one.path, "")), one.sha256) for one in files]


def _exhibit(project: Project, one: _Reviewed, folder: Path, room: int) -> Exhibit | None:
    if one.kind == "image":
        small = _thumbnail(project, one.sha256, folder / one.path)
        return None if small is None else picture_exhibit(one.role, small)
    content = (folder / one.path).read_bytes()
    match one.kind:
        case "text":
            return text_exhibit(one.role, content)
        case "audio" | "video":
            return recording_exhibit(one.role, one.kind, content, one.path, room)
    return None


def _thumbnail(project: Project, sha256: str, path: Path) -> bytes | None:
    """Return a small picture of an artifact that verified, remembered by its digest."""
    place = project.thumbnails / str(_THUMBNAIL_SIDE) / sha256[:2] / f"{sha256}.png"
    with suppress(OSError):
        known = place.read_bytes()
        if known.startswith(_PNG):
            return known
    from tamesu.core.images import thumbnail  # decoders take long to import

    small = thumbnail(path.read_bytes(), _THUMBNAIL_SIDE)
    if small is not None:
        with suppress(OSError, StorageFull):
            write_verified(place, small)
    return small


def shown_outputs(project: Project, slots: Sequence[SlotEvidence], numbers: Mapping[PictureKey, int]) -> Outputs:
    """Return what cards show of each output by run and item; `numbers` says which picture of the gallery is whose."""
    texts = sum(_is_text(one) for slot in slots for result in slot.results.values() for one in result.artifacts)
    most = max(_LEAST_TEXT, min(_MOST_TEXT, _ALL_TEXT // max(1, texts)))
    return {
        (slot.spec.run_id, item): tuple(_shown(project, slot, result, numbers, most))
        for slot in slots
        for item, result in slot.results.items()
    }


def _is_text(artifact: Artifact) -> bool:
    return kind_of(artifact.media_type) == "text"


def _shown(
    project: Project, slot: SlotEvidence, result: ItemResult, numbers: Mapping[PictureKey, int], most: int
) -> Iterator[Shown]:
    folder = project.eval(slot.spec.ref).run(slot.spec.run_id).item(result.item)
    single = result.output.path if isinstance(result.output, OutputFile) else None
    first = {one.path for one in _reviewed(result)}
    for artifact in sorted(result.artifacts, key=lambda one: one.path not in first):
        role = "" if artifact.path == single else artifact.role
        number = numbers.get((slot.spec.run_id, result.item, role))
        text = _text(folder / artifact.path, artifact, most) if _is_text(artifact) else None
        note = f"{artifact.path}, {artifact.size:,} bytes"
        yield Shown(clean(artifact.role), clean(note), text, number if text is None else None)


def _text(path: Path, artifact: Artifact, most: int) -> str | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return excerpt(content.decode("utf-8-sig", "replace"), most, artifact.path)
