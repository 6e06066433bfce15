"""The lock file beside a compose file or Dockerfile: which content each unpinned reference stands for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tamesu.core.image_lock import LockedImage, repository
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind

_RULE = "image/lock"
_FIX = "delete the entry and run `tamesu lock`"
SUFFIX = ".lock.yml"
_HEAD = "# Written by `tamesu lock`; commit it beside the file whose images it names.\n"


def lock_path(source: Path) -> Path:
    """Return where the images of a source are locked: `compose.lock.yml`, `Dockerfile.lock.yml`."""
    stem = source.stem if source.suffix in {".yaml", ".yml"} else source.name
    return source.with_name(stem + SUFFIX)


def read_lock(reading: Reading, path: Path) -> Mapping[str, LockedImage]:
    """Return the locked references; empty, with findings, for a file that is no lock."""
    document = reading.document(path, DocumentKind.IMAGE_LOCK)
    if document is None:
        return {}
    value: Any = document.value
    locked: dict[str, LockedImage] = {}
    for number, entry in enumerate(value["images"]):
        reference, content = entry["reference"], entry["locked"]
        if reference in locked:
            message = f"'{reference}' is locked twice"
            reading.note(document, ("images", number, "reference"), _RULE, message, _FIX)
        if "@" in content and repository(content) != repository(reference):
            message = f"'{reference}' is locked to another repository, {repository(content)}"
            reading.note(document, ("images", number, "locked"), _RULE, message, _FIX)
        locked.setdefault(reference, LockedImage(content, entry.get("platform"), entry.get("child")))
    return locked


def lock_bytes(locked: Mapping[str, LockedImage]) -> bytes:
    """Return the content of a lock file, sorted by reference: same images in, same bytes out."""
    entries = [_entry(reference, locked[reference]) for reference in sorted(locked)]
    value = {"schema_version": 1, "images": entries}
    return (_HEAD + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)).encode()


def _entry(reference: str, image: LockedImage) -> dict[str, str]:
    """What is not known is left out, so that a lock of before stays as it is."""
    more = {"platform": image.platform, "child": image.child}
    known = {name: value for name, value in more.items() if value is not None}
    return {"reference": reference, "locked": image.content, **known}
