"""Writing judgments: numbers that are never used twice, records that are never changed, and what each is paid as."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.model.evidence import LedgerEntry
from tamesu.base.model.judgement import JudgeCall, JudgmentFailure, JudgmentRecord
from tamesu.edge.store.files import whole_lines, write_exclusive
from tamesu.edge.store.paths import EvalPaths, RunPaths
from tamesu.edge.store.records import dump_record, read_record


@dataclass(frozen=True, slots=True)
class Series:
    """The calls of one judge by one rubric about one item, numbered from 1, whatever became of them."""

    run_id: str
    item: str
    judge: str
    rubric: str

    @property
    def stem(self) -> str:
        return f"{self.judge}--{self.rubric[:8]}"

    @property
    def account(self) -> str:
        """What the ledger of judges calls it, in the place of a run."""
        return f"{self.run_id}/{self.item}/{self.stem}"

    @classmethod
    def of_account(cls, account: str) -> Series | None:
        """Return the series that an account of the ledger names; its rubric is the beginning of the digest."""
        run_id, _, rest = account.partition("/")
        item, _, stem = rest.rpartition("/")
        judge, _, rubric = stem.rpartition("--")
        return cls(run_id, item, judge, rubric) if item and judge else None


def judgment_path(run: RunPaths, series: Series, number: int) -> Path:
    """Return where a verdict is recorded."""
    return run.judgments(series.item) / f"{series.stem}--{number:04d}.yml"


def failure_path(run: RunPaths, series: Series, number: int) -> Path:
    """Return where a call without a verdict is recorded."""
    return run.judgment_failures(series.item) / f"{series.stem}--{number:04d}.yml"


def last_number(run: RunPaths, series: Series, entries: Iterable[LedgerEntry]) -> int:
    """Return the last number that a series used, on disk or in the ledger; 0 when it used none."""
    used = [entry.attempt for entry in entries if entry.run_id == series.account]
    for folder in (run.judgments(series.item), run.judgment_failures(series.item)):
        for path in folder.glob(f"{series.stem}--*.yml"):
            with suppress(ValueError):
                used.append(int(path.stem.rpartition("--")[2]))
    return max(used, default=0)


def write_judgment(run: RunPaths, series: Series, record: JudgmentRecord | JudgmentFailure) -> None:
    """Write a record, durable on return. Raises FileExistsError when its number is taken."""
    place = judgment_path if isinstance(record, JudgmentRecord) else failure_path
    write_exclusive(place(run, series, record.number), dump_record(record))


def recorded_call(run: RunPaths, series: Series, number: int) -> JudgeCall | None:
    """Return what was recorded of a call; None when nothing was."""
    found, failed = judgment_path(run, series, number), failure_path(run, series, number)
    if found.exists():
        return read_record(found, JudgmentRecord).call
    return read_record(failed, JudgmentFailure).call if failed.exists() else None


def judge_wire(paths: EvalPaths, judge: str) -> Path:
    """Return where the requests of a judge are recorded: parameters and digests only."""
    return paths.folder / "logs" / "judges" / f"{judge}.jsonl"


def next_session(wire: Path) -> int:
    """Return the number of the next session in a wire log, whose lines name the session as their attempt."""
    if not wire.exists():
        return 1
    import msgspec

    return 1 + max(
        (msgspec.json.decode(line, type=_Session).attempt for line in whole_lines(wire.read_bytes())), default=0
    )


@dataclass(frozen=True, slots=True)
class _Session:
    attempt: int
