"""Everything that the views of one evaluation show, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import Balance
from tamesu.base.model.manifest import Eval, EvalRef, Policy
from tamesu.base.model.plan import FoundRun, SlotState
from tamesu.core.checks.fields import Field, schema_fields
from tamesu.core.judging.figures import JudgeFigures, judge_figures
from tamesu.core.ledger import unpriced_words
from tamesu.core.metrics import Cell, CellMetrics, MetricValue, cell_metrics, find_metric, measure
from tamesu.core.metrics.cells import cell_of
from tamesu.core.report.comparison import Comparison, Leader, compare, find_leader, order_cells, with_leader
from tamesu.core.report.figures import count, usd
from tamesu.core.report.limits import limits
from tamesu.core.report.ranges import range_sentence
from tamesu.core.report.warnings import evidence_warnings
from tamesu.core.rows import ItemRow, SlotEvidence, build_rows, rows_by_run

RECORDED = "Recorded answers: these figures describe replayed recordings, not live models"
DELIVERY = (
    "completion_rate",
    "truncated_rate",
    "empty_rate",
    "filtered_rate",
    "median_latency_ms",
    "mean_total_tokens",
    "mean_cost_usd",
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One planned run with the counts of its items and its primary metric; `cell` is None for a run without items."""

    run_id: str
    cell: Cell | None
    state: SlotState
    planned: int
    complete: int
    failed: int
    owed: int
    primary: MetricValue


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric's name and what it means."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class EvalSummary:
    """What is known of one evaluation; every view is a function of it.

    `headline` names the primary metric, then its companions and the secondary ones; `delivery` those that
    stand in every report. `recorded` is the banner over replayed answers, `warnings` stand beside it. `ranked` says
    that `cells` stand from best to worst; else they stand in plan order. `range` says from where to where three or
    more of them go, `limits` what none of the figures can say. `evidence` is a SHA-256 in hex. `judges` are
    the figures of model judges, `judge_balance` is the money of their own ledger. `enums` are the fields of a
    structured text that take one of a few values.
    """

    ref: EvalRef
    name: str
    question: str
    description: str
    status: str
    recorded: str | None
    warnings: tuple[str, ...]
    policy: Policy
    headline: tuple[str, ...]
    delivery: tuple[str, ...]
    cells: tuple[CellMetrics, ...]
    ranked: bool
    comparisons: tuple[Comparison, ...]
    leader: Leader
    runs: tuple[RunLine, ...]
    rows: tuple[ItemRow, ...]
    found: tuple[FoundRun, ...]
    balance: Balance
    definitions: tuple[Definition, ...]
    policy_changed: str | None
    notes: tuple[str, ...]
    range: str | None
    limits: tuple[str, ...]
    evidence: str
    judges: tuple[JudgeFigures, ...] = ()
    judge_balance: Balance | None = None
    enums: tuple[Field, ...] = ()

    @property
    def primary(self) -> str:
        return self.policy.primary_metric

    @property
    def failures(self) -> tuple[ItemRow, ...]:
        """The rows that failed or whose review artifact is invalid, in plan order."""
        return tuple(row for row in self.rows if failure_reason(row) is not None)


def summarise(
    evaluation: Eval,
    slots: Sequence[SlotEvidence],
    *,
    status: str,
    balance: Balance,
    evidence: str,
    found: Sequence[FoundRun] = (),
    policy_changed: str | None = None,
    remarks: Sequence[str] = (),
    judge_balance: Balance | None = None,
) -> EvalSummary:
    """Return the summary of an evaluation from the evidence of its planned runs.

    `status` is the word for where the eval stands, `policy_changed` says what was and is now, `evidence`
    the SHA-256 of all that was read, `remarks` what the runs say of how they were served.
    Raises UnknownName for a metric that the policy does not produce.
    """
    policy = evaluation.policy
    rows = build_rows(slots, policy)
    headline = _headline(rows, policy)
    delivery = tuple(name for name in DELIVERY if name not in headline)
    cells = cell_metrics(rows, policy, (*headline, *delivery))
    ranked = all(slot.state is SlotState.BANKED for slot in slots) and not any(
        c.again or c.reviews_owed or c.disputed for c in cells
    )
    comparisons = compare(rows, [cell.cell for cell in cells], policy)
    if ranked:
        comparisons = with_leader(comparisons, rows, cells, policy)
    return EvalSummary(
        ref=evaluation.ref,
        name=evaluation.name,
        question=evaluation.question,
        description=evaluation.description,
        status=status,
        recorded=_recorded(slots),
        warnings=(*evidence_warnings(rows), *remarks),
        policy=policy,
        headline=headline,
        delivery=delivery,
        cells=order_cells(cells, policy) if ranked else cells,
        ranked=ranked,
        comparisons=comparisons,
        leader=find_leader(comparisons, slots, cells, policy),
        runs=_run_lines(slots, rows, policy),
        rows=rows,
        found=tuple(sorted(found, key=lambda run: (run.kind, run.run_id))),
        balance=balance,
        definitions=tuple(_definition(name, policy) for name in (*headline, *delivery)),
        policy_changed=_policy_note(policy_changed),
        notes=(*_notes(rows, slots, comparisons, _policy_note(policy_changed)), *_metric_notes(cells)),
        range=range_sentence(cells, policy.primary_metric),
        limits=limits(evaluation, slots, rows, cells, comparisons),
        evidence=evidence,
        judges=judge_figures(rows, slots, policy),
        enums=tuple(field for field in schema_fields(evaluation.output_schema) if field.values),
        judge_balance=judge_balance,
    )


