"""Whether what an eval asks for can be executed: task and backend, routes, task arguments, what is missing yet."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import Eval
from tamesu.core.lint.remark import Remark, nearest
from tamesu.core.lint.roles import role_remarks
from tamesu.core.routes import find_route, route_names
from tamesu.core.support import missing_support
from tamesu.core.tasks import TASKS


def execution_remarks(evaluation: Eval) -> Iterator[Remark]:
    """Yield what cannot be executed as declared; what this version cannot do yet is a warning."""
    yield from _backend(evaluation)
    yield from _routes(evaluation)
    yield from role_remarks(evaluation)
    if "dataset" in evaluation.execution.task_args:
        yield Remark(
            ("execution", "task_args", "dataset"),
            "task/args",
            "'dataset' names the frozen dataset, which is passed to every task",
            "remove it or rename the parameter",
        )
    for missing in missing_support(evaluation):
        fix = "the manifest is valid; running it needs a version that supports this"
        yield Remark(missing.path, "support/missing", missing.message, fix, "warning")


def _backend(evaluation: Eval) -> Iterator[Remark]:
    backends = TASKS[evaluation.task]
    if evaluation.execution.backend not in backends:
        yield Remark(
            ("execution", "backend"),
            "task/backend",
            f"task '{evaluation.task}' cannot run on backend '{evaluation.execution.backend}'",
            f"set execution.backend to {' or '.join(sorted(backends))}",
        )


def _providers(evaluation: Eval) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, entry in enumerate(evaluation.models):
        yield ("runs", number, "provider"), entry.provider
    for number, judge in enumerate(evaluation.policy.judges):
        yield ("evaluation", "model_judges", number, "provider"), judge.provider
    for name, role in evaluation.execution.model_roles.items():
        yield ("execution", "model_roles", name, "provider"), role.provider


def _routes(evaluation: Eval) -> Iterator[Remark]:
    for path, provider in _providers(evaluation):
        if find_route(provider) is None:
            message = f"provider '{provider}' has no Inspect route"
            yield Remark(path, "provider/no-route", message, nearest(provider, route_names()))
