"""Where an archive goes: its name, a file to write it under first, and what may lie there already."""

from __future__ import annotations

import filecmp
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import InvalidPackage, Refused, UsageError
from tamesu.base.model.package import PackageRecord
from tamesu.core.packages.inventory import archive_name
from tamesu.edge.store.files import sync_folder
from tamesu.edge.store.locks import held, holder
from tamesu.edge.store.paths import Project
from tamesu.stages.unpack import verify_package

_PREFIX = ".packing-"
_BEGUN = re.compile(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}")  # as tempfile names them
_PATIENCE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Output:
    """Where a person wants an archive; `folder` when the path ends as only one of a folder does."""

    path: Path
    folder: bool


def archive_place(project: Project, record: PackageRecord, output: Output | None) -> Path:
    """Return the path of an archive, build/packages when nobody said. Nothing is made.

    Raises Refused for a place inside cases/ and for a folder outside of the project that is not there.
    """
    name = archive_name(record.publisher, record.name, record.version)
    if output is None:
        return project.packages / name
    inside = output.folder or output.path.is_dir()
    if output.folder and os.path.lexists(output.path) and not output.path.is_dir():
        raise Refused(f"{output.path}: is no folder; leave out the slash, or give another place")
    place = output.path / name if inside else output.path
    real = place.parent.resolve()
    if real.is_relative_to((project.root / "cases").resolve()):
        raise Refused(f"{output.path}: lies in cases/, where the next package would hold it; give a place outside")
    there = output.path.parent if output.folder else place.parent
    if not there.is_dir() and not real.is_relative_to(project.root):
        raise Refused(f"{there}: is not there; make that folder, or give another place")
    return place


@contextmanager
def begun_beside(target: Path) -> Iterator[Path]:
    """Give a file in the folder of the target, gone at the end; what a death left of others is removed before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f"{_PREFIX}*"):
        if _BEGUN.fullmatch(left.name) and left.is_file() and not left.is_symlink() and _is_left(left):
            left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=_PREFIX, dir=target.parent)
    os.close(handle)
    try:
        with held(Path(name), name, _PATIENCE_SECONDS):  # so that others see that it is being written
            yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _is_left(begun: Path) -> bool:
    """Return whether nobody writes a file any more; one that may not be read is somebody else's."""
    try:
        return holder(begun) is None
    except OSError:
        return False


def check_place(target: Path, record: PackageRecord) -> bool:
    """Return whether the same package lies at a place. Raises Refused for anything else there."""
    if not os.path.lexists(target):
        return False
    try:
        there = verify_package(target).record
    except (InvalidPackage, UsageError):
        raise Refused(f"{target}: is there and is no package; give another name, or move it away") from None
    if (there.publisher, there.name, there.version) != (record.publisher, record.name, record.version):
        raise Refused(f"{target}: is another package, {there.label}; give another name, or move it away")
    if there != record:
        what = "holds other content under the same version"
        raise Refused(f"{target}: {what}; raise `version` in publication.yml, or move that file away")
    return True


def place_archive(archive: Path, target: Path, record: PackageRecord) -> bool:
    """Give an archive its name, and return whether the same bytes had it before. Raises Refused for anything else."""
    try:
        os.link(archive, target)
    except FileExistsError:
        check_place(target, record)
        if filecmp.cmp(archive, target, shallow=False):
            return True
        raise Refused(
            f"{target}: is the same package in other bytes; it can be used as it is, or move it away"
        ) from None
    sync_folder(target.parent)
    return False
