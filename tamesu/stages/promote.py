"""Promote: accepted pictures of a closed eval become a new dataset, with their provenance beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tamesu import __version__
from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, Refused, shown
from tamesu.base.model.promotion import PromotedItem, PromotionRecord, Selection
from tamesu.core.naming import check_id
from tamesu.core.promotion import (
    DATASET,
    ITEMS,
    PROMOTION,
    AcceptedOutput,
    PromotedDataset,
    PromotionSource,
    accepted_rows,
    check_task,
    chosen_selection,
    next_version,
    promoted_dataset,
    same_promotion,
    standing_closing,
)
from tamesu.core.rows import ItemRow
from tamesu.core.votes import reviewed_artifacts
from tamesu.edge.documents.promotion_reader import altered_since
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.folders import publish_folder
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.edge.store.records import dump_record, read_record
from tamesu.stages.reviewing import Reviewable, read_reviewable
from tamesu.stages.summary import closing_digest, evidence_digest, read_closing

_PATIENCE_SECONDS = 60


class Ending(Enum):
    """What became of a promotion."""

    DONE = "promoted"
    ALREADY = "promoted already"
    DRY_RUN = "would be promoted"


@dataclass(frozen=True, slots=True)
class Request:
    """A promotion as it is asked for; without a name the next version is made, without a selection the declared one."""

    dataset: str | None = None
    selection: Selection | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Promoted:
    """The folder of the new dataset, what its promotion.yml says, and what became of it.

    `altered` are lines about datasets of this very promotion that are not any more what was promoted.
    """

    folder: Path
    record: PromotionRecord
    ending: Ending
    altered: tuple[str, ...] = ()


def promote_eval(project: Project, name: str, request: Request, cache: DigestCache) -> Promoted:
    """Make accepted pictures a new dataset, or only check that it could be made.

    Raises UsageError for another task or a name that cannot be, Refused where the eval is not closed or the name is
    taken, NothingAccepted, EvidenceError for a picture that is not what its result recorded.
    """
    if request.dataset is not None:
        check_id("dataset", request.dataset)
    reviewable = read_reviewable(project, name, cache)
    made = _documents(project, reviewable, request, cache)
    case = reviewable.evaluation.ref.case
    with _alone(project, case, request):
        datasets = _datasets(project, case)
        before = _made_before(project, datasets, made.record)
        if request.dataset is None and before.whole is not None:
            return Promoted(before.whole, made.record, Ending.ALREADY, before.altered)
        target = datasets / (request.dataset or next_version(reviewable.evaluation.dataset.id, _names(datasets)))
        check_id("dataset", target.name)
        if os.path.lexists(target):
            raise _taken(project, target, reviewable.evaluation.dataset.id)
        files = _files(project, made, target.name)
        if request.dry_run:
            for _ in files:  # each picture is read and compared
                pass
            return Promoted(target, made.record, Ending.DRY_RUN, before.altered)
        try:
            publish_folder(target, files)
        except FileExistsError:
            raise _taken(project, target, reviewable.evaluation.dataset.id) from None
    return Promoted(target, made.record, Ending.DONE, before.altered)


def _alone(project: Project, case: str, request: Request) -> AbstractContextManager[None]:
    if request.dry_run:
        return nullcontext()
    return held(project.lock(f"promote--{case}"), f"the datasets of {case}", _PATIENCE_SECONDS)


# --- what is promoted


def _documents(project: Project, reviewable: Reviewable, request: Request, cache: DigestCache) -> PromotedDataset:
    evaluation, planned = reviewable.evaluation, reviewable.planned
    check_task(evaluation)
    for problem in reviewable.problems:
        raise EvidenceError(f"{evaluation.ref}: {problem}")
    evidence = closing_digest(project, planned, cache)
    closing = standing_closing(evaluation, read_closing(project, evaluation.ref), evidence)
    selection = chosen_selection(evaluation, request.selection)
    rows = accepted_rows(reviewable.rows, selection)
    source = PromotionSource(
        evaluation=evaluation,
        closing=closing,
        evidence=evidence_digest(project, planned, cache),
        policy=planned.plan.slots[0].spec.identity.judgement_digest,
        tamesu_version=__version__,
    )
    return promoted_dataset(source, reviewable.rows, tuple(_outputs(project, reviewable, rows)), selection)


def _outputs(project: Project, reviewable: Reviewable, rows: Iterable[ItemRow]) -> Iterator[AcceptedOutput]:
    recorded = {record.run_id: record.execution.recorded for record in reviewable.planned.records}
    paths = project.eval(reviewable.evaluation.ref)
    for row in rows:
        folder = paths.run(row.run_id).item(row.item)
        pictures = reviewed_artifacts(reviewable.results[row.run_id, row.item])
        if len(pictures) != 1:
            held_here = f"{project.relative(folder)}: holds {len(pictures)} pictures where one was accepted"
            raise EvidenceError(f"{held_here}; rebuild it with `tamesu rescore`")
        place = project.relative(folder / pictures[0].path)
        yield AcceptedOutput(row, pictures[0], place, recorded[row.run_id])


# --- where it goes


def _datasets(project: Project, case: str) -> Path:
    folder = project.datasets(case)
    if not folder.resolve().is_relative_to(project.root):
        raise Refused(f"{project.relative(folder)}: leads out of the project; keep every file below its folder")
    return folder


def _names(datasets: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in datasets.iterdir())) if datasets.is_dir() else ()


def _taken(project: Project, target: Path, source: str) -> Refused:
    free = next_version(source, _names(target.parent))
    return Refused(
        f"{project.relative(target)}: exists already and is not overwritten; choose another --dataset, or leave it "
        f"out for {shown(free)}"
    )


@dataclass(frozen=True, slots=True)
class _Before:
    """Datasets of one promotion that lie there: one that is whole, and lines about those that were altered since."""

    whole: Path | None
    altered: tuple[str, ...]


def _made_before(project: Project, datasets: Path, record: PromotionRecord) -> _Before:
    """Return what lies there of exactly this promotion."""
    whole, altered = None, []
    for path in sorted(datasets.glob(f"[!.]*/{PROMOTION}")):
        try:
            if not same_promotion(read_record(path, PromotionRecord), record):
                continue
            # held against what is accepted now, so that one that recorded less of itself is held against all of it
            changed = altered_since(project.root, path.with_name(DATASET), record)
        except (EvidenceError, OSError):
            continue  # damaged: no reason not to make it anew
        if changed:
            more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            altered.append(f"{project.relative(path.parent)}/{changed[0]}{more}")
        elif whole is None:
            whole = path.parent
    return _Before(whole, tuple(altered))


# --- what is written


def _files(project: Project, made: PromotedDataset, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the new folder, dataset.yml last: until then it is no dataset for anybody who looks in."""
    for item in made.record.items:
        yield item.asset, _picture(project, item)
    yield PROMOTION, dump_record(made.record)
    yield ITEMS, made.items
    yield DATASET, made.manifest(name)


def _picture(project: Project, item: PromotedItem) -> bytes:
    what_to_do = "restore it from version control, or rebuild it with `tamesu rescore`"
    try:
        content = read_regular_file(project.root / item.artifact, item.size)
    except OSError as error:
        said = error.strerror or error.args[0]
        raise EvidenceError(f"{item.artifact}: cannot be read: {said}; {what_to_do}") from None
    if digest_bytes(content) != item.sha256:
        raise EvidenceError(f"{item.artifact}: is not what its result recorded; {what_to_do}")
    return content
