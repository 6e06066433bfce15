"""Parsed evidence, remembered by the digest of the run.yml that pins it; YAML is slow to read a second time.

An entry can only be wrong if its digest is, and results count only after the inventory of that run.yml
verified, so what is remembered is what the files say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import msgspec

from tamesu import __version__
from tamesu.base.errors import StorageFull
from tamesu.base.model.evidence import ItemResult, RunRecord
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.inside import check_result
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import read_record
from tamesu.edge.store.runs import read_run
from tamesu.edge.store.wire import wire_digests

T = TypeVar("T")


def read_run_record(project: Project, run: RunPaths, cache: DigestCache) -> RunRecord:
    """Return run.yml of a run. Raises EvidenceError when it does not parse or was changed after it was written."""
    known = cache.digest(run.record)
    return remembered(project, "runs", known, RunRecord, lambda: read_run(run))


def read_results(project: Project, run: RunPaths, cache: DigestCache) -> dict[str, ItemResult]:
    """Return the item results of a run whose inventory verified. Raises EvidenceError when one does not parse."""

    def read() -> dict[str, ItemResult]:
        record = read_run_record(project, run, cache)
        results = {name: read_record(run.result(name), ItemResult) for name in record.items}
        for name, result in results.items():
            check_result(name, record.items[name], result)
        return results

    return remembered(project, "results", cache.digest(run.record), dict[str, ItemResult], read)


def read_wire_digests(project: Project, run: RunPaths, cache: DigestCache) -> dict[int, str]:
    """Return the digest of each attempt's lines in wire.jsonl. Raises EvidenceError when one does not parse."""
    return remembered(project, "wire", cache.digest(run.wire), dict[int, str], lambda: wire_digests(run.wire))


def remembered(project: Project, kind: str, sha256: str, shape: type[T], read: Callable[[], T]) -> T:
    """Return what was parsed from content with this digest before, or read and remember it."""
    place = project.state / "cache" / __version__ / kind / sha256[:2] / f"{sha256}.msgpack"
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.msgpack.decode(place.read_bytes(), type=shape)
    value = read()
    with suppress(OSError, StorageFull):
        write_atomic(place, msgspec.msgpack.encode(value))
    return value
