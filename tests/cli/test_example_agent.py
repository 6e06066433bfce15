"""The tool-agent example lints as its README says: clean once its image is pinned, and the pin is all that it lacks."""

from __future__ import annotations

from pathlib import Path

from tests.agents import COMPOSE, EVAL, agent_project

PINNED = "debian@sha256:" + "a" * 64


def test_the_example_lacks_nothing_but_the_pin_of_its_image(tmp_path: Path) -> None:
    done = agent_project(tmp_path / "agent").tamesu("lint")
    assert done.code == 1
    (line,) = [line for line in (done.out + done.err).splitlines() if ": error " in line or ": warning " in line]
    assert line.startswith(f"{COMPOSE.as_posix()}:4:")
    assert "image/not-pinned" in line and "tamesu lock" in line


def test_the_example_is_clean_once_its_image_is_pinned(tmp_path: Path) -> None:
    project = agent_project(tmp_path / "agent", PINNED)
    done = project.tamesu("lint", "--strict")
    assert (done.code, done.err) == (0, "")
    (run,) = project.plan()["runs"]
    assert (run["state"], project.plan()["blockers"]) == ("owed", [])


def test_the_plan_names_the_model_of_each_role(tmp_path: Path) -> None:
    project = agent_project(tmp_path / "agent", PINNED)
    lines = project.tamesu("plan", EVAL.name).out.splitlines()
    assert [line for line in lines if line.startswith("role ")] == [
        "role grader: replay/careful-grader, recorded, free"
    ]


def test_a_role_that_no_source_names_is_a_warning(tmp_path: Path) -> None:
    project = agent_project(tmp_path / "agent", PINNED)
    project.edit(EVAL / "eval.yml", "    grader:\n", "    critic:\n")
    (line,) = project.tamesu("lint").out.splitlines()[:-1]
    assert "warning role/unused no declared source names the role 'critic', so perhaps nothing asks it" in line


def test_a_grading_scorer_without_any_role_is_a_warning(tmp_path: Path) -> None:
    """Inspect would ask the model under test, which would grade its own answers."""
    project = agent_project(tmp_path / "agent", PINNED)
    text = project.path(EVAL / "eval.yml").read_text()
    head, _, rest = text.partition("  model_roles:\n")
    project.path(EVAL / "eval.yml").write_text(head + rest[rest.index("  inspect:") :])
    (line,) = project.tamesu("lint").out.splitlines()[:-1]
    assert "warning role/no-grader the task grades by `model_graded…` and no role is declared" in line


def test_the_plan_calls_no_role_free_that_may_cost_something(tmp_path: Path) -> None:
    """A paid model whose calls nothing bounds has no figure, and no figure is not zero."""
    project = agent_project(tmp_path / "agent", PINNED)
    project.pay()

    def told() -> str:
        (line,) = [one for one in project.tamesu("plan", EVAL.name).out.splitlines() if one.startswith("role ")]
        return line.rpartition(", ")[2]

    bounded = told()
    assert bounded.startswith("up to ") and bounded.endswith(" USD a call") and "0.0000" not in bounded
    project.edit(EVAL / "eval.yml", "parameters: {max_tokens: 400, temperature: 0, ", "parameters: {temperature: 0, ")
    assert told() == "nothing bounds what a call costs"
