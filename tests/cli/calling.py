"""Calling the command line inside the test's process: the same entry as `python -m tamesu`, without its start."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tamesu.cli.main import cli
from tamesu.cli.session import guarded
from tests.projects import Done, ShapesProject


class Caller:
    """Runs `tamesu` in a folder; whatever is no tidy end (a traceback for the user) passes through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, place: ShapesProject | Path, *arguments: str, columns: int = 160) -> Done:
        folder = place.root if isinstance(place, ShapesProject) else place
        with self._monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["tamesu", *arguments])
            patch.setenv("COLUMNS", str(columns))
            self._capsys.readouterr()
            try:
                guarded(cli)
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            printed = self._capsys.readouterr()
        return Done(code, printed.out, printed.err)


def one_line(done: Done, code: int) -> str:
    """Return the single line on stderr of a command that ended as told, without a traceback anywhere."""
    assert "Traceback" not in done.out + done.err
    assert done.code == code, done.out + done.err
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    assert lines[0].startswith("tamesu: ")
    return lines[0].removeprefix("tamesu: ")


def evidence(project: ShapesProject) -> dict[str, str]:
    """Return the digest of every evidence file, by its path in the project."""
    names = ("ledger.jsonl", "logs/*", "runs/*/run.yml", "runs/*/attempts/*")
    names += ("runs/*/items/**/*", "runs/*/inspect/**/*")
    files = {path for name in names for path in _files(project.eval, name)}
    return {str(path.relative_to(project.root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    return (path for path in folder.glob(pattern) if path.is_file())


Call = Callable[..., Done]
