"""Names in evidence that become paths. A run that came with a package says whatever its maker wanted it to say."""

from __future__ import annotations

from tamesu.base.errors import EvidenceError, shown
from tamesu.base.model.evidence import ItemEntry, ItemResult


def stays_inside(path: str) -> bool:
    """Return whether a path in evidence names a place below the folder that it is relative to."""
    return "\\" not in path and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def is_name(text: str) -> bool:
    """Return whether a text names one thing in a folder: a path of one part."""
    return "/" not in text and stays_inside(text)


def check_result(name: str, entry: ItemEntry, result: ItemResult) -> None:
    """Accept a result.yml that speaks of its own item and of artifacts in the inventory. Raises EvidenceError.

    The inventory verified before, so every path of it is inside and every digest of it is true.
    """
    if result.item != name:
        raise EvidenceError(f"items/{name}/result.yml: is of item '{shown(result.item)}'; restore it from its source")
    for artifact in result.artifacts:
        if entry.artifacts.get(artifact.path) != artifact.sha256:
            place = shown(artifact.path)
            raise EvidenceError(
                f"items/{name}/result.yml: names the artifact '{place}', which run.yml does not hold so; "
                "restore both from their source"
            )
