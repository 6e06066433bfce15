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


def test_it_does_where_no_sample_was_written_either(tmp_path: Path) -> None:
    project = lab(tmp_path / "lab", {"b": turn()}, task=LEAVING, changes={"defaults": {"max_attempts": 2}})
    for _ in range(4):
        assert work_off(project).error is None
    assert asked(project) == ["b", "b"]
    assert [attempt(project, number)["used"] for number in (1, 2)] == [["b"], ["b"]]


def test_a_module_that_exits_at_its_import_asked_nothing_and_uses_up_no_try(tmp_path: Path) -> None:
    task = TASK.replace("VALUES = {", "raise SystemExit(3)\n\nVALUES = {", 1)
    project = lab(tmp_path / "lab", {"b": turn()}, task=task)
    assert work_off(project).error is None
    assert asked(project) == []
    assert (attempt(project)["state"], attempt(project)["used"]) == ("faulted", [])
