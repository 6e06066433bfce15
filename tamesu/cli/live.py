"""The live table of `tamesu run` on a terminal: a row per run at work or done, narrow enough for 80 columns."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tamesu.base.model.progress import ProgressEvent
from tamesu.core.progress import AT_WORK, Progress, RunProgress, advanced, cost_text, shown, totals

_MOST_ROWS = 15
_LINES_AROUND = 8  # head, rule, blank lines, the lines below, and the prompt
_FIGURES_WIDTH = 50  # what all columns but model and arm need, spaces included
_STATE_STYLES = {AT_WORK: "bold", "finished": "green", "interrupted": "yellow"}


class LiveTable:
    """Draws in place while jobs are at work; what failed is told above the table as it happens."""

    captures = True

    def __init__(self) -> None:
        self._console = Console()

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

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
        parts.append(Text(f"+ {seen.more} more", style="dim"))
    return Group(*parts, _summary(progress, runs, seconds))


def _table(runs: Sequence[RunProgress], width: int) -> Table:
    room = max(12, width - _FIGURES_WIDTH)
    arm = min(_longest(run.begun.arm for run in runs), room // 2)
    model = min(_longest(run.begun.model for run in runs), room - arm)
    arm = min(_longest(run.begun.arm for run in runs), room - model)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", width=max(model, 5), no_wrap=True, overflow="ellipsis")
    table.add_column("arm", width=max(arm, 3), no_wrap=True, overflow="ellipsis")
    for name in ("rep", "done", "failed", "cost USD"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True, min_width=len("interrupted"))
    for run in runs:
        table.add_row(*_cells(run))
    return table


def _longest(names: Iterable[str]) -> int:
    return max(map(len, names))


def _cells(run: RunProgress) -> Iterable[Text]:
    begun = run.begun
    yield from (Text(begun.model), Text(begun.arm), Text(str(begun.repetition)))
    yield Text(f"{run.done}/{begun.asked}")
    yield Text(str(run.failed), style="bold red" if run.failed else "dim")
    yield Text(cost_text(run), style="" if begun.paid else "dim")
    yield Text(run.state, style=_STATE_STYLES.get(run.state, "bold red"))


def _summary(progress: Progress, runs: int, seconds: float) -> Text:
    """The sums; that answers are recorded is said wherever figures stand."""
    all_runs = totals(progress)
    parts = [f"{all_runs.closed} of {max(runs, len(progress.runs))} runs ended"]
    if progress.runs:
        parts.append(f"{all_runs.done}/{all_runs.asked} items")
    if all_runs.failed:
        parts.append(f"{all_runs.failed} failed")
    if all_runs.cost_usd is not None:
        parts.append(f"{all_runs.cost_usd:.4f} USD")
    parts.append(_clock(seconds))
    if all_runs.recorded:
        parts.append("recorded answers")
    return Text(", ".join(parts))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
