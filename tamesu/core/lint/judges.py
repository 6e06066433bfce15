"""Model judges: what each needs to be asked at all, and what would be asked for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Eval, ModelJudge
from tamesu.base.model.plan import RoleRun
from tamesu.core.freeze import select_items
from tamesu.core.judging.models import judge_call_usd
from tamesu.core.judging.prompts import judge_prompts, prompt_faults, render_judge
from tamesu.core.lint.layers import Place
from tamesu.core.lint.remark import Remark


def judge_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield what a judge lacks, and gates that decide nothing."""
    for number, judge in enumerate(evaluation.policy.judges):
        at = ("evaluation", "model_judges", number)
        yield from _lacking(evaluation, judge, at)
        if judge.role == "gate" and judge.id not in evaluation.policy.acceptance.requires:
            message = f"judge '{judge.id}' is a gate, but acceptance does not require it"
            fix = f"add {judge.id} to acceptance.requires, or give it `role: screen`"
            yield Remark((*at, "role"), "acceptance/ignores-judge", message, fix, "warning")


def _lacking(evaluation: Eval, judge: ModelJudge, at: Place) -> Iterator[Remark]:
    if judge.rubric is None:
        message = f"judge '{judge.id}' has no rubric"
        yield Remark(at, "judge/no-rubric", message, "name one in `rubric`, or declare evaluation.human_review.rubric")
    if not evaluation.execution.artifacts.review_roles and evaluation.task == "artifact_bundle":
        message = f"judge '{judge.id}' needs an artifact to look at"
        yield Remark(at, "review/no-role", message, "name its role in execution.artifacts.review")
    if judge.provider == "replay" and "recordings" not in judge.parameters:
        message = f"judge '{judge.id}' needs recorded answers"
        yield Remark(at, "replay/no-recordings", message, "name their file in its `parameters.recordings`")


def judge_prompt_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield an error for each judge whose prompts cannot be rendered for an item that is selected."""
    items = select_items(evaluation.dataset, evaluation.defaults.items)
    for number, judge in enumerate(evaluation.policy.judges):
        if judge.rubric is None or any(prompt_faults(prompt.text) for prompt in judge_prompts(judge)):
            continue
        try:
            for item in items:
                render_judge(judge, judge.rubric, item)
        except InvalidDocument as error:
            message, _, fix = str(error).rpartition("; ")
            yield Remark(("evaluation", "model_judges", number, "prompts"), "judge/prompt", message, fix)


def judge_price_remarks(evaluation: Eval, models: Mapping[str, RoleRun]) -> Iterator[Remark]:
    """Yield a warning for each judge whose price nobody knows, or whose calls nothing bounds; it is not asked then."""
    for number, judge in enumerate(evaluation.policy.judges):
        at, model = ("evaluation", "model_judges", number), models[judge.id]
        if model.price is None:
            message = f"judge '{judge.id}': {judge.provider}/{judge.model} has no registered price, so it is not asked"
            yield Remark((*at, "model"), "judge/no-price", message, "add it to config/models.yml", "warning")
        elif judge_call_usd(model, 0, 0) is None:
            message = f"judge '{judge.id}': nothing bounds what a call of it may cost, so it is not asked"
            yield Remark(at, "judge/no-bound", message, "set its parameters.max_tokens", "warning")
