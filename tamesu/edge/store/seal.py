"""What is sealed when it is written, so that what is changed by hand later does not count unseen."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from tamesu.base.canonical import digest
from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.judgement import ClosingRecord, ReviewRecord
from tamesu.base.model.review import PackKey
from tamesu.edge.store.records import dump_record, plain

Sealed: TypeAlias = ReviewRecord | PackKey | ClosingRecord | RunRecord


def dump_sealed(record: Sealed) -> bytes:
    """Return a record as YAML bytes, with the checksum of what it says."""
    return dump_record(replace(record, checksum=_checksum(record)))


def dump_unsealed(record: Sealed) -> bytes:
    """Return a record as YAML bytes without a checksum, as it was written before records of its kind were sealed."""
    return dump_record(replace(record, checksum="")).removesuffix(b"checksum: ''\n")


def is_intact(record: Sealed) -> bool:
    """Return whether a record says what it said when it was written."""
    return record.checksum == _checksum(record)


def _checksum(record: Sealed) -> str:
    return digest(plain(replace(record, checksum="")))
