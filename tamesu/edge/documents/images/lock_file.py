"""The lock file beside a compose file or Dockerfile: which content each unpinned reference stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind

SUFFIX = ".lock.yml"
_HEAD = "# Written by `tamesu lock`; commit it beside the file whose images it names.\n"


def lock_path(source: Path) -> Path:
    """Return where the images of a source are locked: `compose.lock.yml`, `Dockerfile.lock.yml`."""
    stem = source.stem if source.suffix in {".yaml", ".yml"} else source.name
    return source.with_name(stem + SUFFIX)


def read_lock(reading: Reading, path: Path) -> Mapping[str, str]:
    """Return the locked references; empty, with findings, for a file that is no lock."""
    document = reading.document(path, DocumentKind.IMAGE_LOCK)
    value: Any = None if document is None else document.value
    return {} if value is None else {entry["reference"]: entry["locked"] for entry in value["images"]}


def lock_bytes(locked: Mapping[str, str] | Iterable[tuple[str, str]]) -> bytes:
    """Return the content of a lock file, sorted by reference: same images in, same bytes out."""
    entries = [{"reference": reference, "locked": content} for reference, content in sorted(dict(locked).items())]
    value = {"schema_version": 1, "images": entries}
    return (_HEAD + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)).encode()