def failure_reason(row: ItemRow) -> str | None:
    """Return why an item failed or its review artifact is invalid, or None."""
    if row.state == "failed":
        return f"{row.error_type or 'failed'}: {row.error_message or 'no message'}"
    if row.outcome_status not in (None, "generated"):
        detail = f" ({row.outcome_detail})" if row.outcome_detail else ""
        return f"{row.outcome_status}: {row.outcome_reason or 'no reason'}{detail}"
    return None


def _headline(rows: Sequence[ItemRow], policy: Policy) -> tuple[str, ...]:
    retried = any(row.attempts > 1 for row in rows)
    names: list[str] = []
    for name in (policy.primary_metric, *policy.secondary_metrics):
        names.append(name)
        kind, _, scorer = name.partition(":")
        if kind == "mean_score":
            names.append(f"mean_score_scored:{scorer}")
            # An item that failed first and was asked again may hide a bias of its failures.
            names += [f"mean_score_first_attempt:{scorer}"] if retried else []
    return tuple(dict.fromkeys(names))


def _definition(name: str, policy: Policy) -> Definition:
    return Definition(name, find_metric(name, policy).metric.summary)


def _recorded(slots: Sequence[SlotEvidence]) -> str | None:
    replayed = sum(slot.spec.provider == "replay" for slot in slots)
    if replayed == 0:
        return None
    return RECORDED if replayed == len(slots) else f"{RECORDED} ({replayed} of {len(slots)} runs)"


def _run_lines(slots: Sequence[SlotEvidence], rows: Sequence[ItemRow], policy: Policy) -> tuple[RunLine, ...]:
    by_run = rows_by_run(rows)
    return tuple(_run_line(slot, by_run.get(slot.spec.run_id, ()), policy) for slot in slots)


def _run_line(slot: SlotEvidence, rows: Sequence[ItemRow], policy: Policy) -> RunLine:
    states = [row.state for row in rows]
    return RunLine(
        run_id=slot.spec.run_id,
        cell=cell_of(rows[0]) if rows else None,
        state=slot.state,
        planned=len(states),
        complete=states.count("complete"),
        failed=states.count("failed"),
        owed=states.count("owed"),
        primary=measure(rows, policy, policy.primary_metric),
    )


def _policy_note(change: str | None) -> str | None:
    return None if change is None else f"policy changed after the evidence existed (was, now): {change}"


def _notes(
    rows: Sequence[ItemRow],
    slots: Sequence[SlotEvidence],
    comparisons: Sequence[Comparison],
    policy_changed: str | None,
) -> list[str]:
    notes = [
        "Each row of the tables pools all items and repetitions of its model x arm (micro average); n stands beside "
        "every figure. Failed and owed items count as 0 in every rate and mean over planned items.",
        "Intervals are 95 %, each for itself, with the repetitions of an item kept together: Wilson for rates and for "
        "scores between 0 and 1, Student t for other means, Tango for paired differences (docs/statistics.md).",
    ]
    tested = sum(one.adjusted_p is not None for one in comparisons)
    if tested:
        notes.append(
            "p-values are two-sided, by the signs of the items' differences or Student's paired t"
            + (f", adjusted for the {tested} comparisons of this report (Holm 1979)." if tested > 1 else ".")
        )
    if policy_changed:
        notes.append(policy_changed)
    drifted = sum(slot.state is SlotState.DRIFTED for slot in slots)
    if drifted:
        notes.append(f"{count(drifted, 'run')} drifted: sent otherwise than planned, not counted.")
    retried = sum(row.attempts > 1 for row in rows)
    if retried:
        notes.append(f"{count(retried, 'item')} took more than one attempt (tables/items.csv).")
    return notes


def _metric_notes(cells: Sequence[CellMetrics]) -> list[str]:
    """Return why figures or intervals are lacking, equal remarks of several cells in one line."""
    where: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for value in cell.values:
            if value.lacking:
                where.setdefault((value.name, value.lacking), []).append(str(cell.cell))
    return [
        f"{name}: {note}" + ("" if len(named) == len(cells) else f" ({', '.join(named)})")
        for (name, note), named in where.items()
    ]


def money_line(balance: Balance) -> str:
    """Return what was spent and lost in one sentence."""
    line = f"Spent {usd(balance.spent_usd)} USD"
    if balance.lost_usd:
        line += f"; at most {usd(balance.lost_usd)} USD more for calls whose usage never arrived"
    if balance.reserved_usd:
        line += f"; {usd(balance.reserved_usd)} USD reserved for attempts in flight"
    if balance.unpriced:
        line += f"; {unpriced_words(balance.unpriced)}"
    return f"{line}."
