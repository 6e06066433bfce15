"""Writing a result over one that says otherwise: the call log keeps what the old one said before it is gone."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError
from tamesu.base.model.evidence import ItemResult
from tamesu.core.corrections import Correction, correction_fields, corrects
from tamesu.edge.store.files import write_verified
from tamesu.edge.store.journal import log_event
from tamesu.edge.store.records import dump_record, parse_record
from tamesu.stages.clock import now


def replace_result(place: Path, made: ItemResult, call_log: Path) -> Correction | None:
    """Write a result and return what it corrects: None where nothing stood of the same attempt."""
    content = dump_record(made)
    correction = _correction(place, made, content)
    if correction is not None:
        log_event(call_log, "result_replaced", now(), correction_fields(correction))
    write_verified(place, content)
    return correction


def _correction(place: Path, made: ItemResult, content: bytes) -> Correction | None:
    if not place.is_file():
        return None
    before = place.read_bytes()
    if before == content:
        return None
    try:
        was = parse_record(before, ItemResult, str(place))
    except EvidenceError:
        was = None
    return Correction(digest_bytes(before), digest_bytes(content), was, made) if corrects(was, made) else None
