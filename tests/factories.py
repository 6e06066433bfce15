"""Plans and evidence built by hand, as small as a test needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tamesu.base.model.evidence import Balance, Fault, ItemResult, Outcome, ScoreRecord, Usage
from tamesu.base.model.judgement import Answer, ItemJudged, ReviewRecord
from tamesu.base.model.manifest import (
    Acceptance,
    ArtifactPolicy,
    Dataset,
    Defaults,
    Dimension,
    Eval,
    EvalRef,
    Execution,
    ItemSelection,
    Limits,
    MechanicalCheck,
    Policy,
    Rubric,
    Sources,
)
from tamesu.base.model.plan import Identity, Price, RunSpec, SlotState
from tamesu.core.report.summary import EvalSummary, summarise
from tamesu.core.rows import SlotEvidence
from tamesu.core.votes import seen_of

REF = EvalRef("case", "experiment", "eval")
EVIDENCE = "0123456789abcdef" * 4
RUBRIC = Rubric("rubric.yml", "visual", (Dimension("legible", "Can it be read?", ("blurred",)),), "0" * 64)
POLICY = Policy(
    mechanical=(MechanicalCheck("works"),),
    human_rubric=None,
    acceptance=Acceptance(),
    primary_metric="mean_score:works",
    secondary_metrics=(),
    tolerate_failed=0.0,
)
REVIEWED = replace(POLICY, human_rubric=RUBRIC, acceptance=Acceptance(requires=("mechanical", "human")))
LIMITS = Limits(cost_limit=0.25, time_limit=600)
IDENTITY = Identity(1, {}, {}, {}, "a" * 64, "b" * 64, "c" * 64, "d" * 64, "e" * 64, ())


def make_spec(
    items: Sequence[str],
    arm: str = "plain",
    model: str = "model-a",
    repetition: int = 1,
    provider: str = "openai",
    policy: Policy = POLICY,
) -> RunSpec:
    return RunSpec(
        ref=REF,
        run_id=f"{model}--{arm}--rep{repetition}--{'a' * 12}-{'b' * 6}",
        task="artifact_bundle",
        backend="inspect",
        provider=provider,
        model=model,
        model_uri=f"{provider}/{model}",
        base_url_origin=None,
        arm=arm,
        repetition=repetition,
        parameters={},
        recordings=None,
        retries=2,
        timeout_seconds=300,
        max_attempts=3,
        concurrency=4,
        max_connections=None,
        limits=LIMITS,
        task_file="task.py",
        task_function="task",
        task_args={},
        options={},
        allow_mutable_images=False,
        sources=(),
        scoring_sources=(),
        images=(),
        artifacts=ArtifactPolicy(review="render"),
        policy=policy,
        price=Price(2.0, 8.0),
        largest_call_usd=0.1,
        items=tuple(items),
        sample_digests={item: "5" * 64 for item in items},
        assets={},
        identity=IDENTITY,
    )


def make_result(spec: RunSpec, item: str, scores: Mapping[str, float] | float = 1.0) -> ItemResult:
    numbers = scores if isinstance(scores, Mapping) else {"works": scores}
    return ItemResult(
        item=item,
        run_id=spec.run_id,
        sample="5" * 64,
        state="complete",
        retryable=False,
        attempts=1,
        attempt=1,
        answer="text",
        stop_reason="stop",
        limit=None,
        error=None,
        scores={name: ScoreRecord(value, value >= 1.0, value) for name, value in numbers.items()},
        outcome=Outcome("generated"),
        output=None,
        artifacts=(),
        missing_artifacts=(),
        rejected_artifacts=(),
        usage=Usage(input=100, output=50, total=150),
        cost_usd=0.01,
        latency_ms=1200,
    )


def make_failure(spec: RunSpec, item: str, message: str = "connection reset") -> ItemResult:
    """An item that failed for good, as those of a banked run did."""
    return replace(
        make_result(spec, item),
        state="failed",
        retryable=False,
        answer="none",
        stop_reason=None,
        error=Fault("TimeoutError", message),
        scores={},
        outcome=Outcome("invalid_artifact", "missing_review_artifact"),
        missing_artifacts=("render",),
    )


def make_slot(spec: RunSpec, results: Sequence[ItemResult], state: SlotState = SlotState.BANKED) -> SlotEvidence:
    return SlotEvidence(spec, state, {result.item: result for result in results})


def scored_slot(scores: Mapping[str, float | None], **options: object) -> SlotEvidence:
    """A banked run from item -> score; None is a failed item. Options as for make_spec."""
    spec = make_spec(tuple(scores), **options)  # type: ignore[arg-type]
    results = [
        make_failure(spec, item) if score is None else make_result(spec, item, score) for item, score in scores.items()
    ]
    return make_slot(spec, results)


def make_review(slot: SlotEvidence, item: str, passed: bool, reviewer: str = "ada", **options: object) -> ReviewRecord:
    """What one person said of an item as it is; options replace fields of the record."""
    review = ReviewRecord(
        reviewer=reviewer,
        time="2026-03-01T10:00:00Z",
        pack="pack-1",
        run_id=slot.spec.run_id,
        item=item,
        seen=seen_of(slot.results[item]),
        rubric=RUBRIC.digest,
        answers={"legible": Answer(True) if passed else Answer(False, "blurred")},
    )
    return replace(review, **options)  # type: ignore[arg-type]


def reviewed(slot: SlotEvidence, *reviews: ReviewRecord) -> SlotEvidence:
    """The slot with these reviews and no others."""
    items = dict.fromkeys(review.item for review in reviews)
    judged = {item: ItemJudged(tuple(one for one in reviews if one.item == item)) for item in items}
    return replace(slot, judged=judged)


def make_eval(policy: Policy = POLICY, name: str = "An evaluation") -> Eval:
    return Eval(
        ref=REF,
        file="eval.yml",
        name=name,
        question="Does it work?",
        description="",
        status="active",
        task="artifact_bundle",
        dataset=Dataset("items", "dataset.yml", ()),
        execution=Execution(
            backend="inspect",
            file="task.py",
            task="task",
            task_args={},
            sources=Sources(".", ()),
            images=(),
            limits=LIMITS,
            artifacts=ArtifactPolicy(review="render"),
            allow_mutable_images=False,
            options={},
        ),
        defaults=Defaults(ItemSelection("all"), 1, 4, 300, 2, 3, 5.0, {}),
        arms=(),
        models=(),
        policy=policy,
        recordings={},
        content=(),
    )


def make_summary(slots: Sequence[SlotEvidence], policy: Policy = POLICY, name: str = "An evaluation") -> EvalSummary:
    return summarise(
        make_eval(policy, name),
        slots,
        status="evidence complete",
        balance=Balance(1.25, 0.5, 0.0),
        evidence=EVIDENCE,
    )
