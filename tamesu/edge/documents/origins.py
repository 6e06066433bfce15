"""The markers of cases that came from elsewhere. Whatever lies at that name counts, also what cannot be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.trust import Origin
from tamesu.edge.documents.document import Document, DocumentFault
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml
from tamesu.edge.store.paths import Project

MAX_BYTES = 64 * 1024


def read_origins(project: Project) -> tuple[Origin, ...]:
    """Return the marker of every case that has one, by the name of the case."""
    folders = sorted(path.name for path in (project.root / "cases").glob("*"))
    marked = [case for case in folders if os.path.lexists(project.untrusted_marker(case))]
    return tuple(read_origin(project, case) for case in marked)


def read_origin(project: Project, case: str) -> Origin:
    """Return what the marker of a case says; never raises, since a damaged marker marks as well."""
    path = project.untrusted_marker(case)
    label = project.relative(path)
    try:
        content = _content(path)
    except OSError as error:
        return Origin(case, label, None, problem=f"cannot be read: {error.strerror}")
    sha256 = digest_bytes(content)
    try:
        document = read_yaml(label, content)
    except DocumentFault as error:
        return Origin(case, label, sha256, problem=f"is damaged: {error.finding.message}")
    problem = _problem(document)
    if problem is not None:
        return Origin(case, label, sha256, problem=f"is damaged: {problem}")
    value: Any = document.value
    return Origin(case, label, sha256, value["content_digest"], value["source"], value["unpacked_at"])


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(None, "it is no regular file")
    return read_regular_file(path, MAX_BYTES)


def _problem(document: Document) -> str | None:
    findings = validate(document, DocumentKind.UNTRUSTED_ORIGIN)
    return findings[0].message if findings else None
