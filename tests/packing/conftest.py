"""Fixtures of the tests of packing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.packing.cases import published
from tests.projects import ShapesProject, fresh
from tests.shared import banked


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """`tamesu` inside this process."""
    return Caller(monkeypatch, capsys)


@pytest.fixture
def case(tmp_path: Path) -> ShapesProject:
    """A project that ran nothing, whose case says under which name it is published."""
    return published(fresh(tmp_path / "shapes"))


@pytest.fixture
def banked_case(tmp_path: Path) -> ShapesProject:
    """A project with all 8 runs banked, whose case says under which name it is published."""
    return published(banked(tmp_path / "shapes"))
