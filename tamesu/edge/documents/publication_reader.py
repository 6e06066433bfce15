"""Reading `publication.yml`: under which name a case is published, by whom, and on which terms."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tamesu.base.model.package import Publication
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind


def read_publication(reading: Reading, path: Path) -> Publication | None:
    """Return what the manifest says; None, with findings, when it does not read."""
    document = reading.document(path, DocumentKind.PUBLICATION)
    if document is None or not isinstance(document.value, dict):
        return None
    said = {name: value for name, value in document.value.items() if name != "schema_version"}
    return msgspec.convert(said, Publication)
