"""A version in a registry, read as the package that was published there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamesu.base.errors import EvidenceError, UsageError
from tamesu.edge.packages.extraction import written_files
from tamesu.edge.packages.registry import Version, read_entry
from tamesu.stages.site_download import write_download


@contextmanager
def archive_of(path: Path) -> Iterator[Path]:
    """Yield the archive of a package: the file itself, or one made anew of the folder of a version in a registry.

    Raises UsageError for another folder, InvalidDocument for an entry that does not read, EvidenceError and
    InvalidPackage for a payload that is not what its entry says or is unsafe.
    """
    if not path.is_dir():
        yield path
        return
    version = Version(path.resolve())
    if not (version.entry.is_file() and version.payload.is_dir()):
        known = "an archive, or the folder PUBLISHER/NAME/VERSION of a registry"
        raise UsageError(f"{path}: is a folder that holds no entry.yml and payload/; name {known}")
    package = read_entry(version).package
    with tempfile.TemporaryDirectory(prefix="tamesu-version-") as folder:
        try:
            found = written_files(version.payload)
            download = write_download(version.payload, found, package, Path(folder))
        except OSError as error:
            what = "cannot be read as a file of the payload"
            raise EvidenceError(f"{error.filename}: {what}: {error.strerror}; restore the registry") from None
        yield Path(folder) / download.name
