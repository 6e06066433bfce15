"""Fixtures shared by all tests."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from tests import projects
from tests.order import dealt
from tests.shared import banked, begin_session, made_once

# How long an example takes depends on what else the machine does; time is measured in the benchmark.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let several workers begin with the longest tests."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = dealt([(item.nodeid, item) for item in items], workers)


@pytest.fixture(scope="session", autouse=True)
def _session(tmp_path_factory: pytest.TempPathFactory) -> None:
    begin_session(tmp_path_factory)


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
    return banked(tmp_path / "shapes")


@pytest.fixture
def banked_paid_shapes(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> projects.ShapesProject:
    """A paid project with all 8 runs banked."""
    template = made_once(tmp_path_factory, "banked-paid", partial(projects.bank, paid=True))
    return projects.copied(template, tmp_path / "shapes")
