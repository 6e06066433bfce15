"""Fields of a structured text on the page of a case: figures, confusions, bounds that are told; in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser import browser
from tests.native.project import ANSWERS, EVAL, EXPERIMENT, ITEMS, Tickets, tickets
from tests.page.test_case_page import FAINT, FAULTS, OPEN_ALL

PAGE = Path("build/ticket-routing/index.html")
LABELS = [f"label-{number:02d}" for number in range(40)]
FIELDS = [f"field_{number:02d}" for number in range(50)]
TABLES = """[...document.querySelectorAll("table.crossed")].map((one) =>
  [...one.rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"""


def made(project: Tickets) -> Tickets:
    assert project.tamesu("run").code == 0
    assert project.tamesu("present").code == 0
    return project


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Tickets:
    return made(tickets(tmp_path_factory.mktemp("tickets") / "project"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Tickets:
    """50 fields, all with an enum of 40 values, over 80 items; every fourth label is taken for the next one."""
    project = tickets(tmp_path_factory.mktemp("wide") / "project")
    enum = {"enum": LABELS}
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": FIELDS,
        "properties": dict.fromkeys(FIELDS, enum),
    }
    project.path(EXPERIMENT / "schemas/ticket.json").write_text(json.dumps(schema))
    project.edit(EVAL / "eval.yml", ", queue_accuracy, urgency_accuracy, money.refund_asked_accuracy", "")
    items, answers = [], [json.loads(project.path(ANSWERS).read_text().splitlines()[0])]
    for number in range(80):
        wanted, taken = LABELS[number % 40], LABELS[(number + (number % 4 == 0)) % 40]
        name = f"item-{number:02d}"
        asked = {"channel": "web", "text": f"Ticket {number}."}
        items.append({"id": name, "input": asked, "expected": dict.fromkeys(FIELDS, wanted)})
        said: dict[str, Any] = {"text": json.dumps(dict.fromkeys(FIELDS, taken)), "usage": {"input": 9, "output": 9}}
        answers.append({"item": name, "turns": [said]})
    for place, lines in ((ITEMS, items), (ANSWERS, answers)):
        project.path(place).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return made(project)


def test_the_figures_are_those_of_the_report(small: Tickets) -> None:
    with browser() as tab:
        tab.open(small.path(PAGE))
        rows = tab.evaluate("[...document.querySelectorAll('.by-field tr')].map((row) => row.innerText.split('\\t'))")
        crossed = tab.evaluate(TABLES)
        right = tab.evaluate(
            "[...document.querySelectorAll('.crossed')].map((one) => one.querySelectorAll('.right').length)"
        )
    by_field = {row[0]: row[1:] for row in rows}
    assert set(by_field) == {"field", "queue", "urgency", "money", "money.refund_asked"}
    report = (small.eval / "evaluation-report.md").read_text().replace("\\", "")
    arms = [head.rpartition(" ")[2] for head in by_field["field"]]
    queue = dict(zip(arms, by_field["queue"], strict=True))
    assert queue["names"].startswith("0.625 [") and queue["definitions"].startswith("0.917 [")
    assert all(figure.removesuffix(" (n=24)") in report for figure in by_field["queue"])
    assert len(crossed) == 4  # two enums, two arms
    assert ["other", "0", "1", "0", "0", "0", "2", "1"] in [row for table in crossed for row in table]
    assert all(count > 0 for count in right)


def test_tables_are_accessible_and_a_phone_scrolls_them_and_not_the_page(small: Tickets, wide: Tickets) -> None:
    with browser() as tab:
        for project in (small, wide):
            for width, dark in ((1280, False), (390, True), (390, False)):
                tab.look(width, dark=dark)
                tab.open(project.path(PAGE))
                tab.evaluate(OPEN_ALL)
                assert tab.evaluate("document.documentElement.scrollWidth") <= width
                assert tab.evaluate(FAULTS) == []
                assert tab.evaluate(FAINT) == []
            bare = (
                "[...document.querySelectorAll('.crossed, .by-field')].filter((one) => !one.caption.innerText.trim())"
            )
            assert tab.evaluate(f"{bare}.length") == 0
            heads = "[...document.querySelectorAll('.crossed th, .by-field th')].filter((one) => !one.scope)"
            assert tab.evaluate(f"{heads}.length") == 0
            boxes = (
                "[...document.querySelectorAll('.scroll')].filter((one) => one.querySelector('.crossed, .by-field'))"
            )
            assert max(tab.evaluate(f"{boxes}.map((one) => one.scrollWidth - one.clientWidth)")) > 0
        assert tab.messages == []


def test_what_is_left_out_is_told_and_every_answer_is_counted(wide: Tickets) -> None:
    with browser() as tab:
        tab.open(wide.path(PAGE))
        fields = tab.evaluate("document.querySelectorAll('.by-field tbody tr').length")
        crossed = tab.evaluate(TABLES)
        notes = tab.evaluate("[...document.querySelectorAll('p.soft')].map((one) => one.textContent)")
    assert (fields, len(crossed)) == (40, 24)
    assert "10 more fields are left out here; they stand in the scores of each item." in notes
    assert "76 more confusion tables are left out here; they stand in evaluation-report.md." in notes
    assert "28 values of 40 counted together, those confused least." in notes
    head, *rows = crossed[0]
    assert head == ["expected", *head[1:13], "(28 other values)"]
    assert sum(int(number) for row in rows for number in row[1:]) == 80
    wrong = sum(
        int(number) for row in rows[:-1] for name, number in zip(head[1:], row[1:], strict=True) if name != row[0]
    )
    assert wrong > 0
    assert re.search(r"field_49", wide.path(PAGE).read_text())
