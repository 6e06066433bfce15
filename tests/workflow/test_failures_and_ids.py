"""A failed run keeps everything it made; ids stay text and never meet on one file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.projects import DATASET, EVAL, ITEMS, ShapesProject
from tests.workflow.situations import answer, digests, lines_about, one_run, record_answers, rows

NUMBER_LIKE = ("007", "12e3", "na")
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
CYRILLIC = "\u0440un-1"


def _asked(project: ShapesProject, since: int = 0) -> list[str]:
    return sorted(str(call["item"]) for call in project.calls()[since:])


def test_c13_c22_a_failing_run_keeps_logs_and_results_and_asks_only_what_failed(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes", paid=False)
    record_answers(project, [answer(ITEMS[0]), answer(ITEMS[1]), answer(ITEMS[2], error="the provider is down")])
    first = project.snakemake()
    assert first.code != 0
    assert "Traceback" not in first.err
    [run] = project.run_ids()
    folder = project.eval / "runs" / run
    after_one = digests(folder)
    assert "inspect/attempt-01.eval" in after_one
    assert project.record(run)["state"] == "partial"
    assert project.record(run)["complete"] == 2
    assert _asked(project) == sorted(ITEMS)
    assert (project.eval / f"logs/{run}.jsonl").read_text().count('"item_finished"') == 3

    assert project.snakemake().code != 0
    after_two = digests(folder)
    keeps = [name for name in after_one if "attempt" in name or name.startswith("inspect/sources")]
    keeps += [name for item in ITEMS[:2] for name in after_one if name.startswith(f"items/{item}/")]
    assert {name: after_two.get(name) for name in keeps} == {name: after_one[name] for name in keeps}
    assert "inspect/attempt-02.eval" in after_two
    assert _asked(project, since=3) == [ITEMS[2]]

    assert project.tamesu("run").code == 1
    assert project.record(run)["state"] == "failed"
    assert _asked(project, since=4) == [ITEMS[2]]
    assert "execute" not in project.jobs()
    assert project.tamesu("run").code == 1
    assert len(project.calls()) == 5
    assert project.tamesu("resume", "--again").code == 1
    assert _asked(project, since=5) == [ITEMS[2]]
    last = digests(folder)
    assert {name: last.get(name) for name in keeps} == {name: after_one[name] for name in keeps}
    assert [name for name in sorted(last) if name.endswith(".eval")] == [
        f"inspect/attempt-0{n}.eval" for n in (1, 2, 3, 4)
    ]


def _with_items(project: ShapesProject, ids: tuple[str, ...]) -> None:
    items = [
        {"id": name, "input": {"scene": f"Scene {n}."}, "expected": {"shapes": [{"kind": "circle", "color": "red"}]}}
        for n, name in enumerate(ids)
    ]
    lines = [f"  - {json.dumps(item, ensure_ascii=False)}" for item in items]  # YAML would read a bare 12e3 as a number
    project.path(DATASET).write_text("\n".join(["name: scenes-v1", "items:", *lines, ""]), encoding="utf-8")
    project.edit_eval(f"items: {{ids: [{', '.join(ITEMS)}]}}", "items: all")


def test_c42_number_like_ids_stay_text_and_resume_asks_exactly_them(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes", paid=False)
    _with_items(project, NUMBER_LIKE)
    record_answers(project, [answer("007", error="down"), answer("12e3"), answer("na", error="down")])
    assert project.tamesu("run").code == 1
    assert _asked(project) == sorted(NUMBER_LIKE)
    [run] = project.run_ids()
    assert {path.name for path in (project.eval / "runs" / run / "items").iterdir()} == set(NUMBER_LIKE)
    assert list(project.record(run)["items"]) == list(NUMBER_LIKE)
    assert [row["item"] for row in rows(project, "items.csv")] == list(NUMBER_LIKE)
    raw = project.path(EVAL / "tables/items.csv").read_text()
    assert all(f',"{name}",' in raw for name in NUMBER_LIKE)
    assert project.tamesu("run").code == 1
    assert _asked(project, since=3) == ["007", "na"]
    asked = (project.eval / "runs" / run / "inspect/attempt-02.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in asked] == ["007", "na"]
    assert {row["item"]: row["state"] for row in rows(project, "items.csv")} == {
        "007": "failed",
        "12e3": "complete",
        "na": "failed",
    }


REFUSED_ITEMS = {
    "c42-leading-zero": ("1", "01"),
    "c42-leading-zero-inside": ("scene-1", "scene-01"),
    "c42-pattern": ("q1", "q[1]"),
    "c42-star": ("q1", "q*"),
    "c43-case": ("red", "Red"),
    "c43-composed": (COMPOSED, DECOMPOSED),
    "c43-look-alike": ("pun-1", CYRILLIC),
    "c43-device-name": ("red", "CON"),
    "c43-device-name-small": ("red", "con"),
    "c43-trailing-dot": ("red", "x."),
    "c43-too-long": ("red", "x" * 300),
    "repeated": ("red", "red"),
}


@pytest.mark.parametrize("name", REFUSED_ITEMS)
def test_c42_c43_items_that_could_meet_on_one_file_are_refused_with_a_line(tmp_path: Path, name: str) -> None:
    project = one_run(tmp_path / "shapes", paid=False)
    _with_items(project, REFUSED_ITEMS[name])
    done = project.tamesu("lint")
    assert done.code == 1
    findings = [line for line in done.out.splitlines() if "dataset.yml:" in line and " error " in line]
    assert findings, done.out
    text = project.path(DATASET).read_text(encoding="utf-8").splitlines()
    place = findings[-1].split("dataset.yml:")[1].split(":")[0]
    assert text[int(place) - 1].startswith('  - {"id":')
    assert project.snakemake().code != 0
    assert project.calls() == []


@pytest.mark.parametrize("other", ["Base", "base", DECOMPOSED, "b\u0430se", "con", "CON", "base."])
def test_c43_arms_that_could_meet_on_one_file_are_refused_with_a_line(tmp_path: Path, other: str) -> None:
    project = one_run(tmp_path / "shapes", paid=False)
    project.edit_eval("terse]", "base]")
    project.edit_eval("id: terse", "id: base")
    project.edit_eval("id: worked-example", f"id: {other}")
    done = project.tamesu("lint")
    assert done.code == 1
    line = next(n for n, text in enumerate(project.manifest.read_text().splitlines(), 1) if f"id: {other}" in text)
    assert any(
        f"eval.yml:{line}:" in finding or f"eval.yml:{line + 3}:" in finding for finding in done.out.splitlines()
    )
    bare = project.snakemake()
    assert bare.code != 0
    assert len(lines_about(bare.out + bare.err, "eval.yml:")) == 1
    assert project.calls() == []
