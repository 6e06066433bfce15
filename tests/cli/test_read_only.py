"""A project on a read-only file system: what only reads works, what writes says so in one line."""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Caller, evidence, one_line
from tests.cli.test_bad_input import AWAITING, NAME
from tests.projects import EVAL, ShapesProject

WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def refuse(path: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))


@pytest.fixture
def read_only(banked_shapes: ShapesProject, monkeypatch: pytest.MonkeyPatch) -> ShapesProject:
    """A banked project below which no file is opened for writing and no folder is made, as a read-only mount has it."""
    root = str(banked_shapes.root)

    def below(path: object) -> bool:
        return not isinstance(path, int) and str(Path(str(path)).absolute()).startswith(root)

    def opened(real: Callable[..., Any]) -> Callable[..., Any]:
        def run(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            if below(file) and set(mode) & set("wax+"):
                refuse(file)
            return real(file, mode, *rest, **named)

        return run

    def os_open(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if below(path) and flags & WRITING_FLAGS:
            refuse(path)
        return real_open(path, flags, *rest, **named)

    def mkdir(path: Any, *rest: Any, **named: Any) -> None:
        if below(path) and not Path(path).exists():
            refuse(path)
        real_mkdir(path, *rest, **named)

    real_open, real_mkdir = os.open, os.mkdir
    monkeypatch.setattr(os, "open", os_open)
    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(io, "open", opened(io.open))
    monkeypatch.setattr(builtins, "open", opened(builtins.open))
    return banked_shapes


READING = ("list", "lint", "status", "plan", "leaderboard", "compare replayed", "review status", "run --dry-run")


@pytest.mark.parametrize("state", ["run here", "cloned"])
@pytest.mark.parametrize("command", READING)
def test_what_only_reads_works(command: str, state: str, read_only: ShapesProject, call: Caller) -> None:
    if state == "cloned":  # nothing of this machine is here, nor may it be made
        shutil.rmtree(read_only.root / ".tamesu")
    before = evidence(read_only)
    done = call(read_only, *command.split())
    assert (done.code, done.err) == (0, ""), command
    assert done.out
    if command == "status":
        assert done.out == AWAITING
    assert evidence(read_only) == before


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("report replayed", f"{EVAL.as_posix()}/leaderboard.md"),
        ("present shape-drawing", "build/shape-drawing/index.html"),
        ("rescore", ".tamesu/locks/"),
        ("run", ".tamesu/want/"),
        (f"review export {NAME} --reviewer ada", ".tamesu/locks/"),
    ],
)
def test_what_writes_says_so_in_one_line(command: str, place: str, read_only: ShapesProject, call: Caller) -> None:
    before = evidence(read_only)
    line = one_line(call(read_only, *command.split()), 2)
    assert line.startswith(f"{read_only.root}/{place}")
    assert ": Read-only file system; `status`, `plan`, `leaderboard`, `compare` and `show` only read" in line
    assert evidence(read_only) == before
