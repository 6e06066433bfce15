"""The metrics of an evaluation, by name; a task adds a file whose tuple is listed in `catalogue`."""

from tamesu.core.metrics.catalogue import (
    METRICS,
    cell_metrics,
    find_metric,
    known_metric_names,
    measure,
    metric_sample,
)
from tamesu.core.metrics.cells import Cell, CellMetrics, cells_of, rows_of
from tamesu.core.metrics.definition import Metric, MetricValue, Sample, Unit

__all__ = [
    "METRICS",
    "Cell",
    "CellMetrics",
    "Metric",
    "MetricValue",
    "Sample",
    "Unit",
    "cell_metrics",
    "cells_of",
    "find_metric",
    "known_metric_names",
    "measure",
    "metric_sample",
    "rows_of",
]
