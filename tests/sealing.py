"""run.yml as another maker would seal it, for tests of what a seal does not guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tamesu.base.model.evidence import RunRecord
from tamesu.edge.store.seal import dump_sealed


def write_sealed(path: Path, record: dict[str, Any]) -> None:
    """Write a run.yml, given as plain values, with the seal of what it says."""
    path.write_bytes(dump_sealed(msgspec.convert(record, RunRecord)))
