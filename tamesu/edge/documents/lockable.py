"""The container images of an eval, whatever else is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef
from tamesu.edge.documents.confinement import bounds
from tamesu.edge.documents.images.reader import LockableImage
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.documents.sources_reader import read_sources
from tamesu.edge.store.paths import Project


@dataclass(frozen=True, slots=True)
class EvalImages:
    """The images that the sources of an eval name, and the errors of these sources.

    `mutable` says that an unpinned image is allowed, `active` that the eval may run.
    """

    images: tuple[LockableImage, ...]
    errors: tuple[Finding, ...]
    mutable: bool
    active: bool


def read_eval_images(project: Project, ref: EvalRef) -> EvalImages:
    """Return the images of an eval. Raises InvalidDocument when the manifest or its task cannot be read."""
    manifest = project.eval(ref).manifest
    reading = Reading(project.root, bounds=bounds(project.root, manifest))
    document = reading.document(manifest, DocumentKind.EVAL)
    value: Any = {} if document is None else document.value
    execution = value.get("execution", {})
    if document is not None and "file" not in execution:
        return EvalImages((), (), mutable=False, active=False)
    task = None if document is None else reading.file(document, ("execution", "file"), execution["file"])
    if document is None or task is None:
        raise InvalidDocument(str(reading.told()[0]))
    read = read_sources(reading, document, execution, task)
    return EvalImages(
        images=read.images,
        errors=tuple(finding for finding in reading.told() if finding.severity == "error"),
        mutable=bool(execution.get("allow_mutable_images")),
        active=value.get("status", "active") == "active",
    )
