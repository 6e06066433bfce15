"""Review export: a blinded pack for one reviewer, and the key that stays here."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tamesu.base.errors import Refused, UsageError, shown
from tamesu.base.model.manifest import Rubric
from tamesu.base.model.review import PackKey
from tamesu.core.review.choice import Content, Lot, chosen_rows
from tamesu.core.review.names import Secret, name_warnings, secret_names
from tamesu.core.review.pack import Pack, texts_of
from tamesu.core.review.page import nothing_page, review_page, review_readme
from tamesu.core.review.pictures import NORMALISATION
from tamesu.core.review.sheet import empty_sheet
from tamesu.edge.documents.responses_sheet import has_answers
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.locks import held
from tamesu.edge.store.packs import archive, read_keys, write_key
from tamesu.edge.store.paths import EvalPaths, Project
from tamesu.stages.review_entries import MadeEntry, make_entry
from tamesu.stages.reviewing import Reviewable, human_rubric

SHEET = "responses.csv"
_OURS = {
    "review.html": re.compile(rb"<title>(Review|Adjudication|Nothing to review)</title>"),
    "README.txt": re.compile(rb"\A(Review|Adjudication) pack "),
}
_REVIEWER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_REVIEWER = 60
_LARGE_PAGE = 100 * 1024 * 1024
_SEED_BITS = 128
_PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Request:
    """A pack as it is asked for; without a seed a fresh one is drawn, without a folder it has its own."""

    reviewer: str
    content: Content
    run: str | None = None
    seed: int | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """A pack that was written, and what whoever hands it over has to know."""

    pack: str
    entries: int
    page: Path
    archive: Path
    key: Path
    warnings: tuple[str, ...]


def check_reviewer(name: str) -> None:
    """Raise UsageError for a reviewer whose name cannot stand in the names of packs and records."""
    if not _REVIEWER.fullmatch(name) or len(name) > _LONGEST_REVIEWER:
        said = "use lowercase letters and digits with single hyphens between them, 60 at most"
        raise UsageError(f"--reviewer '{shown(name)}': is no ID; {said}")


def export_pack(project: Project, reviewable: Reviewable, request: Request) -> Exported | None:
    """Write a pack and its key; None when there is nothing to review.

    Raises UsageError for a reviewer, run or eval that cannot be, Refused where answers would be overwritten.
    """
    check_reviewer(request.reviewer)
    human_rubric(reviewable.evaluation)
    _check_run(reviewable, request.run)
    rows = chosen_rows(reviewable.rows, request.reviewer, request.content, request.run)
    if not rows:
        return None
    lot = Lot(str(secrets.randbits(_SEED_BITS) if request.seed is None else request.seed), request.reviewer)
    disputed = request.content is Content.DISPUTED
    items = {item.id: item for item in reviewable.evaluation.dataset.items}
    made = [
        make_entry(project, reviewable, row, items[row.item], lot, row.human.counted if disputed else ())
        for row in lot.shuffled(rows)
    ]
    with held(project.review_lock(reviewable.evaluation.ref), "the review of this eval", _PATIENCE_SECONDS):
        return _written(project, reviewable, request, lot, made)


def write_nothing(folder: Path) -> None:
    """Write a page that says that nothing is owed, for a workflow that asked for the page of a pack."""
    _keep_what_is_not_ours(folder)
    write_atomic(folder / "review.html", nothing_page().encode())


def _written(project: Project, reviewable: Reviewable, request: Request, lot: Lot, made: list[MadeEntry]) -> Exported:
    rubric = human_rubric(reviewable.evaluation)
    key = _key(project, reviewable, rubric, request, lot, made)
    pack = Pack(
        name=key.pack,
        kind=key.kind,
        rubric=rubric,
        token=lot.draw("token", key.pack)[:16],
        entries=tuple(one.entry for one in made),
    )
    files = {
        "review.html": review_page(pack).encode("utf-8", "replace"),
        "README.txt": review_readme(pack).encode("utf-8", "replace"),
        SHEET: empty_sheet(pack),
    }
    folder = request.folder or project.review_packs(reviewable.evaluation.ref) / key.pack
    _keep_what_is_not_ours(folder)
    _keep_answers(folder, files[SHEET])
    paths = project.eval(reviewable.evaluation.ref)
    if not paths.review_key(key.pack).exists():
        write_key(paths, key)
    for name, content in files.items():
        write_atomic(folder / name, content)
    zipped = folder.with_name(f"{folder.name}.zip")
    write_atomic(zipped, archive(key.pack, files))
    return Exported(
        pack=key.pack,
        entries=len(made),
        page=folder / "review.html",
        archive=zipped,
        key=paths.review_key(key.pack),
        warnings=tuple(_warnings(reviewable, request, pack, made, len(files["review.html"]))),
    )


def _check_run(reviewable: Reviewable, run: str | None) -> None:
    known = {slot.spec.run_id for slot in reviewable.planned.plan.slots}
    if run is not None and run not in known:
        raise UsageError(
            f"--run '{shown(run)}': is no run of {reviewable.evaluation.ref}; `tamesu plan --json` lists them"
        )


def _keep_what_is_not_ours(folder: Path) -> None:
    """Raise Refused where a pack would overwrite files that no export wrote."""
    for name, ours in _OURS.items():
        with suppress(FileNotFoundError):
            if not ours.search((folder / name).read_bytes()):
                raise Refused(f"{folder / name}: is of no pack and would be overwritten; name another folder")


def _keep_answers(folder: Path, sheet: bytes) -> None:
    """Raise Refused where a pack would overwrite a sheet that somebody has begun to fill in."""
    with suppress(FileNotFoundError):
        content = (folder / SHEET).read_bytes()
        if content != sheet and has_answers(content):
            raise Refused(f"{folder / SHEET}: holds answers; import it or move it away, then export again")


# --- the key


def _key(
    project: Project, reviewable: Reviewable, rubric: Rubric, request: Request, lot: Lot, made: list[MadeEntry]
) -> PackKey:
    """Return the key of a pack: the one that lies here when the same pack was made before, else a new one."""
    paths = project.eval(reviewable.evaluation.ref)
    key = PackKey(
        pack="",
        eval=str(reviewable.evaluation.ref),
        kind="adjudication" if request.content is Content.DISPUTED else "review",
        reviewer=request.reviewer,
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        seed=lot.seed,
        rubric=rubric.digest,
        normalisation=NORMALISATION,
        entries={one.entry.id: one.key for one in made},
    )
    for known in read_keys(paths):
        if replace(known, pack="", time=key.time, checksum="") == key:
            return known
    return replace(key, pack=_free_name(paths, key, lot))


def _free_name(paths: EvalPaths, key: PackKey, lot: Lot) -> str:
    """Number the packs of a reviewer; the digits behind tell those of different evals apart."""
    begin = f"{key.reviewer}-"
    taken = {path.stem for path in paths.review_keys.glob(f"{begin}*.yml")}
    numbers = [int(found.group(1)) for name in taken if (found := re.fullmatch(rf"{begin}(\d+)-[0-9a-f]{{6}}", name))]
    return f"{begin}{max(numbers, default=0) + 1:03d}-{lot.draw('pack', key.eval)[:6]}"


# --- what cannot be hidden


def _warnings(reviewable: Reviewable, request: Request, pack: Pack, made: list[MadeEntry], size: int) -> Iterator[str]:
    secret = secret_names(slot.spec for slot in reviewable.planned.plan.slots)
    others = {one.reviewer for entry in pack.entries for one in entry.earlier}
    reviewers = tuple(Secret(name, "a reviewer") for name in sorted(others))
    yield from name_warnings(texts_of(pack.entries), (*secret, *reviewers))
    asked = (text for one in pack.rubric.dimensions for text in (one.id, one.question, *one.reason_codes))
    rubric = "\n".join((pack.rubric.name, pack.rubric.rationale, *asked))
    yield from name_warnings({(f"{pack.rubric.path}", "the rubric"): rubric}, secret)
    for one in made:
        yield from one.warnings
    if request.reviewer in others:
        yield f"{request.reviewer} gave some of the answers that this pack decides between; better ask somebody else"
    if size > _LARGE_PAGE:
        yield f"review.html has {size / 1024 / 1024:.0f} MB; some browsers are slow with that, so use --run"
    yield from (f"left out: {problem}" for problem in reviewable.problems)
