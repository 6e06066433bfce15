"""Checks of a picture: measured once from its bytes, judged by the settings of now.

What is measured (size, format, one colour or more, transparency) is recorded with each score, so that another minimum
size or format is judged anew from what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import SampleScore
from tamesu.base.model.manifest import MechanicalCheck
from tamesu.core.checks.measured import Measured
from tamesu.core.checks.names import PICTURE_CHECKS

_FORMATS = {"jpg": "jpeg", "tif": "tiff"}


@dataclass(frozen=True, slots=True)
class PictureTask:
    """What the pictures of an eval are to be, as its parameters ask for: a format, None when none is asked for."""

    output_format: str | None


def picture_scores(
    checks: tuple[MechanicalCheck, ...], task: PictureTask, measured: Measured
) -> tuple[SampleScore, ...]:
    """Return the declared checks of one picture, 1 or 0 each; what is no picture fails all of them."""
    wanted = [check for check in checks if check.scorer in PICTURE_CHECKS]
    facts: dict[str, Json] = {**asdict(measured), "asked_format": task.output_format}
    return tuple(_score(check, facts) for check in wanted)


def judged_value(check: MechanicalCheck, metadata: Mapping[str, Json] | None) -> float | None:
    """Return a check's value under the settings of now from what was measured; None when nothing was."""
    if not _was_measured(check, metadata):
        return None
    return 1.0 if judged_problem(check, metadata) is None else 0.0


def judged_problem(check: MechanicalCheck, metadata: Mapping[str, Json] | None) -> str | None:
    """Return why a check fails under the settings of now; None when it passes or nothing was measured."""
    return _problem(check, metadata) if metadata and _was_measured(check, metadata) else None


def _was_measured(check: MechanicalCheck, metadata: Mapping[str, Json] | None) -> bool:
    return check.scorer in PICTURE_CHECKS and bool(metadata) and "width" in (metadata or {})


def _score(check: MechanicalCheck, facts: Mapping[str, Json]) -> SampleScore:
    problem = _problem(check, facts)
    number = 1.0 if problem is None else 0.0
    return SampleScore(check.scorer, number, number, explanation=problem, metadata=facts)


def _problem(check: MechanicalCheck, facts: Mapping[str, Json]) -> str | None:
    """Return why a picture fails a check, None when it passes."""
    if facts["reason"] is not None:
        return str(facts["reason"])
    match check.scorer:
        case "min_resolution":
            return _too_small(check, facts)
        case "format_match":
            wanted = check.settings.get("format", facts["asked_format"])
            return None if _same_format(wanted, facts["format"]) else f"is {facts['format']}, not {wanted}"
        case "non_uniform":
            return None if facts["uniform"] is False else "every pixel is the same"
        case "has_transparency":
            return None if facts["transparent"] is True else "no pixel is transparent"
    return None


def _too_small(check: MechanicalCheck, facts: Mapping[str, Json]) -> str | None:
    least = [check.settings.get(side, 1) for side in ("width", "height")]
    sizes = [facts["width"], facts["height"]]
    pairs = zip(sizes, least, strict=True)
    if all(isinstance(size, int) and isinstance(wanted, int) and size >= wanted for size, wanted in pairs):
        return None
    return f"is {sizes[0]} x {sizes[1]}, below {least[0]} x {least[1]}"


def _same_format(wanted: Json, found: Json) -> bool:
    if wanted is None:
        return True
    return format_name(str(wanted)) == format_name(str(found))


def format_name(name: str) -> str:
    """Return a format under the name that measuring gives it: `JPG` is `jpeg`."""
    return _FORMATS.get(name.lower(), name.lower())
