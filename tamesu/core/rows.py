"""One row per planned item: what is known of it, judged by the policy of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tamesu.base.canonical import Json
from tamesu.base.errors import EvidenceError
from tamesu.base.model.evidence import AnswerState, ItemResult, ScoreRecord, Usage
from tamesu.base.model.judgement import NOTHING_JUDGED, ItemJudged
from tamesu.base.model.manifest import MechanicalCheck, Policy
from tamesu.base.model.plan import RunSpec, SlotState
from tamesu.core.checks.names import FIELD, PREREQUISITE, TEXT_CHECKS
from tamesu.core.checks.picture import judged_value
from tamesu.core.outcome import OUTPUT_TOO_LARGE, told_outcome
from tamesu.core.tasks import TEXT
from tamesu.core.votes import (
    NO_REVIEW,
    HumanVerdict,
    JudgeVerdict,
    ReviewState,
    human_verdict,
    judge_digest,
    judge_verdict,
    seen_of,
)

RowState = Literal["complete", "failed", "owed"]


@dataclass(frozen=True, slots=True)
class SlotEvidence:
    """One planned run, where it stands, and by item ID its results and what was said of them.

    `expects` are by item ID the fields of which something is expected, None where that is not known.
    """

    spec: RunSpec
    state: SlotState
    results: Mapping[str, ItemResult]
    judged: Mapping[str, ItemJudged] = field(default_factory=dict)
    expects: Mapping[str, frozenset[str]] | None = None


@dataclass(frozen=True, slots=True)
class RowScore:
    """One listed scorer's number and pass flag; both None unless the item is complete."""

    scorer: str
    value: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One built-in check of a structured text: 1 or 0, and for a field what was expected and what came."""

    name: str
    value: float
    expected: Json = None
    actual: Json = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One planned item of one planned run.

    `mechanical_pass` is None while the item is owed. `human` says where human review stands, `judges` where each
    declared judge does; both are about what has a valid review artifact. `accepted` is None while its evidence is owed.
    `final` says that no further attempt is due; `attempts` counts those that were used up.
    `outcome_detail` is a word on the reason, such as how large an output may be.
    `expects` are the fields of which the dataset expects something, None where not known. Money is in US dollars.
    """

    case: str
    experiment: str
    eval: str
    run_id: str
    slot_state: SlotState
    provider: str
    model: str
    arm: str
    repetition: int
    item: str
    state: RowState
    final: bool
    outcome_status: str | None
    outcome_reason: str | None
    scores: tuple[RowScore, ...]
    mechanical_pass: bool | None
    human: HumanVerdict
    judges: tuple[JudgeVerdict, ...]
    accepted: bool | None
    answer: AnswerState | None
    stop_reason: str | None
    limit: str | None
    error_type: str | None
    error_message: str | None
    missing_artifacts: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    total_tokens: int | None
    cost_usd: float | None
    latency_ms: int | None
    attempts: int
    measures: tuple[Measure, ...] = ()
    expects: frozenset[str] | None = None
    outcome_detail: str | None = None

    def measure(self, name: str) -> Measure | None:
        """Return a built-in check by name, or None when none of that name was made."""
        return next((measure for measure in self.measures if measure.name == name), None)

    def score(self, scorer: str) -> RowScore | None:
        """Return the result of a listed scorer, or None when the policy does not list it."""
        return next((score for score in self.scores if score.scorer == scorer), None)

    @property
    def has_artifact(self) -> bool:
        """Whether the review artifact is present and valid for its kind."""
        return self.outcome_status == "generated"

    @property
    def human_pass(self) -> bool | None:
        """The verdict of human review; None until enough reviews agree or a disagreement is settled."""
        return self.human.passed

    @property
    def review(self) -> ReviewState:
        """Where human review stands: none is due, some are owed, reviewers disagree, or it is done."""
        return self.human.state

    @property
    def reviewable(self) -> bool:
        """Whether a human verdict on this item is owed or known."""
        return self.review != "none"

    @property
    def review_owed(self) -> bool:
        """Whether a review, or a decision between reviewers, is missing."""
        return self.review in {"owed", "disagreement"}

    @property
    def judgments_owed(self) -> int:
        """How many verdicts of judging models are missing."""
        return sum(judge.owed for judge in self.judges)

    def judge(self, name: str) -> JudgeVerdict | None:
        """Return where a judge stands on this item, or None when it is not asked about it."""
        return next((judge for judge in self.judges if judge.judge == name), None)


