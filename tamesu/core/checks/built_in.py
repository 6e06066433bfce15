"""The checks that Tamesu makes itself of one stored output, whatever executed it."""

from __future__ import annotations

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import SampleScore
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.base.model.plan import RunSpec
from tamesu.core.checks.names import PICTURE_CHECKS
from tamesu.core.checks.picture import PictureTask, picture_scores
from tamesu.core.checks.text import TextTask, text_scores
from tamesu.core.pictures import measure_picture


def built_in_scores(spec: RunSpec, expected: Json, output: bytes | None) -> tuple[SampleScore, ...]:
    """Return every built-in check of an output, listed or not; none for a task whose scorers are its own.

    `output` is the stored file, None when nothing came.
    """
    match spec.task:
        case "structured_text":
            reply = "" if output is None else output.decode("utf-8", "replace")
            return text_scores(TextTask(spec.output_schema), expected, reply)
        case "image_generation":
            return picture_scores(_picture_checks(spec), PictureTask(asked_format(spec)), measure_picture(output))
    return ()


def asked_format(spec: RunSpec) -> str | None:
    """Return the format that a run asks its pictures in, None when it names none."""
    image = spec.parameters.get("image")
    found = image.get("output_format") if isinstance(image, dict) else None
    return found if isinstance(found, str) else None


def _picture_checks(spec: RunSpec) -> tuple[MechanicalCheck, ...]:
    """Settings are those of the manifest where it lists the check."""
    listed = {check.scorer: check for check in spec.policy.mechanical}
    return tuple(listed.get(name, MechanicalCheck(name)) for name in PICTURE_CHECKS)
