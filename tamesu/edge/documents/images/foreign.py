"""Files that configure a sandbox which is no compose project, such as `values.yaml` of a Helm chart.

Their plug-in reads them; here they count byte for byte. Only their images are looked at, and only warned about.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import ImageReference
from tamesu.edge.documents.document import NodePath
from tamesu.edge.documents.images.survey import NOT_PINNED, Survey

_YAML = frozenset({".yaml", ".yml"})


def warn_of_images(survey: Survey, path: Path) -> None:
    """Add a warning for each `image` in the file that is a text without digest; what is no YAML holds none."""
    document = survey.yaml(path) if path.suffix.lower() in _YAML else None
    survey.findings.clear()  # whether the file is well formed is for its plug-in to say
    if document is None:
        return
    for at, reference in _images(document.value, ()):
        if not ImageReference(path.name, reference).pinned:
            survey.note(
                path, document.position(at), NOT_PINNED, f"image '{reference}' is not pinned",
                "write name@sha256:<digest>; `tamesu lock` locks compose files and Dockerfiles only", "warning",
            )  # fmt: skip


def _images(value: Json, at: NodePath) -> Iterator[tuple[NodePath, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield (*at, key), " ".join(inner.split())
            else:
                yield from _images(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _images(inner, (*at, number))
