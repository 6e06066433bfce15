"""The load of a serving engine over a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """The load of an engine over a run: the most and the mean of each count, by so many samples."""

    samples: int
    errors: int
    max_running: int
    mean_running: float
    max_waiting: int
    mean_waiting: float
