"""The user's task: loaded from the executed copy, checked against the manifest, its scorers bound to a run."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from inspect_ai import Task
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import cost_limit

from tamesu.base.canonical import digest
from tamesu.base.errors import Refused, UsageError, meant
from tamesu.base.model.plan import RunSpec
from tamesu.edge.backends.inspect.kept import keeping_scorers
from tamesu.inspect_support import bound_staging

MODULE_PREFIX = "tamesu_task_"  # of copied files in sys.modules
_OWNED_BY_MANIFEST = ("cost_limit", "time_limit", "token_limit", "working_limit", "turn_limit")


@functools.cache
def _load(file: Path, root: Path) -> ModuleType:
    """Import the copied module once per process; a process serves one source digest only."""
    name = f"{MODULE_PREFIX}{digest(str(file))[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file.name}: is not a Python module; name one in execution.file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    for folder in dict.fromkeys((str(root), str(file.parent))):
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


def load_task(spec: RunSpec, sources: Path, dataset: Path) -> Task:
    """Return the run's task, made by the copied code from the frozen dataset.

    Raises UsageError when the module holds no such task, Refused when the task decides what the manifest
    owns. What the user's code raises passes through.
    """
    if spec.task_file is None or spec.task_function is None:
        raise UsageError(f"{spec.ref}: names no task module; set execution.file and execution.task in eval.yml")
    module = _load(sources / spec.task_file, sources)
    function = getattr(module, spec.task_function, None)
    if not callable(function):
        hint = meant("task", spec.task_function, _own_tasks(module))
        raise UsageError(f"{spec.task_file}: holds no task '{spec.task_function}'; {hint} (execution.task in eval.yml)")
    task = function(dataset=str(dataset), **spec.task_args)
    if not isinstance(task, Task):
        raise UsageError(f"{spec.task_file}: '{spec.task_function}' returned no Inspect Task; use @task")
    _refuse_own_settings(spec, task)
    return task


def _own_tasks(module: ModuleType) -> list[str]:
    """Return the functions that the module itself defines."""
    names = [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if getattr(getattr(module, name), "__module__", None) == module.__name__]


def _refuse_own_settings(spec: RunSpec, task: Task) -> None:
    taken = [name for name in _OWNED_BY_MANIFEST if getattr(task, name, None) is not None]
    if task.model is not None:
        taken.append("model")
    if task.config != GenerateConfig():
        taken.append("config")
    if task.epochs not in {None, 1}:
        taken.append("epochs")
    if taken:
        raise Refused(
            f"{spec.task_file}: the task sets {', '.join(taken)}, which eval.yml owns; remove it from the task"
        )


def message_limit(spec: RunSpec, task: Task) -> int | None:
    """Return the smaller of the limits in manifest and task; either may be absent."""
    limits = [limit for limit in (spec.limits.message_limit, task.message_limit) if limit is not None]
    return min(limits, default=None)


def bind_scorers(spec: RunSpec, task: Task, staging: Path) -> list[Scorer]:
    """Return the task's scorers, each staging below the run's own root, all together within one `cost_limit`.

    A context variable set by a solver does not reach the scorer, so the scorer itself is wrapped; the
    wrapper keeps the registry name and metrics. Inspect ends the limits of a sample before it is scored.
    """
    declared = task.scorer or []
    scorers = keeping_scorers(spec, declared if isinstance(declared, list) else [declared])
    purse = _Purse(spec.limits.cost_limit if spec.roles else None)
    return [_bound(scorer, staging, purse) for scorer in scorers]


class ScorerExited(RuntimeError):
    """A scorer called `sys.exit`, which fails its item and no other one."""


class _Purse:
    """What the scorers of a sample may cost, in US dollars: the limit, less what earlier scorers of it cost."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._spent: Counter[str] = Counter()

    @contextmanager
    def opened(self, sample: str) -> Iterator[None]:
        left = None if self._limit is None else max(0.0, self._limit - self._spent[sample])
        with cost_limit(left) as scope:
            try:
                yield
            finally:
                self._spent[sample] += scope.usage  # type: ignore[assignment]


def _bound(scorer: Scorer, staging: Path, purse: _Purse) -> Scorer:
    @functools.wraps(scorer)
    async def score(state: TaskState, target: Target) -> Score | None:
        sample = str(state.sample_id)
        with bound_staging(staging, sample), purse.opened(sample):
            try:
                return await scorer(state, target)
            except SystemExit as error:
                # It would end the whole attempt, and every later one at the same item.
                raise ScorerExited(f"a scorer ended the process (exit code {error.code}); return a score") from error

    return score
