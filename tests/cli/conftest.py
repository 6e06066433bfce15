"""Fixtures of the command line's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import projects
from tests.cli.calling import Caller


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """`tamesu` inside this process."""
    return Caller(monkeypatch, capsys)


@pytest.fixture
def one_run(tmp_path: Path) -> projects.ShapesProject:
    """A fresh project of one run with one item: the cheapest that can be executed."""
    project = projects.fresh(tmp_path / "shapes", items=("red-sun",))
    project.edit_eval("repetitions: 2", "repetitions: 1")
    project.edit_eval(
        "    arms: [terse, worked-example]\n  - provider: replay\n    model: sketcher-large\n"
        "    arms: [terse, worked-example]\n",
        "    arms: [terse]\n",
    )
    return project
