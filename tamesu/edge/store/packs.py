"""Keys of review packs, and the archive of a pack: the same bytes for the same content."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tamesu.base.errors import EvidenceError, shown
from tamesu.base.model.review import PackKey
from tamesu.edge.store.files import write_exclusive
from tamesu.edge.store.inside import is_name
from tamesu.edge.store.paths import EvalPaths
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import dump_sealed, is_intact

_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the first that an archive can state
_PLAIN_FILE = 0o100644 << 16


def archive(folder: str, files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files in a folder of that name, sorted, with no times and nothing of this machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(files):
            member = zipfile.ZipInfo(f"{folder}/{name}", _NO_TIME)
            member.create_system, member.external_attr = 3, _PLAIN_FILE
            target.writestr(member, files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_keys(paths: EvalPaths) -> Iterator[PackKey]:
    """Yield the keys of an eval, sorted by name. Raises EvidenceError for one that is none."""
    if paths.review_keys.is_dir():
        yield from (_read(path) for path in sorted(paths.review_keys.glob("*.yml")) if not path.name.startswith("."))


def read_key(paths: EvalPaths, pack: str) -> PackKey | None:
    """Return the key of a pack, None when this eval has none. Raises EvidenceError for one that is none."""
    path = paths.review_key(pack)
    return _read(path) if path.is_file() else None


def write_key(paths: EvalPaths, key: PackKey) -> None:
    """Write a new key. Raises FileExistsError when there is one of that name."""
    write_exclusive(paths.review_key(key.pack), dump_sealed(key))


def _read(path: Path) -> PackKey:
    key = read_record(path, PackKey)
    if key.pack != path.stem:
        raise EvidenceError(f"{path}: is the key of pack '{key.pack}'; give it that name back")
    if not is_intact(key):
        raise EvidenceError(f"{path}: was changed after it was exported; restore it from version control")
    # a key may have come with a package, and records are written where it says
    names = (key.reviewer, *(name for entry in key.entries.values() for name in (entry.run_id, entry.item)))
    odd = next((name for name in names if not is_name(name)), None)
    if odd is not None:
        raise EvidenceError(f"{path}: names '{shown(odd)}', which leads out of its folder; restore the key")
    return key
