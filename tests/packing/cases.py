"""Cases that are published, and what lies in an archive."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

from tests.projects import ShapesProject

CASE = Path("cases/shape-drawing")
PUBLICATION = CASE / "publication.yml"
ARCHIVE = Path("build/packages/acme-shapes-1.0.0.tamesu.tar.gz")
SAID = """\
publisher: acme
name: shapes
version: 1.0.0
licence: CC-BY-4.0
authors: [Ada Example]
tags: [svg]
data_review:
  reviewer: Bea Example
  date: "2026-01-31"
  statement: The scenes were made up for this case; nobody is in them.
"""


def published(project: ShapesProject) -> ShapesProject:
    project.path(PUBLICATION).write_text(SAID)
    return project


def members(archive: Path) -> Mapping[str, bytes]:
    """Return the files of an archive by their paths in it, in their order."""
    with tarfile.open(archive) as tar:
        return {member.name: _content(tar, member) for member in tar}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(member)
    assert stream is not None, f"{member.name} is no regular file"
    return stream.read()


def extracted(archive: Path, folder: Path) -> Path:
    """Write the payload of an archive into a folder that does not exist yet, and return it."""
    for name, content in members(archive).items():
        if name.startswith("payload/"):
            target = folder / name.removeprefix("payload/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return folder
