"""The state of one item from its sample: the mapping from what Inspect recorded to what it means here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import Fault, ItemState, SampleEvidence
from tamesu.base.model.plan import RunSpec
from tamesu.core.pricing import unstated_calls
from tamesu.core.tasks import required_scorers


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of an item and why it failed; `retryable` is False for what is complete."""

    state: ItemState
    retryable: bool
    error: Fault | None


def item_verdict(spec: RunSpec, sample: SampleEvidence | None) -> Verdict:
    """Return the state of one item from its sample, if the log has one."""
    if sample is None:
        return Verdict("failed", True, Fault("MissingSample", "the log holds no sample of this item"))
    if sample.interrupted or sample.in_flight:
        return Verdict("failed", True, Fault("Interrupted", "the process ended before this sample did"))
    if sample.error is not None:
        return Verdict("failed", True, sample.error)
    missing = _missing_scores(required_scorers(spec.task, spec.policy.mechanical), sample)
    if missing:
        names = ", ".join(missing)
        return Verdict("failed", False, Fault("MissingScore", f"no numeric score from {names}"))
    if spec.price is None:
        # a person accepted that nobody knows the price, so that no count of tokens could tell the cost
        return Verdict("complete", False, None)
    if spec.priced_by_tokens and sample.usage_problem is not None:
        return Verdict("failed", False, Fault("ImpossibleUsage", sample.usage_problem))
    if unstated_calls(spec, sample) or (spec.own_tokens_paid and sample.usage is None and sample.answered):
        message = "a reply stated no usage, so its cost is unknown and cost_limit could not act"
        return Verdict("failed", False, Fault("MissingUsage", message))
    return Verdict("complete", False, None)


def _missing_scores(scorers: Sequence[str], sample: SampleEvidence) -> list[str]:
    numbers = {score.name for score in sample.scores if score.number is not None}
    return [scorer for scorer in scorers if scorer not in numbers]