def owed_reviews(outputs: int, disputed: int) -> str | None:
    """Return `2 reviews owed, 1 disagreement to decide`, from so many outputs each; None when nothing is."""
    reviews = f"{outputs} review{'' if outputs == 1 else 's'} owed" if outputs else ""
    decisions = f"{disputed} disagreement{'' if disputed == 1 else 's'} to decide" if disputed else ""
    return ", ".join(part for part in (reviews, decisions) if part) or None


def build_rows(slots: Sequence[SlotEvidence], policy: Policy) -> tuple[ItemRow, ...]:
    """Return one row per planned item, in the order of the plan.

    Results of a drifted run are not counted: its items are owed. Raises EvidenceError for a result that
    belongs to another item or run than the one it is filed under.
    """
    digests = tuple(judge_digest(judge) for judge in policy.judges)
    return tuple(_row(slot, item, _result(slot, item), policy, digests) for slot in slots for item in slot.spec.items)


def rows_by_run(rows: Sequence[ItemRow]) -> dict[str, tuple[ItemRow, ...]]:
    """Return the rows of each run in plan order."""
    groups: dict[str, list[ItemRow]] = {}
    for row in rows:
        groups.setdefault(row.run_id, []).append(row)
    return {run_id: tuple(group) for run_id, group in groups.items()}


def accepted(row: ItemRow, policy: Policy) -> bool | None:
    """Return whether everything that acceptance requires passed; None while evidence for that is owed.

    Kinds of evidence are never blended: each required kind must pass by itself. A failed item and an
    invalid review artifact are rejections.
    """
    if row.state == "owed":
        return None
    if row.state == "failed" or row.outcome_status not in (None, "generated"):
        return False
    known = {"mechanical": row.mechanical_pass, "human": row.human_pass}
    known |= {judge.judge: judge.passed for judge in row.judges if judge.gate}
    verdicts = [known.get(kind) for kind in policy.acceptance.requires]
    if any(verdict is False for verdict in verdicts):
        return False
    return True if all(verdicts) else None


def _result(slot: SlotEvidence, item: str) -> ItemResult | None:
    if slot.state is SlotState.DRIFTED:
        return None
    result = slot.results.get(item)
    if result is not None and (result.item, result.run_id) != (item, slot.spec.run_id):
        raise EvidenceError(
            f"{slot.spec.run_id}: the result filed under item '{item}' is of item '{result.item}' "
            f"of run {result.run_id}; restore the run's files"
        )
    return result


