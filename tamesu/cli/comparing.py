"""The command `compare`: two evals, or the arms and models of one, on the items that both saw."""

from __future__ import annotations

from dataclasses import dataclass

import click

from tamesu.base.errors import UsageError
from tamesu.cli.figures_json import ComparisonJson, comparison_json
from tamesu.cli.groups import OneOf
from tamesu.cli.session import emit_json, project_here, say
from tamesu.cli.tables import show_table
from tamesu.core.report.across import EvalComparison, SharedItems, compare_evals, compare_within
from tamesu.core.report.comparison import Comparison
from tamesu.core.report.figures import NOT_KNOWN, count, difference_text, p_text
from tamesu.core.report.text import clean
from tamesu.edge.documents.reading import Shelf
from tamesu.stages.compare import read_side
from tamesu.stages.plan import digest_cache


@dataclass(frozen=True, slots=True)
class ComparedJson:
    """What `--json` prints; `items` is null within one eval."""

    first: str
    second: str
    metric: str
    items: SharedItems | None
    warnings: tuple[str, ...]
    comparisons: tuple[ComparisonJson, ...]


@click.command(short_help="Compare two evals, or the arms and models of one.")
@click.argument("first")
@click.argument("second", required=False)
@click.option("--by", "factor", type=OneOf(["arm", "model"]), help="Within one eval: what the pairs differ in.")
@click.option("--metric", help="Metric to compare by; left out, the primary metric of the first eval.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def compare(first: str, second: str | None, factor: str | None, metric: str | None, as_json: bool) -> None:
    """Compare FIRST - SECOND, or the arms and models of FIRST alone.

    Only items of equal content that both have answered for good are compared, repetitions kept together. What else
    differs between two evals (datasets, policies, rubrics, scorers, prompts) is told first. p-values are adjusted
    for the number of comparisons shown.
    """
    if second is not None and factor is not None:
        raise UsageError("--by: belongs to the comparison within one eval; name one eval, or leave --by out")
    project = project_here()
    cache, shelf = digest_cache(project), Shelf()
    one = read_side(project, first, cache, shelf)
    if second is None:
        found = compare_within(one, factor, metric)
    else:
        found = compare_evals(one, read_side(project, second, cache, shelf), metric)
    cache.save()
    if as_json:
        shown = tuple(comparison_json(entry) for entry in found.comparisons)
        emit_json(ComparedJson(found.first, found.second, found.metric, found.items, found.warnings, shown))
        return
    _show(found)


def _show(found: EvalComparison) -> None:
    same = found.items is None
    say(f"{found.first} by {found.metric}" if same else f"{found.first} − {found.second} by {found.metric}")
    for warning in found.warnings:
        say(f"  {clean(warning)}")
    show_comparisons(found.comparisons)
    tested = sum(entry.adjusted_p is not None for entry in found.comparisons)
    if tested:
        adjusted = f", p adjusted for {tested} comparisons (Holm)" if tested > 1 else ""
        say(f"Intervals are 95 %, clustered by item{adjusted}; {_clear(found.comparisons)}.")


def show_comparisons(comparisons: tuple[Comparison, ...]) -> None:
    """Print the table of comparisons, and below it what has to be said of each."""
    columns = ("first − second", "difference", "p", "items", "remark")
    show_table(columns, [_row(entry) for entry in comparisons], frozenset({"first − second", "remark"}))


def _row(entry: Comparison) -> tuple[str, ...]:
    paired = entry.difference
    if paired is None:
        return (clean(entry.label), NOT_KNOWN, "", "", entry.remark)
    p = "" if entry.adjusted_p is None else p_text(entry.adjusted_p)
    remark = "; ".join(part for part in ("clear" if entry.clear else "not clear", entry.remark) if part)
    return (clean(entry.label), difference_text(paired, entry.unit), p, str(paired.items), remark)


def _clear(comparisons: tuple[Comparison, ...]) -> str:
    clear = sum(entry.clear for entry in comparisons)
    return f"{clear} of {count(len(comparisons), 'difference')} {'is' if clear == 1 else 'are'} clear at 5 %"
