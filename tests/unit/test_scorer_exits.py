"""A scorer that leaves the process fails its own item; a run that broke off says why."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from inspect_ai import Task
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from tamesu.base.model.evidence import Fault
from tamesu.base.model.plan import SlotState
from tamesu.core.aftermath import aftermath
from tamesu.edge.backends.inspect.tasks import ScorerExited, bind_scorers
from tests.run_factories import SPEC, attempt


@scorer(metrics=[mean()])
def leaving() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        raise SystemExit(3)

    return score


def test_a_scorer_that_exits_raises_an_error_of_its_item(tmp_path: Path) -> None:
    (bound,) = bind_scorers(SPEC, Task(scorer=leaving()), tmp_path)
    state = cast(Any, SimpleNamespace(sample_id="a"))
    with pytest.raises(ScorerExited, match=r"ended the process \(exit code 3\); return a score"):
        asyncio.run(cast(Any, bound)(state, Target("x")))


def test_a_run_that_broke_off_in_a_living_process_says_why() -> None:
    died = replace(attempt(1), state="died", error=Fault("SystemExit", "3"), adopted=None)
    assert (
        aftermath(SlotState.PARTIAL, None, False, [died], ["b"], 2)
        == "attempt 1 broke off (SystemExit: 3), 1 of 2 items done; `tamesu run` goes on"
    )
    killed = aftermath(SlotState.PARTIAL, None, False, [replace(died, adopted="process 1 on host")], ["b"], 2)
    assert killed is not None
    assert killed.startswith("its process was killed (attempt 1, begun at ")


def test_an_attempt_that_asked_nothing_says_why() -> None:
    faulted = replace(attempt(1), state="faulted", error=Fault("ValueError", "no such model"))
    said = aftermath(SlotState.PARTIAL, None, False, [faulted], ["a", "b"], 2)
    assert said is not None
    assert " before anything was asked (ValueError: no such model), 0 of 2 items done" in said
