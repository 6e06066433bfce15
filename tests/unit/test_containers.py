"""Compose projects of an attempt are written down before they start, through the one place that names them."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inspect_ai.util._sandbox.docker import docker as module

from tamesu.edge.backends.inspect.containers import projects_written_down, remove_survivors, started_projects
from tests.fake_docker import FakeDocker

provider: Any = module


def test_names_are_written_down_as_they_are_given(tmp_path: Path) -> None:
    assert isinstance(module, ModuleType)
    before = provider.task_project_name
    with projects_written_down(tmp_path):
        names = {provider.task_project_name(f"task {number}") for number in range(3)}
    assert started_projects(tmp_path) == names
    assert len(names) == 3
    assert provider.task_project_name is before


def test_inspect_names_its_projects_there_and_nowhere_else() -> None:
    source = inspect.getsource(module.DockerSandboxEnvironment)
    assert source.count("task_project_name(") == source.count("ComposeProject.create(") == 2


def test_a_torn_name_was_never_started(tmp_path: Path) -> None:
    (tmp_path / "compose-projects").write_text("inspect-a-i123456\ninspect-b")
    assert started_projects(tmp_path) == {"inspect-a-i123456"}
    assert started_projects(tmp_path / "elsewhere") == set()


def test_an_engine_that_does_not_answer_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDocker.install(tmp_path / "fake", monkeypatch)
    (fake.home / "down").touch()
    (tmp_path / "compose-projects").write_text("inspect-a-i123456\n")
    remove_survivors(tmp_path / "sources", tmp_path)
    assert "down" not in (fake.home / "calls").read_text().split()
