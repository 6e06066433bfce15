"""What every command shares: the project, one-line errors, exit codes."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from tamesu.base.errors import TamesuError, UsageError
from tamesu.base.model.manifest import EvalRef
from tamesu.core.report.text import visible
from tamesu.edge.store.paths import Project, find_project

_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
_HUNG_UP = 129  # the terminal went away, and with it whoever would read why
_READ_ONLY = (
    "; `status`, `plan`, `leaderboard`, `compare` and `show` only read, the rest needs a copy that can be written"
)
FULL_DISK = "the disk is full; free space and run again, nothing that was finished is lost"
INTERRUPTED = "interrupted; run again to go on, what was finished is kept"


def project_here() -> Project:
    """Return the project of the working directory."""
    return find_project(Path.cwd())


def chosen(project: Project, name: str | None) -> tuple[EvalRef, ...]:
    """Return the named eval, or all of the project. Raises UsageError when there is none."""
    refs = project.refs() if name is None else (project.find_ref(name),)
    for case in project.reported_cases() if not refs else ():
        raise project.reports_alone(case)
    if not refs:
        raise UsageError(
            f"{project.root}: holds no eval yet; begin with `tamesu new eval EXPERIMENT/NAME` (`tamesu new --help`)"
        )
    return refs


def say(line: str) -> None:
    """Print one line at once, none of whose characters a terminal obeys; a reader that went away ends no work."""
    _print(visible(line))


def say_coloured(word: str, colour: str, rest: str) -> None:
    """Print one line that begins with a coloured word, as `say` prints it."""
    _print(click.style(word, fg=colour) + visible(rest))


def _print(line: str) -> None:
    if sys.stdout is None:  # closed by the caller
        return
    with suppress(BrokenPipeError):
        click.echo(line)
        sys.stdout.flush()


def warn(line: str) -> None:
    """Print one line on stderr, as every error is printed."""
    with suppress(BrokenPipeError):
        click.echo(f"tamesu: {visible(line)}", err=True)


def emit_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def fail(line: str, code: int) -> NoReturn:
    """End with one line on stderr."""
    warn(line)
    raise SystemExit(code)


def leave_behind_threads(code: object) -> None:
    """End the process now when a thread would keep it for ever: a worker of an event loop that was cut off.

    Everything that is evidence is on disk by then, and locks end with the process.
    """
    waiting = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    if waiting:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def end_interrupted() -> NoReturn:
    """End as interrupted, with one line."""
    fail(INTERRUPTED, 130)


def guarded(command: Callable[[], Any]) -> None:
    """Run the command line; a user's mistake ends in one line and its exit code, never in a traceback."""
    try:
        command()
    except TamesuError as error:
        fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        end_interrupted()
    except OSError as error:
        if error.errno in _FULL_DISK:
            fail(f"{error.filename or 'here'}: {FULL_DISK}", 2)
        if error.errno == errno.EIO and error.filename is None:
            raise SystemExit(_HUNG_UP) from None
        if error.filename is None:
            raise
        fail(f"{error.filename}: {error.strerror}{_READ_ONLY if error.errno == errno.EROFS else ''}", 2)
