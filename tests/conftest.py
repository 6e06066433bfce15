"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import projects


@pytest.fixture
def shapes(tmp_path: Path) -> projects.ShapesProject:
    """A fresh, free project of 8 runs x 3 items."""
    return projects.fresh(tmp_path / "shapes")


@pytest.fixture
def paid_shapes(tmp_path: Path) -> projects.ShapesProject:
    """A fresh project whose recorded models have prices, so every money path is real."""
    return projects.fresh(tmp_path / "shapes", paid=True)


@pytest.fixture
def banked_shapes(tmp_path: Path) -> projects.ShapesProject:
    """A free project with all 8 runs banked."""
    return projects.banked(tmp_path / "shapes")


@pytest.fixture
def banked_paid_shapes(tmp_path: Path) -> projects.ShapesProject:
    """A paid project with all 8 runs banked."""
    return projects.banked(tmp_path / "shapes", paid=True)
