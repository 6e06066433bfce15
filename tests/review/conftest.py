"""Fixtures of the tests of human review."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller
from tests.projects import ShapesProject


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """`tamesu` inside this process."""
    return Caller(monkeypatch, capsys)


@pytest.fixture
def two_reviewers(banked_shapes: ShapesProject) -> ShapesProject:
    """A banked project that wants two reviews of each output."""
    banked_shapes.edit_eval("required_reviews_per_item: 1", "required_reviews_per_item: 2")
    return banked_shapes
