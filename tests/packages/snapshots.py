"""What a folder and everything around it looks like, so that a test can say that nothing changed."""

from __future__ import annotations

from pathlib import Path


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Return kind, mode, time and content of everything below a folder, links not followed."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (root, *root.rglob("*")):
        known = path.lstat()
        content: object = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (known.st_mode, known.st_mtime_ns, known.st_nlink, content)
    return found
