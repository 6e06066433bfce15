"""Fixtures of the tests of packages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.packages.archives import NAME


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """`tamesu` inside this process."""
    return Caller(monkeypatch, capsys)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project with something around it that nobody may touch."""
    (tmp_path / "project" / "cases").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept.txt").write_text("kept\n")
    return tmp_path / "project"


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[bytes], Path]:
    """Write the bytes of an archive beside the project."""

    def write(content: bytes) -> Path:
        path = tmp_path / NAME
        path.write_bytes(content)
        return path

    return write
