"""A command on a real terminal, and what stands on the screen in the end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.projects import ShapesProject

_CODE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


@dataclass(frozen=True)
class Seen:
    """A finished command: exit code, everything it wrote, and the screen in the end."""

    code: int
    written: str
    screen: list[str]


def screen(written: str) -> list[str]:
    """Return the lines of a terminal of any height, trailing spaces left out. Unknown codes are an error."""
    lines, row, column = [""], 0, 0
    for found in _CODE.finditer(written):
        count, code, move, text = found.groups()
        if text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        elif move == "\r":
            column = 0
        elif move == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif code == "A":
            row = max(0, row - int(count or 1))
        elif code == "K":
            assert count == "2", found.group()
            lines[row] = ""
        else:
            assert code in "mhl", found.group()
    return [line.rstrip() for line in lines]


def on_terminal(
    project: ShapesProject,
    *arguments: str,
    columns: int = 80,
    lines: int = 30,
    press: tuple[Callable[[], bool], bytes] | None = None,
    patience: float = 240,
) -> Seen:
    """Run `tamesu` on a terminal of its own; `press` types keys once its condition holds."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    child = subprocess.Popen(
        [sys.executable, "-c", _START, *arguments],
        cwd=project.root,
        env={**kept, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    written, deadline = b"", time.monotonic() + patience
    try:
        while time.monotonic() < deadline:
            if press is not None and press[0]():
                os.write(ours, press[1])
                press = None
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end was closed
                break
            written += piece
            if not piece:
                break
        code = child.wait(timeout=10)
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            child.wait(timeout=30)
        os.close(ours)
    text = written.decode()
    return Seen(code, text, screen(text))


# makes the terminal the controlling one, so that Ctrl-C reaches the foreground as it does for people
_START = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "tamesu", *sys.argv[1:]])
"""
