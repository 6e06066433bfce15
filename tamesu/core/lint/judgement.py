"""Judgement: checks, review, judges, acceptance and metrics must fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from tamesu.base.model.manifest import Eval
from tamesu.core.checks.names import PREREQUISITE, SETTINGS
from tamesu.core.lint.remark import Remark, nearest
from tamesu.core.metrics.task_names import metric_names
from tamesu.core.tasks import built_in_checks

_ACCEPTANCE = ("evaluation", "acceptance")
_NEARLY = 0.85  # likeness of names, as difflib has it


def judgement_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield where checks, review, judges, acceptance and metrics contradict each other."""
    yield from _scorers(evaluation)
    yield from _checks(evaluation)
    yield from _requirements(evaluation)
    yield from _review_role(evaluation)
    yield from _human(evaluation)
    yield from _metrics(evaluation)


def _scorers(evaluation: Eval) -> Iterator[Remark]:
    for name, count in Counter(check.scorer for check in evaluation.policy.mechanical).items():
        if count > 1:
            yield Remark(("evaluation", "mechanical"), "scorer/repeated", f"scorer '{name}' repeats", "list it once")


def _checks(evaluation: Eval) -> Iterator[Remark]:
    """Tamesu makes the checks of some tasks; a setting that a check does not take does nothing."""
    known = built_in_checks(evaluation.task)
    for number, check in enumerate(evaluation.policy.mechanical):
        at = ("evaluation", "mechanical", number)
        if known and check.scorer not in known and not _may_be_their_own(evaluation, check.scorer):
            message = f"'{check.scorer}' is no check of task '{evaluation.task}'"
            yield Remark(at, "check/unknown", message, nearest(check.scorer, known))
            continue
        taken = (PREREQUISITE, *(SETTINGS.get(check.scorer, ()) if known else ()))
        for name in check.settings:
            if name not in taken:
                fix = f"it takes pass_at, {', '.join(taken)}"
                yield Remark(at, "check/setting", f"'{check.scorer}' takes no setting '{name}'", fix)


def _may_be_their_own(evaluation: Eval, scorer: str) -> bool:
    """Return whether a task file may bring a scorer; a name that is nearly a check's was meant to be that check."""
    checks = built_in_checks(evaluation.task)
    return evaluation.execution.task is not None and not get_close_matches(scorer, checks, cutoff=_NEARLY)


def _requirements(evaluation: Eval) -> Iterator[Remark]:
    policy = evaluation.policy
    gates = {judge.id for judge in policy.judges if judge.role == "gate"}
    screens = {judge.id for judge in policy.judges if judge.role == "screen"}
    for number, word in enumerate(policy.acceptance.requires):
        at = (*_ACCEPTANCE, "requires", number)
        if word in screens:
            message = f"acceptance requires '{word}', a judge that only screens"
            yield Remark(at, "acceptance/screening-judge", message, "give it `role: gate`, or drop it here")
        elif word not in {"mechanical", "human"} and word not in gates:
            message = f"acceptance requires '{word}', which nothing here produces"
            fix = nearest(word, ("mechanical", "human", *sorted(gates)))
            yield Remark(at, "acceptance/no-evidence", message, fix)
    if "mechanical" in policy.acceptance.requires and not policy.mechanical and policy.human_rubric is not None:
        message = "acceptance requires 'mechanical' but no scorer is listed"
        fix = "list scorers in evaluation.mechanical, or drop 'mechanical'"
        yield Remark((*_ACCEPTANCE, "requires"), "acceptance/no-scorer", message, fix)


def _review_role(evaluation: Eval) -> Iterator[Remark]:
    artifacts = evaluation.execution.artifacts
    roles = (*artifacts.required, *artifacts.allowed)
    field = ("execution", "artifacts", "review")
    for number, role in enumerate(artifacts.review_roles):
        at = field if isinstance(artifacts.review, str) else (*field, number)
        if role in artifacts.review_roles[:number]:
            yield Remark(at, "id/repeated", f"the role '{role}' is reviewed twice", "list it once")
        elif role not in roles:
            message = f"the role '{role}' is neither required nor allowed, so nothing would be there to review"
            fix = f"list it under required or allowed, or {nearest(role, roles)}" if roles else "list it under required"
            yield Remark(at, "review/unlisted-role", message, fix)


def _human(evaluation: Eval) -> Iterator[Remark]:
    policy = evaluation.policy
    wanted, declared = "human" in policy.acceptance.requires, policy.human_rubric is not None
    if wanted and not declared:
        yield Remark(
            (*_ACCEPTANCE, "requires"),
            "acceptance/no-review",
            "acceptance requires 'human' but human_review is not declared",
            "declare evaluation.human_review.rubric or drop 'human'",
        )
    if declared and not wanted:
        yield Remark(
            _ACCEPTANCE,
            "acceptance/ignores-review",
            "human_review is declared but acceptance does not require 'human'",
            "add 'human' to acceptance.requires or drop human_review",
        )
    if declared and evaluation.execution.artifacts.review is None and evaluation.task == "artifact_bundle":
        yield Remark(
            ("evaluation", "human_review"),
            "review/no-role",
            "human_review needs an artifact that people look at",
            "name its role in execution.artifacts.review",
        )


def _metrics(evaluation: Eval) -> Iterator[Remark]:
    known = metric_names(evaluation)
    primary = [(("metrics", "primary"), evaluation.policy.primary_metric)]
    others = [(("metrics", "secondary", n), m) for n, m in enumerate(evaluation.policy.secondary_metrics)]
    for place, name in [*primary, *others]:
        if name not in known:
            message = f"metric '{name}' is not produced by this eval"
            yield Remark(place, "metric/not-produced", message, nearest(name, known))
