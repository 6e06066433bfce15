"""The tables of items and runs, and their form as CSV: text quoted, numbers bare.

UTF-8, LF line ends, floats in their shortest exact form, flags as the text true and false. What is not
known is an empty text. A reader keeps IDs such as 007, 12e3 or NA by reading them as text, for example
`pandas.read_csv(path, dtype=str, keep_default_na=False)`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from tamesu.core.rows import ItemRow, SlotEvidence, rows_by_run

Value = str | int | float | bool | None
Kind = Literal["text", "integer", "number", "flag"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of items: its name, one line of what it holds, where the value is found, and its kind."""

    name: str
    description: str
    read: Callable[[ItemRow], Value]
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class RunColumn:
    """One column of runs; read from a planned run and the rows of its items."""

    name: str
    description: str
    read: Callable[[SlotEvidence, Sequence[ItemRow]], Value]
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of one kind each, and lines of as many values; None is what is not known."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    lines: tuple[tuple[Value, ...], ...]


ITEM_COLUMNS: tuple[Column, ...] = (
    Column("case", "ID of the case", lambda row: row.case),
    Column("experiment", "ID of the experiment", lambda row: row.experiment),
    Column("eval", "ID of the eval", lambda row: row.eval),
    Column("run_id", "ID of the run", lambda row: row.run_id),
    Column("run_state", "where the run stands in the plan", lambda row: str(row.slot_state)),
    Column("provider", "provider; replay means recorded answers", lambda row: row.provider),
    Column("model", "model as the manifest names it", lambda row: row.model),
    Column("arm", "ID of the arm", lambda row: row.arm),
    Column("repetition", "number of the repetition, from 1", lambda row: row.repetition, "integer"),
    Column("item", "ID of the dataset item, as written", lambda row: row.item),
    Column("state", "complete, failed or owed", lambda row: row.state),
    Column("final", "whether no further attempt is due", lambda row: row.final, "flag"),
    Column(
        "outcome",
        "generated, invalid_artifact, safety_filtered; empty for what failed or is not seen",
        lambda row: row.outcome_status,
    ),
    Column("outcome_reason", "why the review artifact is invalid", lambda row: row.outcome_reason),
    Column("mechanical_pass", "whether every listed scorer passed", lambda row: row.mechanical_pass, "flag"),
    Column("human_pass", "verdict of human review", lambda row: row.human_pass, "flag"),
    Column("review", "owed, disagreement, done, or none when no review is due", lambda row: row.review),
    Column("accepted", "whether everything that acceptance requires passed", lambda row: row.accepted, "flag"),
    Column("answer", "text, empty, truncated, filtered or none", lambda row: row.answer),
    Column("stop_reason", "why the model stopped, as the provider says", lambda row: row.stop_reason),
    Column("limit", "limit that was hit", lambda row: row.limit),
    Column("error_type", "class of the error", lambda row: row.error_type),
    Column("error_message", "message of the error", lambda row: row.error_message),
    Column("missing_artifacts", "required roles that never came", lambda row: " ".join(row.missing_artifacts)),
    Column("input_tokens", "input tokens, cache excluded", lambda row: row.input_tokens, "integer"),
    Column("output_tokens", "output tokens", lambda row: row.output_tokens, "integer"),
    Column("cache_read_tokens", "tokens read from a cache", lambda row: row.cache_read_tokens, "integer"),
    Column("cache_write_tokens", "tokens written to a cache", lambda row: row.cache_write_tokens, "integer"),
    Column("reasoning_tokens", "tokens of hidden reasoning", lambda row: row.reasoning_tokens, "integer"),
    Column("total_tokens", "all tokens as the provider states them", lambda row: row.total_tokens, "integer"),
    Column("cost_usd", "cost in US dollars; empty when unknown", lambda row: row.cost_usd, "number"),
    Column("latency_ms", "time from start to end in milliseconds", lambda row: row.latency_ms, "integer"),
    Column("attempts", "attempts that were used up", lambda row: row.attempts, "integer"),
)

RUN_COLUMNS: tuple[RunColumn, ...] = (
    RunColumn("case", "ID of the case", lambda slot, _: slot.spec.ref.case),
    RunColumn("experiment", "ID of the experiment", lambda slot, _: slot.spec.ref.experiment),
    RunColumn("eval", "ID of the eval", lambda slot, _: slot.spec.ref.eval),
    RunColumn("run_id", "ID of the run", lambda slot, _: slot.spec.run_id),
    RunColumn("state", "where the run stands in the plan", lambda slot, _: str(slot.state)),
    RunColumn("provider", "provider; replay means recorded answers", lambda slot, _: slot.spec.provider),
    RunColumn("model", "model as the manifest names it", lambda slot, _: slot.spec.model),
    RunColumn("arm", "ID of the arm", lambda slot, _: slot.spec.arm),
    RunColumn("repetition", "number of the repetition, from 1", lambda slot, _: slot.spec.repetition, "integer"),
    RunColumn("planned", "items planned", lambda _, rows: len(rows), "integer"),
    RunColumn("complete", "items complete", lambda _, rows: _count(rows, "complete"), "integer"),
    RunColumn("failed", "items failed", lambda _, rows: _count(rows, "failed"), "integer"),
    RunColumn("owed", "items owed", lambda _, rows: _count(rows, "owed"), "integer"),
    RunColumn("mechanical_passes", "items that passed every scorer", lambda _, rows: _passes(rows), "integer"),
    RunColumn("reviews_owed", "items whose review is owed", lambda _, rows: _reviews(rows), "integer"),
    RunColumn("retried", "items with more than one attempt", lambda _, rows: _retried(rows), "integer"),
    RunColumn(
        "total_tokens",
        "tokens of all items asked; empty when unknown for any",
        lambda _, rows: _total([row.total_tokens for row in _asked(rows)]),
        "integer",
    ),
    RunColumn(
        "cost_usd",
        "cost of all items asked in US dollars; empty when unknown for any",
        lambda _, rows: _total([row.cost_usd for row in _asked(rows)]),
        "number",
    ),
)


