"""How far the manifests of a case may reach: one that came from elsewhere names nothing outside its own folder."""

from __future__ import annotations

import os
from pathlib import Path

from tamesu.base.model.package import UNTRUSTED_ORIGIN


def bounds(root: Path, path: Path) -> Path | None:
    """Return the folder that what is named at `path` may not lead out of; None where no marked case holds it."""
    if not path.is_relative_to(root):
        return None
    parts = path.relative_to(root).parts
    if len(parts) < 2 or parts[0] != "cases":
        return None
    case = root / parts[0] / parts[1]
    return case if os.path.lexists(case / UNTRUSTED_ORIGIN) else None


def within(folder: Path, path: Path) -> bool:
    """Return whether a path stays in a folder as it is written and when its symlinks are followed."""
    try:
        places = ((folder, Path(os.path.normpath(path))), (folder.resolve(), path.resolve()))
    except (OSError, RuntimeError):  # a symlink to itself leads nowhere
        return False
    return all(place == home or home in place.parents for home, place in places)
