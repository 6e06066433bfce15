"""Results that rescore makes otherwise than they were recorded: told, and what they said stays in the call log."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Caller, evidence
from tests.projects import ShapesProject


def events(project: ShapesProject, run: Path) -> list[dict[str, Any]]:
    lines = (project.eval / "logs" / f"{run.name}.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == "result_replaced"]


def runs(project: ShapesProject) -> list[Path]:
    return sorted(path.parent for path in project.eval.glob("runs/*/run.yml"))


def forge(run: Path, item: str) -> tuple[bytes, bytes]:
    """Make what one item failed look as if it passed; return the bytes before and after."""
    place = run / "items" / item / "result.yml"
    before = place.read_bytes()
    text = before.decode()
    assert "passed: true" in text
    place.write_text(text.replace("passed: true", "passed: false").replace("value: 1.0", "value: 0.5"))
    return before, place.read_bytes()


def test_a_rescore_that_changes_nothing_says_what_it_said(banked_shapes: ShapesProject, call: Caller) -> None:
    before = evidence(banked_shapes)
    done = call(banked_shapes, "rescore")
    assert (done.code, done.err) == (0, "")
    assert [line.split(": ")[1] for line in done.out.splitlines()][:8] == ["complete, 3/3"] * 8
    assert evidence(banked_shapes) == before


def test_a_result_changed_by_hand_is_told_and_kept(banked_shapes: ShapesProject, call: Caller) -> None:
    run = runs(banked_shapes)[0]
    right, forged = forge(run, "red-sun")
    done = call(banked_shapes, "rescore")
    assert done.code == 0
    lines = [line.removeprefix(f"tamesu: {run.name}: ") for line in done.err.splitlines()]
    assert lines[0] == "1 of 3 results differs from what was recorded; the call log keeps what they said"
    assert lines[1].startswith("red-sun: ")
    assert "valid_program 0.5 not passed -> 1.0 passed" in lines[1]
    assert (run / "items/red-sun/result.yml").read_bytes() == right
    (event,) = events(banked_shapes, run)
    assert (event["item"], event["attempt"]) == ("red-sun", 1)
    assert event["was"]["sha256"] == hashlib.sha256(forged).hexdigest()
    assert event["was"]["scores"]["valid_program"] == {"value": 0.5, "passed": False}
    assert event["now"]["sha256"] == hashlib.sha256(right).hexdigest()
    assert event["now"]["scores"]["valid_program"] == {"value": 1.0, "passed": True}
    assert call(banked_shapes, "rescore").err == "", "nothing differs any more"
    assert len(events(banked_shapes, run)) == 1


def test_many_are_counted_and_the_first_are_named(banked_shapes: ShapesProject, call: Caller) -> None:
    for run in runs(banked_shapes):
        for item in ("red-sun", "three-stripes", "crossed-lines"):
            place = run / "items" / item / "result.yml"
            place.write_text(place.read_text().replace("latency_ms: ", "latency_ms: 1"))
    done = call(banked_shapes, "rescore")
    assert done.err.count("3 of 3 results differ from what was recorded") == 8
    assert done.err.count("other latency_ms") == 24


def test_a_damaged_result_is_kept_by_its_digest(banked_shapes: ShapesProject, call: Caller) -> None:
    run = runs(banked_shapes)[0]
    place = run / "items/red-sun/result.yml"
    place.write_bytes(b"{")
    assert "red-sun: its result was damaged" in call(banked_shapes, "rescore").err
    (event,) = events(banked_shapes, run)
    assert event["was"] == {"sha256": hashlib.sha256(b"{").hexdigest()}


@pytest.mark.parametrize("planned", [-5, 2, 4, 999])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_count_of_planned_items_that_is_not_so(
    planned: int, sealed: bool, banked_shapes: ShapesProject, call: Caller
) -> None:
    path = runs(banked_shapes)[0] / "run.yml"
    lines = [line for line in path.read_text().splitlines() if sealed or not line.startswith("checksum:")]
    path.write_text("\n".join(f"planned: {planned}" if line == "planned: 3" else line for line in lines) + "\n")
    told = call(banked_shapes, "status").out
    assert "7/8 runs banked" in told
    assert f"says `planned: {planned}`" in told or "was changed after it was written" in told
    call(banked_shapes, "present", "shape-drawing")
    page = banked_shapes.path("build/shape-drawing/index.html").read_text()
    assert "7 of 8" in page or "7/8" in page
