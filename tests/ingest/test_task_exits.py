"""A task that ends its own process uses up a try each time, so that it is not asked without end."""

from __future__ import annotations

from pathlib import Path

from tests.ingest.lab import TASK, asked, attempt, lab, result, turn, work_off

LEAVING = TASK.replace("solver=[generate()]", "solver=[generate(), leave()]").replace(
    "from inspect_ai.solver import generate\n",
    """from inspect_ai.solver import generate, solver


@solver
def leave():
    async def solve(state, generate):
        if state.sample_id == "b":
            raise SystemExit(3)
        return state

    return solve
""",
)


def test_a_solver_that_exits_is_asked_max_attempts_times(tmp_path: Path) -> None:
    project = lab(tmp_path / "lab", {"a": turn(), "b": turn()}, task=LEAVING, changes={"defaults": {"max_attempts": 2}})
    for _ in range(4):
        assert work_off(project).error is None
    assert asked(project).count("b") == 2
    assert [attempt(project, number)["error"]["type"] for number in (1, 2)] == ["SystemExit"] * 2
    assert "b" in attempt(project, 1)["used"] and "b" in attempt(project, 2)["used"]
    assert result(project, "b")["state"] == "failed"