def _row(slot: SlotEvidence, item: str, result: ItemResult | None, policy: Policy, digests: Sequence[str]) -> ItemRow:
    spec = slot.spec
    state: RowState = "owed" if result is None else result.state
    scores = tuple(_score(check, result) for check in policy.mechanical)
    usage = result.usage if result else None
    error = result.error if result else None
    outcome = told_outcome(result.outcome, result.state) if result else None  # older records say it of failed ones
    judged = slot.judged.get(item, NOTHING_JUDGED)
    reviewable = (
        result is not None
        and state == "complete"
        and result.outcome.status == "generated"
        and _meets_prerequisites(scores, policy)
    )
    row = ItemRow(
        case=spec.ref.case,
        experiment=spec.ref.experiment,
        eval=spec.ref.eval,
        run_id=spec.run_id,
        slot_state=slot.state,
        provider=spec.provider,
        model=spec.model,
        arm=spec.arm,
        repetition=spec.repetition,
        item=item,
        state=state,
        final=result is not None and _final(result, spec),
        outcome_status=outcome.status if outcome else None,
        outcome_reason=outcome.reason if outcome else None,
        scores=scores,
        mechanical_pass=_mechanical(state, scores),
        human=_human(result, judged, policy) if result is not None and reviewable else NO_REVIEW,
        judges=_judges(result, judged, policy, digests) if result is not None and reviewable else (),
        accepted=None,
        answer=result.answer if result else None,
        stop_reason=result.stop_reason if result else None,
        limit=result.limit if result else None,
        error_type=error.type if error else None,
        error_message=error.message if error else None,
        missing_artifacts=result.missing_artifacts if result else (),
        input_tokens=_tokens(usage, "input"),
        output_tokens=_tokens(usage, "output"),
        cache_read_tokens=_tokens(usage, "cache_read"),
        cache_write_tokens=_tokens(usage, "cache_write"),
        reasoning_tokens=_tokens(usage, "reasoning"),
        total_tokens=_tokens(usage, "total"),
        cost_usd=result.cost_usd if result else None,
        latency_ms=result.latency_ms if result else None,
        attempts=result.attempts if result else 0,
        measures=_measures(result) if spec.task == TEXT and result is not None and state == "complete" else (),
        expects=None if slot.expects is None else slot.expects.get(item),
        outcome_detail=_outcome_detail(spec, result),
    )
    return replace(row, accepted=accepted(row, policy))


def _outcome_detail(spec: RunSpec, result: ItemResult | None) -> str | None:
    """Return the sizes of what was too large to be the output."""
    if result is None or result.outcome.reason not in OUTPUT_TOO_LARGE:
        return None
    reviewed = (one.sizes for one in result.rejected_artifacts if one.role in spec.artifacts.review_roles)
    return next(filter(None, reviewed), None)


def _meets_prerequisites(scores: Sequence[RowScore], policy: Policy) -> bool:
    needed = {check.scorer for check in policy.mechanical if check.settings.get(PREREQUISITE) is True}
    return all(score.passed is True for score in scores if score.scorer in needed)


def _human(result: ItemResult, judged: ItemJudged, policy: Policy) -> HumanVerdict:
    if policy.human_rubric is None:
        return NO_REVIEW
    return human_verdict(judged.reviews, seen_of(result), policy.human_rubric, policy.acceptance)


def _judges(result: ItemResult, judged: ItemJudged, policy: Policy, digests: Sequence[str]) -> tuple[JudgeVerdict, ...]:
    seen = seen_of(result)
    return tuple(
        judge_verdict(judge, known, judged.judgments, seen) for judge, known in zip(policy.judges, digests, strict=True)
    )


def _final(result: ItemResult, spec: RunSpec) -> bool:
    return result.state == "complete" or not result.retryable or result.attempts >= spec.max_attempts


def _tokens(usage: Usage | None, kind: str) -> int | None:
    if usage is None:
        return None
    count: int = getattr(usage, kind)
    return count


def _score(check: MechanicalCheck, result: ItemResult | None) -> RowScore:
    record = result.scores.get(check.scorer) if result and result.state == "complete" else None
    if record is None or record.value is None:
        return RowScore(check.scorer, None, None)
    judged = judged_value(check, record.metadata)
    value = record.value if judged is None else judged
    return RowScore(check.scorer, value, value >= check.pass_at)


def _measures(result: ItemResult) -> tuple[Measure, ...]:
    return tuple(_measure(name, record) for name, record in result.scores.items() if _is_measure(name))


def _is_measure(name: str) -> bool:
    return name in TEXT_CHECKS or name.startswith(FIELD)


def _measure(name: str, record: ScoreRecord) -> Measure:
    said = record.metadata or {}
    missing = said.get("missing") is True
    return Measure(name, record.value or 0.0, said.get("expected"), said.get("actual"), missing)


def _mechanical(state: RowState, scores: Sequence[RowScore]) -> bool | None:
    if state == "owed":
        return None
    return state == "complete" and all(score.passed for score in scores)
