"""Lock: from the unpinned images of evals to the lock files that say which content they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tamesu.base.errors import ContainerFault, InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.trust import TrustedCode
from tamesu.core.image_lock import LockedImage, locked_content, own_names
from tamesu.core.trust import still_untrusted
from tamesu.edge.docker import children_of, local_image, pull_image
from tamesu.edge.documents.images.lock_file import lock_bytes, lock_path, read_lock
from tamesu.edge.documents.images.reader import LockableImage
from tamesu.edge.documents.lockable import read_eval_images
from tamesu.edge.documents.reading import Reading
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.images import tag_notes
from tamesu.stages.trust import concerned_origins


class Entries(StrEnum):
    """What happens to the other entries of a lock file: those that no read eval names stay, or go."""

    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class WrittenLock:
    """A lock file that was written: its project path, how many images it holds, whether its bytes changed."""

    file: str
    images: int
    changed: bool


def lock_evals(project: Project, refs: Sequence[EvalRef], others: Entries) -> tuple[WrittenLock, ...]:
    """Resolve every unpinned image of the evals again and write their lock files.

    Raises InvalidDocument, and ContainerFault without Docker or for an image that cannot be had; nothing is
    written then.
    """
    images = [image for ref in refs for image in read_eval_images(project, ref).images]
    return _write(project, [image for image in images if not image.reference.pinned], others)


def lock_missing(
    project: Project, refs: Iterable[EvalRef], tell: Callable[[str], None], trusted: Sequence[TrustedCode] = ()
) -> None:
    """Lock what active evals with `allow_mutable_images` name and what is not locked yet, with a line each.

    An eval that does not read, or whose code came from elsewhere, is left to the plan, which says why. Raises
    ContainerFault.
    """
    for ref in refs:
        manifest = project.eval(ref).manifest
        # every other eval is spared a second reading
        if not manifest.is_file() or b"allow_mutable_images" not in manifest.read_bytes():
            continue
        try:
            read = read_eval_images(project, ref)
        except InvalidDocument:
            continue
        missing = [one for one in read.images if not one.reference.pinned and one.reference.locked is None]
        may = read.mutable and read.active and not read.errors
        if may and missing and not _foreign(project, ref, missing, trusted):
            written = _write(project, missing, Entries.KEEP)
            tell(f"{ref}: locked {len(missing)} image(s) in {', '.join(lock.file for lock in written)}")


def _foreign(project: Project, ref: EvalRef, images: Iterable[LockableImage], trusted: Sequence[TrustedCode]) -> bool:
    sources = (project.relative(image.source) for image in images)
    return bool(still_untrusted(concerned_origins(project, ref, sources), trusted))


def disagreeing_tags(project: Project, refs: Sequence[EvalRef]) -> tuple[str, ...]:
    """Return a note for each pinned image of the evals whose tag stands for other content than its digest."""
    images = (image.reference for ref in refs for image in read_eval_images(project, ref).images)
    return tag_notes(image.reference for image in images if image.pinned)


def unlocked_errors(project: Project, refs: Sequence[EvalRef]) -> tuple[Finding, ...]:
    """Return what is still wrong with the sources of the evals, such as images that no lock can resolve."""
    return tuple(sorted({finding for ref in refs for finding in read_eval_images(project, ref).errors}))


def _write(project: Project, images: Sequence[LockableImage], others: Entries) -> tuple[WrittenLock, ...]:
    references = dict.fromkeys(image.reference.reference for image in images)
    content = {reference: _content(reference) for reference in references}
    files: dict[Path, dict[str, LockedImage]] = {}
    for image in images:
        entries = files.setdefault(lock_path(image.source), {})
        entries[image.reference.reference] = content[image.reference.reference]
    return tuple(_write_file(project, path, entries, others) for path, entries in sorted(files.items()))


def _content(reference: str) -> LockedImage:
    """Return what a reference stands for on this machine; it is pulled when it is not here."""
    image = local_image(reference)
    if image is None:
        pull_image(reference)
        image = local_image(reference)
    if image is None:
        raise ContainerFault(f"image '{reference}': is not here after it was pulled; pull it by hand")
    for name in own_names(reference, image.repo_digests):
        child = children_of(name).get(image.platform or "")
        if child is not None:
            # an image that was pulled by an index and by itself has both names; the index holds for every machine
            return LockedImage(name, image.platform, child)
    return LockedImage(locked_content(reference, image.id, image.repo_digests), image.platform)


def _write_file(project: Project, path: Path, entries: Mapping[str, LockedImage], others: Entries) -> WrittenLock:
    known = read_lock(Reading(project.root), path) if others is Entries.KEEP and path.exists() else {}
    merged = {**known, **entries}
    content = lock_bytes(merged)
    changed = not path.exists() or path.read_bytes() != content
    if changed:
        write_atomic(path, content)
    return WrittenLock(project.relative(path), len(merged), changed)
