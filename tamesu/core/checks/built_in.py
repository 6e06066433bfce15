"""The checks that Tamesu makes itself of one stored output, whatever executed it."""

from __future__ import annotations

from collections.abc import Iterable

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import RejectedArtifact, SampleScore
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import RunSpec
from tamesu.core.checks.measured import Measured
from tamesu.core.checks.names import PICTURE_CHECKS
from tamesu.core.checks.picture import PictureTask, picture_scores
from tamesu.core.checks.text import TextTask, text_scores
from tamesu.core.pictures import measure_picture
from tamesu.core.tasks import OUTPUT


def built_in_scores(
    spec: RunSpec, expected: Json, output: bytes | None, problem: str | None = None
) -> tuple[SampleScore, ...]:
    """Return every built-in check of an output, listed or not; none for a task whose scorers are its own.

    `output` is the stored file, None when nothing came; `problem` says of one that came why it is not stored.
    """
    match spec.task:
        case "structured_text":
            reply = "" if output is None else output.decode("utf-8", "replace")
            return text_scores(TextTask(spec.output_schema), expected, reply, problem)
        case "image_generation":
            measured = measure_picture(output) if problem is None else Measured(problem)
            return picture_scores(_picture_checks(spec), PictureTask(asked_format(spec)), measured)
    return ()


def unread_output(rejected: Iterable[RejectedArtifact]) -> str | None:
    """Return in words how large an output is that was too large to be stored; None where none was."""
    return next((one.sizes for one in rejected if one.role == OUTPUT and one.sizes is not None), None)


def asked_format(spec: RunSpec) -> str | None:
    """Return the format that a run asks its pictures in, None when it names none."""
    image = spec.parameters.get("image")
    found = image.get("output_format") if isinstance(image, dict) else None
    return found if isinstance(found, str) else None


def _picture_checks(spec: RunSpec) -> tuple[MechanicalCheck, ...]:
    """Settings are those of the manifest where it lists the check."""
    listed = {check.scorer: check for check in spec.policy.mechanical}
    return tuple(listed.get(name, MechanicalCheck(name)) for name in PICTURE_CHECKS)
