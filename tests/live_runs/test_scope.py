"""`run --only` and `--limit-items`: a probe is part of its runs, and what it asked is never asked again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.projects import fresh


def test_a_probe_asks_what_it_says_and_the_rest_is_asked_later(tmp_path: Path) -> None:
    project = fresh(tmp_path / "shapes", paid=True)
    probe = project.tamesu("run", "--only", "sketcher-large", "--limit-items", "1")
    assert probe.code == 0, probe.out + probe.err
    assert project.states() == {"owed": 4, "partial": 4}
    first = project.calls()
    assert {call["item"] for call in first} == {"red-sun"} and len(first) == 4
    reserved = [entry for entry in project.ledger() if entry["event"] == "reserved"]
    exposures = {run["run_id"]: run["exposure_usd"] for run in project.plan()["runs"]}
    # what is owed of a run now are two of its three items
    wanted = [exposures[entry["run_id"]] / 2 for entry in reserved]
    assert [entry["usd"] for entry in reserved] == pytest.approx(wanted)
    spent = project.spent()
    assert spent > 0

    rest = project.tamesu("run")
    assert rest.code == 0, rest.out + rest.err
    assert project.states() == {"banked": 8}
    asked = Counter((call["model"], call["arm"], call["rep"], call["item"]) for call in project.calls())
    assert len(asked) == 24 and set(asked.values()) == {1}
    assert project.spent() > spent


def test_what_nobody_asks_or_what_contradicts_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    project = fresh(tmp_path / "shapes")
    unknown = project.tamesu("run", "--only", "sketcher-larg")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == (
        "tamesu: --only sketcher-larg: no run asks that model; name one of sketcher-large, sketcher-small\n"
    )
    both = project.tamesu("run", "--dry-run", "--limit-items", "2")
    assert (both.code, "leave --only and --limit-items out" in both.err) == (2, True)
    assert not (project.eval / "runs").exists()
