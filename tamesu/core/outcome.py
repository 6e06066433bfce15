"""What an item's output is for the people who review it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import (
    AnswerState,
    Artifact,
    ItemState,
    Outcome,
    OutputFile,
    RejectedArtifact,
    ReviewedFile,
    SampleScore,
)
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.artifacts import TOO_LARGE
from tamesu.core.checks.names import DECODABLE
from tamesu.core.images import IMAGE_TOO_LARGE, NOT_AN_IMAGE, inspect_image
from tamesu.core.media import review_fault

GENERATED = "generated"
INVALID_ARTIFACT = "invalid_artifact"
SAFETY_FILTERED = "safety_filtered"
MISSING_REVIEW_ARTIFACT = "missing_review_artifact"
SEVERAL_REVIEW_ARTIFACTS = "several_review_artifacts"
OUTPUT_TOO_LARGE = frozenset({TOO_LARGE, IMAGE_TOO_LARGE})

Fault = Callable[[Artifact], str | None]


@dataclass(frozen=True, slots=True)
class ReviewedOutput:
    """The outcome, and the review artifacts, fit for review or not; a role with none or several has none."""

    outcome: Outcome
    output: OutputFile | tuple[ReviewedFile, ...] | None = None


def review_outcome(
    policy: ArtifactPolicy,
    artifacts: Sequence[Artifact],
    content_of: Callable[[Artifact], bytes],
    rejected: Sequence[RejectedArtifact] = (),
) -> ReviewedOutput:
    """Decide whether an item has what people review; an invalid one stays in every denominator.

    One role by its name is a picture. Roles in a list are each what their artifact's media type says, and the item is
    as good as the first of them that is not. `content_of` is asked once per role at most, and what it raises passes
    through. What came and was rejected for its size alone is told as that, and not as missing.
    """
    if policy.review is None:
        return ReviewedOutput(Outcome(None))
    refused = {one.role for one in rejected if one.reason == TOO_LARGE}
    if isinstance(policy.review, str):
        absent = IMAGE_TOO_LARGE if policy.review in refused else MISSING_REVIEW_ARTIFACT
        return _one(artifacts, policy.review, absent, lambda one: _image_fault(policy, one, content_of))
    found = [
        _one(
            artifacts,
            role,
            TOO_LARGE if role in refused else MISSING_REVIEW_ARTIFACT,
            lambda one: _fault(policy, one, content_of),
        )
        for role in policy.review
    ]
    worst = next((one.outcome for one in found if one.outcome.status != GENERATED), Outcome(GENERATED))
    if len(found) == 1:
        return found[0]
    files = tuple(
        _reviewed(role, one.output, one.outcome)
        for role, one in zip(policy.review, found, strict=True)
        if isinstance(one.output, OutputFile)
    )
    return ReviewedOutput(worst, files or None)


def picture_outcome(outcome: Outcome, answer: AnswerState, scores: Sequence[SampleScore]) -> Outcome:
    """Return what the output of a picture task is: withheld by a filter, or why its bytes are no picture.

    A picture that came counts as one, whatever the filter said of the reply.
    """
    if outcome.status != INVALID_ARTIFACT:
        return outcome
    if answer == "filtered":
        return Outcome(SAFETY_FILTERED, "content_filter")
    if outcome.reason != NOT_AN_IMAGE:
        return outcome
    measured = next((score.explanation for score in scores if score.name == DECODABLE), None)
    return Outcome(INVALID_ARTIFACT, measured or outcome.reason)


def told_outcome(outcome: Outcome, state: ItemState) -> Outcome:
    """Return what is told of an output: an item that failed came with nothing that could be an invalid one."""
    return Outcome(None) if state == "failed" and outcome.status == INVALID_ARTIFACT else outcome


def _one(artifacts: Sequence[Artifact], role: str, absent: str, fault: Fault) -> ReviewedOutput:
    candidates = [artifact for artifact in artifacts if artifact.role == role]
    if not candidates:
        return ReviewedOutput(Outcome(INVALID_ARTIFACT, absent))
    if len(candidates) > 1:
        return ReviewedOutput(Outcome(INVALID_ARTIFACT, SEVERAL_REVIEW_ARTIFACTS))
    artifact = candidates[0]
    reason = fault(artifact)
    outcome = Outcome(GENERATED) if reason is None else Outcome(INVALID_ARTIFACT, reason)
    return ReviewedOutput(outcome, OutputFile(artifact.path, artifact.sha256, artifact.size))


def _reviewed(role: str, file: OutputFile, outcome: Outcome) -> ReviewedFile:
    return ReviewedFile(role, file.path, file.sha256, file.size, outcome.reason)


def _image_fault(policy: ArtifactPolicy, artifact: Artifact, content_of: Callable[[Artifact], bytes]) -> str | None:
    if artifact.size > policy.max_bytes:
        return IMAGE_TOO_LARGE
    return inspect_image(content_of(artifact), artifact.media_type).reason


def _fault(policy: ArtifactPolicy, artifact: Artifact, content_of: Callable[[Artifact], bytes]) -> str | None:
    if artifact.size > policy.max_bytes:
        return TOO_LARGE
    return review_fault(content_of(artifact), artifact.media_type)
