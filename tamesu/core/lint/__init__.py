"""What a schema cannot say about an eval: names that must agree, and settings that cannot work together."""

from __future__ import annotations

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.efforts import effort_remarks
from tamesu.core.lint.execution import execution_remarks
from tamesu.core.lint.extent import extent_remarks
from tamesu.core.lint.judgement import judgement_remarks
from tamesu.core.lint.judges import judge_remarks
from tamesu.core.lint.messages import message_remarks
from tamesu.core.lint.names import name_remarks
from tamesu.core.lint.parameters import parameter_remarks
from tamesu.core.lint.picture_checks import picture_check_remarks
from tamesu.core.lint.pictures import picture_remarks
from tamesu.core.lint.prices import price_remarks
from tamesu.core.lint.remark import Remark
from tamesu.core.lint.repetition import repetition_remarks
from tamesu.core.lint.unsent import unsent_remarks

__all__ = ["Remark", "effort_remarks", "message_remarks", "price_remarks", "remarks"]


def remarks(evaluation: Eval) -> tuple[Remark, ...]:
    """Return everything that is wrong with an eval whose shape is right."""
    checks = (
        name_remarks,
        execution_remarks,
        parameter_remarks,
        picture_remarks,
        picture_check_remarks,
        unsent_remarks,
        judgement_remarks,
        judge_remarks,
        extent_remarks,
        repetition_remarks,
    )
    return tuple(remark for check in checks for remark in check(evaluation))
