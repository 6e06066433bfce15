"""What `tamesu run` shows while jobs are at work: a live table, plain lines, or one JSON object per line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Protocol

import click
import msgspec

from tamesu.base.model.progress import ProgressEvent
from tamesu.cli.session import say
from tamesu.core.progress import Key, Progress, Told, advanced, lines_due
from tamesu.core.report.text import visible

RUN_EVENTS_VERSION = 1


class Display(Protocol):
    """Shows progress of one invocation after another; `captures` says that it alone writes on stdout."""

    captures: bool

    def say(self, line: str) -> None:
        """Tell one line that is no progress."""

    def begin(self, runs: int) -> None:
        """Begin with an invocation that works off so many runs."""

    def update(self, events: Sequence[ProgressEvent]) -> None:
        """Take in what happened since the last time; called several times per second, also when nothing did."""

    def end(self) -> None:
        """Leave the last state behind."""


class PlainLines:
    """For pipes and files: jobs print begin and end of an attempt themselves, here is what lies between."""

    captures = False

    def say(self, line: str) -> None:
        say(line)

    def begin(self, runs: int) -> None:  # noqa: ARG002
        self._progress = Progress()
        self._told: Mapping[Key, Told] = {}

    def update(self, events: Sequence[ProgressEvent]) -> None:
        self._progress = advanced(self._progress, events)
        lines, self._told = lines_due(self._progress, self._told, time.monotonic())
        for line in lines:
            say(line)

    def end(self) -> None:
        """Nothing is left to do."""


class JsonLines:
    """For programs: events as they are, schemas/output/run.schema.json; everything else goes to stderr."""

    captures = True

    def say(self, line: str) -> None:
        with suppress(BrokenPipeError):
            click.echo(visible(line), err=True)

    def begin(self, runs: int) -> None:
        """Nothing is told before the first event."""

    def update(self, events: Sequence[ProgressEvent]) -> None:
        for event in events:
            say_json(asdict(event))

    def end(self) -> None:
        """The outcome is told by the command."""


def say_json(event: Mapping[str, object]) -> None:
    """Print one event as a line."""
    say(msgspec.json.encode({"schema_version": RUN_EVENTS_VERSION, "event": event["event"], **event}).decode())


def chosen_display(as_json: bool) -> Display:
    """Return JSON when asked for, a live table on a terminal that can move its cursor, else lines."""
    if as_json:
        return JsonLines()
    if sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}:
        from tamesu.cli.live import LiveTable

        return LiveTable()
    return PlainLines()
