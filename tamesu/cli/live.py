"""The live table of `tamesu run` on a terminal: a row per run at work or done, narrow enough for 80 columns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tamesu.base.model.progress import ProgressEvent
from tamesu.core.progress import AT_WORK, Progress, RunProgress, advanced, cost_text, shown, totals
from tamesu.core.report.text import visible

_MOST_ROWS = 15
_LINES_AROUND = 8  # head, rule, blank lines, the lines below, and the prompt
_FIGURES = ("rep", "done", "failed", "cost USD", "state")
_GAP = 2  # between two columns
_LEAST_ROOM = 12
_STATE_STYLES = {AT_WORK: "bold", "finished": "green", "interrupted": "yellow"}


class LiveTable:
    """Draws in place while jobs are at work; what failed is told above the table as it happens."""

    captures = True

    def __init__(self) -> None:
        self._console = Console()

    def say(self, line: str) -> None:
        self._console.print(visible(line), markup=False, highlight=False, soft_wrap=True)

    def begin(self, runs: int) -> None:
        self._progress, self._runs, self._started = Progress(), runs, time.monotonic()
        self._live = Live(console=self._console, auto_refresh=False, get_renderable=self._drawn)
        self._live.start()
        self._last = self._started

    def update(self, events: Sequence[ProgressEvent]) -> None:
        self._progress = advanced(self._progress, events)
        for event in events:
            if event.event == "attempt_closed" and (event.failed or event.state != "finished"):
                self.say(event.line)
            if event.event == "endpoint_awaited":
                self.say(event.line)
        seconds = time.monotonic()
        if events or seconds - self._last >= 1:
            self._last = seconds
            self._live.refresh()

    def end(self) -> None:
        self._live.stop()

    def _drawn(self) -> RenderableType:
        width, height = self._console.size
        return drawn(self._progress, self._runs, time.monotonic() - self._started, width, height)


def drawn(progress: Progress, runs: int, seconds: float, width: int, height: int) -> RenderableType:
    """Return the picture of a moment for a terminal of that many columns and lines."""
    seen = shown(progress, max(1, min(_MOST_ROWS, height - _LINES_AROUND)))
    parts: list[RenderableType] = [_table(seen.runs, width)] if seen.runs else []
    if seen.more:
        parts.append(Text(f" + {seen.more} more", style="dim"))
    return Group(*parts, _summary(progress, runs, seconds))


def _table(runs: Sequence[RunProgress], width: int) -> Table:
    """Figures are never cut; model and arm share the room that these leave."""
    rows = [tuple(_figures(run)) for run in runs]
    figures = sum(max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(_FIGURES))
    room = max(_LEAST_ROOM, width - figures - _GAP * (len(_FIGURES) + 1) - 2)
    models = max(len("model"), *(len(run.begun.model) for run in runs))
    arms = max(len("arm"), *(len(run.begun.arm) for run in runs))
    model = min(models, max(room // 2, room - arms))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("model", width=model, no_wrap=True, overflow="ellipsis")
    table.add_column("arm", width=min(arms, room - model), no_wrap=True, overflow="ellipsis")
    for name in _FIGURES:
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    for run, row in zip(runs, rows, strict=True):
        table.add_row(Text(run.begun.model), Text(run.begun.arm), *row)
    return table


def _figures(run: RunProgress) -> Iterator[Text]:
    begun = run.begun
    yield Text(str(begun.repetition))
    yield Text(f"{run.done}/{begun.asked}")
    yield Text(str(run.failed), style="bold red" if run.failed else "dim")
    yield Text(cost_text(run), style="" if begun.paid else "dim")
    yield Text(run.state, style=_STATE_STYLES.get(run.state, "bold red"))


def _summary(progress: Progress, runs: int, seconds: float) -> Text:
    """The sums; that answers are recorded is said wherever figures stand."""
    all_runs = totals(progress)
    parts = [f"{all_runs.closed}/{max(runs, len(progress.runs))} runs"]
    if progress.runs:
        parts.append(f"{all_runs.done}/{all_runs.asked} items")
    if all_runs.failed:
        parts.append(f"{all_runs.failed} failed")
    if all_runs.cost_usd is not None:
        parts.append(f"{all_runs.cost_usd:.4f} USD")
    parts.append(_clock(seconds))
    return Text(f" {', '.join(parts)}{' (recorded)' if all_runs.recorded else ''}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
