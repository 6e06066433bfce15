"""The entries of a pack: what is shown of outputs and inputs, and what the key says of each."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.base.model.judgement import ReviewRecord
from tamesu.base.model.manifest import FileDigest, Item
from tamesu.base.model.review import KeyEntry, ShownFile
from tamesu.core.media import kind_of
from tamesu.core.review.choice import Lot
from tamesu.core.review.pack import NOT_CUT, PackEntry, Shown, keeps_metadata, shown_file, shown_input
from tamesu.core.rows import ItemRow
from tamesu.core.votes import reviewed_artifacts
from tamesu.edge.store.paths import Project
from tamesu.stages.reviewing import Reviewable


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """An entry, what the key says of it, and what cannot be hidden in it."""

    entry: PackEntry
    key: KeyEntry
    warnings: tuple[str, ...]


def make_entry(
    project: Project, reviewable: Reviewable, row: ItemRow, item: Item, lot: Lot, disputed: tuple[ReviewRecord, ...]
) -> MadeEntry:
    """Return the entry of a row; `disputed` are the reviews that an adjudication decides between."""
    result = reviewable.results[row.run_id, row.item]
    folder = project.eval(reviewable.evaluation.ref).run(row.run_id).item(row.item)
    identity = lot.entry_id(row)
    outputs, files, warnings = [], [], []
    artifacts = reviewed_artifacts(result)
    for artifact in artifacts:
        content = _verified(folder / artifact.path, artifact.sha256)
        one = shown_file(artifact.role if len(artifacts) > 1 else "", kind_of(artifact.media_type), content)
        outputs.append(one)
        files.append(one.as_file(artifact.role, artifact.sha256))
        warnings += [f"{identity}: {NOT_CUT}"] * keeps_metadata(one, content)
        if one.kind == "nothing":
            warnings.append(f"{identity}: the output cannot be shown, it is {one.remarks[0]}")
    inputs, input_files = _inputs(project, item)
    earlier = tuple(sorted(disputed, key=lambda one: lot.draw("voice", row.run_id, row.item, one.reviewer)))
    return MadeEntry(
        PackEntry(identity, inputs, tuple(outputs), earlier),
        KeyEntry(row.run_id, row.item, tuple(files), input_files, _names(disputed)),
        tuple(warnings),
    )


def _names(reviews: Iterable[ReviewRecord]) -> tuple[str, ...]:
    return tuple(sorted(one.name for one in reviews))


def _verified(path: Path, sha256: str) -> bytes:
    content = path.read_bytes()
    if digest_bytes(content) != sha256:
        raise EvidenceError(f"{path}: is not what its result recorded; restore it, or rebuild it with `tamesu rescore`")
    return content


def _inputs(project: Project, item: Item) -> tuple[tuple[Shown, ...], tuple[ShownFile, ...]]:
    """Return an item's input with the files that go with it, under numbers instead of names."""
    files = [(asset, _asset(project, number, asset)) for number, asset in enumerate(item.assets, 1)]
    recorded = tuple(one.as_file(f"input-{number}", asset.sha256) for number, (asset, one) in enumerate(files, 1))
    return (*shown_input(item.input), *(one for _, one in files)), recorded


def _asset(project: Project, number: int, asset: FileDigest) -> Shown:
    kind = kind_of(mimetypes.guess_type(asset.path)[0] or "")
    return shown_file(f"file {number}", kind, _verified(project.root / asset.path, asset.sha256))
