"""The archive of a published version, made anew from its payload: the bytes that `pack` made of the same files."""

from __future__ import annotations

import os
from pathlib import Path

from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import MANIFEST, PAYLOAD, PackageRecord
from tamesu.core.packages.inventory import archive_name, in_order
from tamesu.core.report.site import Download
from tamesu.edge.packages.archive_writer import ArchiveWriter
from tamesu.edge.packages.record_file import record_bytes
from tamesu.edge.store.unfollowed import open_unfollowed
from tamesu.stages.unpack import verify_package


def write_download(payload: Path, files: tuple[FileDigest, ...], package: PackageRecord, folder: Path) -> Download:
    """Write the archive of a payload into a folder. Raises InvalidPackage for one that nobody could unpack."""
    archive = folder / archive_name(package.publisher, package.name, package.version)
    with archive.open("wb") as stream:
        writer = ArchiveWriter(stream)
        writer.add(MANIFEST, record_bytes(package))
        for file in in_order(files):
            writer.add(PAYLOAD + file.path, _content(payload / file.path))
        writer.close()
    sound = verify_package(archive)
    return Download(archive.name, sound.archive_sha256, archive.stat().st_size)


def _content(path: Path) -> bytes:
    handle = open_unfollowed(path)
    with os.fdopen(handle, "rb") as stream:
        return stream.read()
