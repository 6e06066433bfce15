"""The two append-only files of an eval: the ledger of money and the call log of each run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from tamesu.base.canonical import Json, canonical_bytes
from tamesu.base.errors import DamagedLedger
from tamesu.base.model.evidence import LedgerEntry
from tamesu.edge.store.files import append_line, whole_lines
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project

_PATIENCE_SECONDS = 60.0

CallEvent = Literal[
    "run_started",
    "provider_attempt",
    "inspect_log",
    "artifacts_written",
    "item_finished",
    "result_replaced",
    "framework_error",
    "run_finished",
]


def read_ledger(path: Path) -> tuple[LedgerEntry, ...]:
    """Return the entries of a ledger; a line torn by a crash was never acted upon and does not count.

    A line is torn when it is the beginning of an entry and nothing ended it, or when the next entry did. Raises
    DamagedLedger for any other line that is no entry.
    """
    if not path.exists():
        return ()
    *lines, rest = path.read_bytes().split(b"\n")
    entries = []
    for number, line in enumerate(lines, 1):
        followed = number < len(lines) or bool(rest)
        if line.strip() and not (followed and _is_torn(line)):
            entries.append(_entry(f"{path}:{number}", line))
    if rest.strip() and not rest.startswith(b"{"):
        raise DamagedLedger(f"{path}:{len(lines) + 1}: is no entry; restore the ledger")
    return tuple(entries)


def _entry(place: str, line: bytes) -> LedgerEntry:
    try:
        entry = msgspec.json.decode(line, type=LedgerEntry)
    except msgspec.DecodeError as error:
        raise DamagedLedger(f"{place}: {error}; restore the ledger") from None
    if min(entry.usd, entry.spent_usd, entry.lost_usd) < 0:
        raise DamagedLedger(f"{place}: holds a negative amount; restore the ledger")
    return entry


def _is_torn(line: bytes) -> bool:
    """A torn line is the beginning of an entry without its end."""
    return line.startswith(b"{") and not line.rstrip().endswith(b"}")


def append_entry(path: Path, entry: LedgerEntry) -> None:
    """Append one entry, durable on return."""
    append_line(path, canonical_bytes(msgspec.to_builtins(entry)))


@contextmanager
def ledger_held(project: Project) -> Iterator[None]:
    """Hold all ledgers of the project, so that sums over them and the next entry belong together."""
    with held(project.lock("ledger"), "the ledger", _PATIENCE_SECONDS):
        yield


def all_ledgers(project: Project) -> tuple[LedgerEntry, ...]:
    """Return the entries of every eval's ledgers in the project, those of judges included."""
    paths = [project.eval(ref) for ref in project.refs()]
    files = [file for one in paths for file in (one.ledger, one.judge_ledger)]
    return tuple(entry for file in files for entry in read_ledger(file))


def log_event(path: Path, event: CallEvent, time: str, fields: Mapping[str, Json]) -> None:
    """Append one event to a run's call log."""
    log_events(path, [(event, time, fields)])


def log_events(path: Path, events: Iterable[tuple[CallEvent, str, Mapping[str, Json]]]) -> None:
    """Append events to a run's call log, all at once."""
    lines = [canonical_bytes({"event": event, "time": time, **fields}) for event, time, fields in events]
    if lines:
        append_line(path, b"\n".join(lines))


def read_events(path: Path) -> Sequence[dict[str, Json]]:
    """Return the events of a call log; a line that a death tore, and that was ended later, tells nothing."""
    if not path.exists():
        return []
    found = map(_event, whole_lines(path.read_bytes()))
    return [event for event in found if event is not None]


def _event(line: bytes) -> dict[str, Json] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None
