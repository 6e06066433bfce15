"""`package.yml` as bytes."""

from __future__ import annotations

import msgspec

from tamesu.base.model.package import PackageRecord
from tamesu.edge.store.records import dump_record


def record_bytes(record: PackageRecord) -> bytes:
    """Return a record as YAML, fields in the order of their type, without those that say nothing."""
    said = {name: value for name, value in msgspec.to_builtins(record).items() if value is not None}
    return dump_record(said)
