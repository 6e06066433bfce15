"""`package.yml` as bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from tamesu.base.model.package import PackageRecord
from tamesu.edge.store.records import dump_record


def record_bytes(record: PackageRecord) -> bytes:
    """Return a record as YAML, fields in the order of their type."""
    return dump_record(record_value(record))


def record_value(record: PackageRecord) -> dict[str, Any]:
    """Return a record as plain values, without fields that say nothing."""
    return {name: value for name, value in msgspec.to_builtins(record).items() if value is not None}
