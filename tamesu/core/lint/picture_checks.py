"""Checks of pictures that no picture can pass, whatever a model draws."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.checks.names import FORMAT_MATCH
from tamesu.core.checks.picture import format_name
from tamesu.core.lint.layers import Place, set_parameters
from tamesu.core.lint.remark import Remark
from tamesu.core.picture_request import IMAGE
from tamesu.core.pictures import KINDS
from tamesu.core.tasks import IMAGES

_KEPT = ", ".join(KINDS)
_LAYERS = frozenset({"defaults", "arms", "runs"})  # not those of judges and roles, which draw nothing


def picture_check_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield each listed `format_match` that waits for a format in which no picture is kept."""
    if evaluation.task != IMAGES:
        return
    for number, check in enumerate(evaluation.policy.mechanical):
        if check.scorer != FORMAT_MATCH or check.pass_at <= 0:
            continue
        if "format" in check.settings:
            yield from _remark(("evaluation", "mechanical", number), check.settings["format"])
        else:
            yield from _asked(evaluation)


def _asked(evaluation: Eval) -> Iterator[Remark]:
    """Without a setting the check compares with what the parameters of a run ask for."""
    told: set[Place] = set()
    for one in set_parameters(evaluation):
        wanted = one.value.get("output_format") if one.name == IMAGE and isinstance(one.value, dict) else None
        if isinstance(wanted, str) and one.place[0] in _LAYERS and one.place not in told:
            told.add(one.place)
            yield from _remark((*one.place, "output_format"), wanted)


def _remark(place: Place, wanted: object) -> Iterator[Remark]:
    if format_name(str(wanted)) not in KINDS:
        message = f"'{FORMAT_MATCH}' waits for '{wanted}', and no picture is kept in that format, so nothing can pass"
        yield Remark(place, "check/never-passes", message, f"ask for one of {_KEPT}, or drop the check")
