"""Reading `publication.yml`: under which name a case is published, by whom, and on which terms."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tamesu.base.model.finding import Finding
from tamesu.base.model.package import Publication
from tamesu.core.naming import id_fault
from tamesu.core.packages.publisher_names import publisher_fault
from tamesu.edge.documents.document import Document, DocumentFault
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml


def read_publication(reading: Reading, path: Path) -> Publication | None:
    """Return what the manifest says; None, with findings, when it does not read.

    A name that no registry or no file system could hold is a finding as well.
    """
    document = reading.document(path, DocumentKind.PUBLICATION)
    if document is None:
        return None
    publication = _said(document)
    for field, fault in (
        ("publisher", publisher_fault(publication.publisher)),
        ("name", id_fault("package", publication.name)),
    ):
        if fault is not None:
            reading.note(document, (field,), fault.rule, fault.message, fault.fix)
    return publication


def parse_publication(label: str, content: bytes) -> Publication | Finding:
    """Return what a publication.yml of a package says, or the first thing that is wrong with it."""
    try:
        document = read_yaml(label, content)
    except DocumentFault as error:
        return error.finding
    for finding in validate(document, DocumentKind.PUBLICATION):
        return finding
    return _said(document)


def _said(document: Document) -> Publication:
    assert isinstance(document.value, dict)
    said = {name: value for name, value in document.value.items() if name != "schema_version"}
    return msgspec.convert(said, Publication)
