"""Ingestion: from the samples of an execution log to item results. The log's own status is never trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.errors import FrameworkFault
from tamesu.base.model.evidence import (
    AnswerState,
    Artifact,
    ItemResult,
    Outcome,
    OutputFile,
    RejectedArtifact,
    ReviewedFile,
    SampleEvidence,
    ScoreRecord,
)
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import RunSpec
from tamesu.core.outcome import picture_outcome, told_outcome
from tamesu.core.pricing import run_sample_cost
from tamesu.core.tasks import IMAGES
from tamesu.core.verdict import item_verdict

TRUNCATED = frozenset({"max_tokens", "model_length"})
FILTERED = frozenset({"content_filter"})


NOT_REVIEWED = Outcome(None)


@dataclass(frozen=True, slots=True)
class StagedOutput:
    """What an item's staging area yielded after every rejection, and whether it held anything made of the reply."""

    artifacts: tuple[Artifact, ...] = ()
    rejected: tuple[RejectedArtifact, ...] = ()
    missing: tuple[str, ...] = ()
    holds_reply: bool = False
    outcome: Outcome = NOT_REVIEWED
    output: OutputFile | tuple[ReviewedFile, ...] | None = None


def check_samples(planned: Iterable[str], found: Sequence[str]) -> None:
    """Raise FrameworkFault unless every sample of the log was asked, and asked once."""
    repeated = [name for name, count in Counter(found).items() if count > 1]
    if repeated:
        raise FrameworkFault(f"the log holds item '{repeated[0]}' more than once")
    unexpected = sorted(set(found) - set(planned))
    if unexpected:
        raise FrameworkFault(f"the log holds item '{unexpected[0]}' that this attempt did not ask")


def answer_state(sample: SampleEvidence | None) -> AnswerState:
    """Tell empty, absent, truncated and filtered answers apart; `none` when there was no reply at all."""
    if sample is None or (sample.stop_reason is None and not sample.answered):
        return "none"
    if sample.stop_reason in FILTERED:
        return "filtered"
    if sample.stop_reason in TRUNCATED:
        return "truncated" if sample.answered else "truncated_empty"
    if sample.answered:
        return "text"
    return "absent" if sample.no_content else "empty"


def score_records(checks: Sequence[MechanicalCheck], sample: SampleEvidence | None) -> dict[str, ScoreRecord]:
    """Return all scores with their pass flags; scorers that are not listed pass at 1.0."""
    thresholds = {check.scorer: check.pass_at for check in checks}
    return {
        score.name: ScoreRecord(
            value=score.number,
            passed=score.number is not None and score.number >= thresholds.get(score.name, 1.0),
            raw=score.raw,
            answer=score.answer,
            explanation=score.explanation,
            metadata=score.metadata,
        )
        for score in (() if sample is None else sample.scores)
    }


def ingest_item(
    spec: RunSpec,
    item: str,
    sample: SampleEvidence | None,
    staged: StagedOutput,
    attempt: int,
    used: int,
    samples_at_once: float | None = None,
) -> ItemResult:
    """Return result.yml of one item; `used` counts the attempts that used up one of `max_attempts`."""
    at_once = samples_at_once or spec.concurrency
    verdict = item_verdict(spec, sample)
    answer, outcome = answer_state(sample), staged.outcome
    if spec.task == IMAGES and sample is not None:
        outcome = picture_outcome(outcome, answer, sample.scores)
    return ItemResult(
        item=item,
        run_id=spec.run_id,
        sample=spec.sample_digests[item],
        state=verdict.state,
        retryable=verdict.retryable,
        attempts=used,
        attempt=attempt,
        answer=answer,
        stop_reason=None if sample is None else sample.stop_reason,
        limit=None if sample is None else sample.limit,
        error=verdict.error,
        scores=score_records(spec.policy.mechanical, sample),
        outcome=told_outcome(outcome, verdict.state),
        output=staged.output,
        artifacts=staged.artifacts,
        missing_artifacts=staged.missing,
        rejected_artifacts=staged.rejected,
        usage=None if sample is None else sample.usage,
        cost_usd=None if sample is None else run_sample_cost(spec, sample, at_once),
        latency_ms=None if sample is None else sample.latency_ms,
        rejected_calls=0 if sample is None else sample.rejected_calls,
    )


def by_item(samples: Iterable[SampleEvidence]) -> Mapping[str, SampleEvidence]:
    """Return the samples by item ID; call check_samples first."""
    return {sample.item: sample for sample in samples}
