"""Which package a task is of: none for a copied file, and what Inspect finds for all others."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from inspect_ai import task
from inspect_ai._eval.task import log
from inspect_ai._util import package

from tamesu.edge.backends.inspect.task_origin import search_no_package_for_copied_tasks
from tamesu.edge.backends.inspect.tasks import MODULE_PREFIX

TASK = "from inspect_ai import Task, task\n\n\n@task\ndef origin_probe(dataset: str) -> Task:\n    return Task()\n"


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    name = f"{MODULE_PREFIX}0123456789ab"
    file = tmp_path / "task.py"
    file.write_text(TASK)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was looked up among the packages; Inspect's own names are put back afterwards."""
    found: list[str] = []

    def searched() -> dict[str, list[str]]:
        found.append("all packages")
        return {}

    monkeypatch.setattr(log, "get_distribution_for_object", package.get_distribution_for_object)
    monkeypatch.setattr(package, "packages_distributions", searched)
    return found


def test_inspect_finds_no_package_for_a_copied_task_after_reading_all(copied: ModuleType, searches: list[str]) -> None:
    assert log.resolve_task_distribution("origin_probe") is None
    assert searches == ["all packages"]


def test_we_say_the_same_and_read_none(copied: ModuleType, searches: list[str]) -> None:
    search_no_package_for_copied_tasks()
    assert log.resolve_task_distribution("origin_probe") is None
    assert searches == []


def test_a_task_of_a_package_is_found_as_before(searches: list[str]) -> None:
    search_no_package_for_copied_tasks()
    found = log.get_distribution_for_object(task)
    assert found is not None
    assert found.name.replace("-", "_") == "inspect_ai"
