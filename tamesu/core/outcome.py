"""What an item's output is for the people who review it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tamesu.base.model.evidence import Artifact, Outcome, OutputFile
from tamesu.base.model.manifest import ArtifactPolicy
from tamesu.core.images import IMAGE_TOO_LARGE, inspect_image

GENERATED = "generated"
INVALID_ARTIFACT = "invalid_artifact"
MISSING_REVIEW_ARTIFACT = "missing_review_artifact"
SEVERAL_REVIEW_ARTIFACTS = "several_review_artifacts"


@dataclass(frozen=True, slots=True)
class ReviewedOutput:
    """The outcome, and the review artifact when there is exactly one, fit for review or not."""

    outcome: Outcome
    output: OutputFile | None = None


def review_outcome(
    policy: ArtifactPolicy, artifacts: Sequence[Artifact], content_of: Callable[[Artifact], bytes]
) -> ReviewedOutput:
    """Decide whether an item has an image to review; an invalid one stays in every denominator.

    `content_of` is asked for one artifact at most, and what it raises passes through.
    """
    if policy.review is None:
        return ReviewedOutput(Outcome(None))
    candidates = [artifact for artifact in artifacts if artifact.role == policy.review]
    if not candidates:
        return ReviewedOutput(Outcome(INVALID_ARTIFACT, MISSING_REVIEW_ARTIFACT))
    if len(candidates) > 1:
        return ReviewedOutput(Outcome(INVALID_ARTIFACT, SEVERAL_REVIEW_ARTIFACTS))
    artifact = candidates[0]
    reason = _fault(policy, artifact, content_of)
    outcome = Outcome(GENERATED) if reason is None else Outcome(INVALID_ARTIFACT, reason)
    return ReviewedOutput(outcome, OutputFile(artifact.path, artifact.sha256, artifact.size))


def _fault(policy: ArtifactPolicy, artifact: Artifact, content_of: Callable[[Artifact], bytes]) -> str | None:
    if artifact.size > policy.max_bytes:
        return IMAGE_TOO_LARGE
    return inspect_image(content_of(artifact), artifact.media_type).reason
