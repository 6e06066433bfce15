"""Which models are known, at which price, and who says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tamesu.base.errors import NoProject, UsageError
from tamesu.base.model.plan import Price
from tamesu.cli.session import emit_json, project_here, say, warn
from tamesu.core.report.text import visible
from tamesu.edge.store.paths import Project
from tamesu.stages.models import ListedModel, project_models, provider_models

UNKNOWN = "unknown"


@click.command()
@click.option("--provider", help="List every model of this provider that the price library has.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def models(provider: str | None, as_json: bool) -> None:
    """Show the models of the project, or of a provider, with their prices."""
    found = _found(provider)
    if as_json:
        emit_json([_view(model) for model in found])
    elif found:
        _show(found)
    else:
        where = "the project" if provider is None else provider
        say(f"no model of {where} is known; state its price in config/models.yml")


def _found(provider: str | None) -> tuple[ListedModel, ...]:
    project = _project()
    if project is None and provider is None:
        raise UsageError("there is no project here; name a provider, such as `tamesu models --provider openai`")
    own: tuple[ListedModel, ...] = ()
    if project is not None:
        read = project_models(project)
        own = read.models
        for ref in read.unreadable:
            warn(f"{ref}: has errors, so its models are not listed; see `tamesu lint`")
    return own if provider is None else provider_models(provider, own)


def _project() -> Project | None:
    try:
        return project_here()
    except NoProject:
        return None


def _view(model: ListedModel) -> dict[str, object]:
    """A model as plain values; a price that nobody knows is null, never 0."""
    facts = model.facts
    return {
        "provider": model.provider,
        "model": model.model,
        "price": None if facts.price is None else asdict(facts.price),
        "context_window": model.context_window,
        "deprecated": model.deprecated,
        "capabilities": list(facts.capabilities),
        "effort_values": None if facts.effort_values is None else list(facts.effort_values),
        "similar": list(facts.similar),
    }


def _show(found: Sequence[ListedModel]) -> None:
    for provider, members in groupby(found, key=lambda model: model.provider):
        models = list(members)
        say(f"{provider}, {len(models)} model(s)")
        Console().print(_table(models))
    say("US dollars per million tokens; + dearer for large requests, * deprecated (tiers: --json); /h rent per hour")
    for model in found:
        if model.facts.similar:
            near = " or ".join(model.facts.similar)
            say(f"{model.provider}/{model.model}: no price is known; did you mean {near}?")


def _table(models: Sequence[ListedModel]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", overflow="fold")
    for column in ("input", "output", "read", "write", "context"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True)
    for model in models:
        price = model.facts.price
        source = "" if price is None else price.source.rpartition("/")[2].partition(" ")[0]
        name = visible(f"{model.model}*" if model.deprecated else model.model)
        table.add_row(name, *_rates(price), _context(model.context_window), source)
    return table


def _rates(price: Price | None) -> tuple[str, ...]:
    if price is None:
        return (UNKNOWN,) * 4
    if price.free:
        return ("free",) * 4
    if price.usd_per_hour is not None:
        return (f"{_usd(price.usd_per_hour)}/h", "", "", "")
    mark = "+" if price.tiers else ""
    return tuple(_usd(rate) + mark for rate in (price.input, price.output, price.cache_read, price.cache_write))


def _usd(rate: float) -> str:
    return f"{rate:.6f}".rstrip("0").rstrip(".")


def _context(tokens: int | None) -> str:
    if tokens is None:
        return UNKNOWN
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)
