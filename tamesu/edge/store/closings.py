"""closing.yml: written sealed, read only as it was written."""

from __future__ import annotations

from tamesu.base.errors import EvidenceError
from tamesu.base.model.judgement import ClosingRecord
from tamesu.edge.store.records import parse_record
from tamesu.edge.store.seal import is_intact


def parse_closing(content: bytes, where: str) -> ClosingRecord:
    """Return the closings of an eval. Raises EvidenceError naming the file when it is none, or was edited."""
    record = parse_record(content, ClosingRecord, where)
    if not is_intact(record):
        raise EvidenceError(f"{where}: was changed after it was written; restore it from version control")
    return record
