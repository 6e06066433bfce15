"""The same eval on both backends: what an output means does not depend on what produced it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.backends import OF_THE_BACKEND, boards_differ_in, differing, execution, of_the_answer, table, with_views
from tests.native.project import EVAL, Tickets, tickets
from tests.projects import copied

PRICES = "models:\n  - {provider: replay, model: sorter-small, usd_per_million: {input: 1.0, output: 4.0}}\n"
# a limit that only one reply goes beyond
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "login-loop": {"error": "the line is dead"},
    "double-charge": {"text": '{"queue": "billing"}', "usage": {"input": 500, "output": 9}},
    "data-leak": {"text": "", "stop_reason": "max_tokens", "usage": {"input": 5, "output": 0}},
    "card-declined": {"text": "{}"},
    "thanks": {
        "text": " <think>a</think>\n{} \u00fc",
        "usage": {"input": 5, "output": 9},
        "stop_reason": "content_filter",
    },
}


def worked_off(target: Path, backend: str) -> Tickets:
    """Return the example with answers of every kind, at a price, after one attempt and with its views."""
    project = tickets(target)
    project.path("config/models.yml").write_text(PRICES)
    for item, turn in ANSWERS.items():
        project.answer(item, turn)
    chosen = execution(backend, "{cost_limit: 0.1, time_limit: 60, token_limit: 450}")
    project.edit(EVAL / "eval.yml", "\ndefaults:\n", f"\n{chosen}\ndefaults:\n")
    project.edit(EVAL / "eval.yml", "budget_usd: 1.00", "budget_usd: 20.00")
    with_views(project)
    return project


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tickets, Tickets]:
    target = tmp_path_factory.mktemp("both")
    return worked_off(target / "native", "native"), worked_off(target / "inspect", "inspect")


def test_the_table_of_items_is_the_same_but_for_what_names_the_run_the_clock_and_the_class_of_an_error(
    both: tuple[Tickets, Tickets],
) -> None:
    native, inspect = (table(project, "items.csv") for project in both)
    assert len(native) == len(inspect) == 48
    assert differing(native, inspect) <= OF_THE_BACKEND
    assert {row["run_id"] for row in native}.isdisjoint(row["run_id"] for row in inspect)
    failed = [{row["error_type"] for row in rows if row["item"] == "login-loop"} for rows in (native, inspect)]
    assert failed == [{"ProviderUnavailable"}, {"RecordedError"}]
    assert {row["error_type"] for row in inspect} == {"", "RecordedError", "MissingUsage"}


def test_the_values_are_those_of_the_answers(both: tuple[Tickets, Tickets]) -> None:
    rows = {row["item"]: row for row in table(both[1], "items.csv") if row["arm"] == "definitions"}
    kept = ("state", "answer", "limit", "total_tokens", "cost_usd", "score:valid_json", "score:schema_valid")
    assert {item: tuple(rows[item][name] for name in kept) for item in ANSWERS} == {
        "login-loop": ("failed", "none", "", "", "", "", ""),
        "double-charge": ("complete", "text", "token", "509", "0.000536", "1.0", "0.0"),
        "data-leak": ("complete", "truncated_empty", "", "5", "5e-06", "0.0", "0.0"),
        "card-declined": ("failed", "text", "", "", "", "", ""),
        "thanks": ("complete", "filtered", "", "14", "4.1e-05", "0.0", "0.0"),
    }


def test_runs_leaderboard_and_report_are_the_same(both: tuple[Tickets, Tickets]) -> None:
    assert differing(*(table(project, "runs.csv") for project in both)) == {"run_id"}
    (other,) = boards_differ_in(*both)
    assert other.startswith("Evidence: sha256:")
    confused = [
        (project.eval / "evaluation-report.md").read_text().partition("### queue: ")[2].partition("\n## ")[0]
        for project in both
    ]
    assert confused[0] == confused[1]
    assert "| other | " in confused[0]


def test_the_results_and_the_files_that_were_kept_are_the_same(both: tuple[Tickets, Tickets]) -> None:
    native, inspect = (project.results() for project in both)
    assert {cell: of_the_answer(one) for cell, one in native.items()} == {
        cell: of_the_answer(one) for cell, one in inspect.items()
    }
    assert [len(result["artifacts"]) for _, result in sorted(native.items())].count(0) == 2
    assert both[0].spent() == both[1].spent() > 0


def test_runs_of_one_backend_are_never_taken_for_those_of_the_other(
    both: tuple[Tickets, Tickets], tmp_path: Path
) -> None:
    moved = Tickets(copied(both[0].root, tmp_path / "moved").root)
    assert moved.states() == {"partial": 2}
    moved.edit(EVAL / "eval.yml", "backend: native", "backend: inspect")
    assert moved.states() == {"owed": 2}