def score_columns(scorers: Iterable[str]) -> tuple[Column, ...]:
    """Return two columns per scorer: its number and its pass flag, both empty for what is not complete."""
    return tuple(column for scorer in scorers for column in _score_columns(scorer))


def judge_columns(judges: Iterable[str]) -> tuple[Column, ...]:
    """Return one column per judge: its verdict, empty while it is owed and for what is not judged."""
    return tuple(_judge_column(judge) for judge in judges)


def item_table(rows: Sequence[ItemRow], judges: Sequence[str] = ()) -> Table:
    """Return one line per planned item in plan order, at the end scorers and judges in declared order."""
    columns = (*ITEM_COLUMNS, *score_columns(_scorers(rows)), *judge_columns(judges))
    return Table(
        tuple(column.name for column in columns),
        tuple(column.kind for column in columns),
        tuple(tuple(column.read(row) for column in columns) for row in rows),
    )


def run_table(rows: Sequence[ItemRow], slots: Sequence[SlotEvidence]) -> Table:
    """Return one line per planned run, a `mean_score:<scorer>` over planned items at the end."""
    scorers = _scorers(rows)
    by_run = rows_by_run(rows)
    lines = []
    for slot in slots:
        own = by_run.get(slot.spec.run_id, ())
        means = (_mean_score(own, scorer) for scorer in scorers)
        lines.append((*(column.read(slot, own) for column in RUN_COLUMNS), *means))
    kinds: tuple[Kind, ...] = tuple("number" for _ in scorers)
    return Table(
        (*(column.name for column in RUN_COLUMNS), *(f"mean_score:{scorer}" for scorer in scorers)),
        (*(column.kind for column in RUN_COLUMNS), *kinds),
        tuple(lines),
    )


def _score_columns(scorer: str) -> tuple[Column, Column]:
    def value(row: ItemRow) -> Value:
        score = row.score(scorer)
        return score.value if score else None

    def passed(row: ItemRow) -> Value:
        score = row.score(scorer)
        return score.passed if score else None

    return (
        Column(f"score:{scorer}", f"number of scorer {scorer}", value, "number"),
        Column(f"pass:{scorer}", f"whether {scorer} reaches pass_at", passed, "flag"),
    )


def _judge_column(judge: str) -> Column:
    def verdict(row: ItemRow) -> Value:
        found = row.judge(judge)
        return None if found is None else found.passed

    return Column(f"judge:{judge}", f"verdict of judge {judge}", verdict, "flag")


def _scorers(rows: Sequence[ItemRow]) -> tuple[str, ...]:
    return tuple(score.scorer for score in rows[0].scores) if rows else ()


def table_csv(table: Table) -> bytes:
    """Return a table as CSV."""
    import pandas as pd  # 0.4 s to import, and only this stage needs it

    fields = [[_field(value) for value in line] for line in table.lines]
    # dtype object: a column that holds numbers and gaps must not turn its integers into floats
    frame = pd.DataFrame(fields, columns=list(table.names), dtype=object)
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return text.encode("utf-8", "backslashreplace")


def _field(value: Value) -> str | int | float:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def _count(rows: Sequence[ItemRow], state: str) -> int:
    return sum(row.state == state for row in rows)


def _passes(rows: Sequence[ItemRow]) -> int:
    return sum(row.mechanical_pass is True for row in rows)


def _reviews(rows: Sequence[ItemRow]) -> int:
    return sum(row.review_owed for row in rows)


def _retried(rows: Sequence[ItemRow]) -> int:
    return sum(row.attempts > 1 for row in rows)


def _asked(rows: Sequence[ItemRow]) -> list[ItemRow]:
    return [row for row in rows if row.state != "owed"]


def _total(numbers: Sequence[int | float | None]) -> int | float | None:
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None
    return sum(known) if all(isinstance(number, int) for number in known) else fsum(known)


def _mean_score(rows: Sequence[ItemRow], scorer: str) -> float | None:
    scores = [row.score(scorer) for row in rows]
    numbers = [score.value for score in scores if score is not None and score.value is not None]
    return fsum(numbers) / len(rows) if rows else None
