"""Report: from the same summary as the tables to leaderboard, evaluation report and result page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tamesu.base.model.evidence import ItemResult, OutputFile
from tamesu.core.images import thumbnail
from tamesu.core.media import Kind, kind_of
from tamesu.core.report.evaluation import evaluation_markdown
from tamesu.core.report.evidence import recorded_evidence
from tamesu.core.report.exhibits import Exhibit, picture_exhibit, recording_exhibit, text_exhibit
from tamesu.core.report.leaderboard import leaderboard_markdown
from tamesu.core.report.page import MOST_TILES, evaluation_page
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned
from tamesu.stages.summary import slot_results, summarise_eval

_THUMBNAIL_SIDE = 96
_RECORDINGS_BYTES = 16 * 1024 * 1024  # of all sounds and films in a page


def make_report(project: Project, planned: Planned, cache: DigestCache) -> None:
    """Write leaderboard.md, evaluation-report.md and the self-contained result page."""
    summary = summarise_eval(project, planned, cache)
    paths = project.eval(planned.evaluation.ref)
    write_atomic(paths.leaderboard, leaderboard_markdown(summary).encode())
    write_atomic(paths.report, evaluation_markdown(summary).encode())
    page = evaluation_page(summary, _exhibits(project, planned, cache))
    write_atomic(project.page(planned.evaluation.ref), page.encode())


def _exhibits(project: Project, planned: Planned, cache: DigestCache) -> dict[tuple[str, str], tuple[Exhibit, ...]]:
    """Return what is shown of outputs by run and item, as many as a page shows."""
    found: dict[tuple[str, str], tuple[Exhibit, ...]] = {}
    room = _RECORDINGS_BYTES
    for slot in planned.plan.slots:
        run = project.eval(slot.spec.ref).run(slot.spec.run_id)
        for name, result in slot_results(project, slot, cache).items():
            if result.outcome.status != "generated":
                continue
            if len(found) >= MOST_TILES:
                return found
            shown = tuple(filter(None, (_exhibit(one, run.item(name), room) for one in _reviewed(result))))
            room -= sum(len(one.source) for one in shown if one.kind != "image" and one.source is not None)
            if shown:
                found[slot.spec.run_id, name] = shown
    return found


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """A review artifact: its role where there are several, its path in the item's folder, its kind."""

    role: str
    path: str
    kind: Kind | None


def _reviewed(result: ItemResult) -> list[_Reviewed]:
    """Return the review artifacts in the order of their roles."""
    media = {artifact.path: artifact.media_type for artifact in result.artifacts}
    match result.output:
        case None:
            return []
        case OutputFile():
            return [_Reviewed("", result.output.path, kind_of(media.get(result.output.path, "")))]
        case files:
            return [_Reviewed(file.role, file.path, kind_of(media.get(file.path, ""))) for file in files]


def _exhibit(one: _Reviewed, folder: Path, room: int) -> Exhibit | None:
    content = (folder / one.path).read_bytes()
    match one.kind:
        case "image":
            small = thumbnail(content, _THUMBNAIL_SIDE)
            return None if small is None else picture_exhibit(one.role, small)
        case "text":
            return text_exhibit(one.role, content)
        case "audio" | "video":
            return recording_exhibit(one.role, one.kind, content, one.path, room)
    return None


def view_made_from(path: Path) -> str | None:
    """Return the evidence that a view on disk was made from; None when it is absent or names none."""
    try:
        return recorded_evidence(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
