"""What tests compare: the facts of items, calls and money, without times and process ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.projects import ShapesProject

Facts = Mapping[str, Any]
_FACTS = (
    "item", "sample", "state", "retryable", "answer", "stop_reason", "limit", "error", "scores",
    "outcome", "output", "artifacts", "missing_artifacts", "rejected_artifacts", "usage", "cost_usd",
)  # fmt: skip


def load(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content


def item_facts(eval_folder: Path) -> dict[tuple[str, str], Facts]:
    """Return what is known of every item of every run, less the history of how it came about."""
    found = {}
    for path in sorted(eval_folder.glob("runs/*/items/*/result.yml")):
        result = load(path)
        found[path.parents[2].name, path.parent.name] = {name: result[name] for name in _FACTS}
    return found


def attempts(eval_folder: Path) -> list[dict[str, Any]]:
    """Return all attempt records of an eval, each with its run."""
    paths = sorted(eval_folder.glob("runs/*/attempts/*.yml"))
    return [{"run_id": path.parents[1].name, **load(path)} for path in paths]


def calls_by_item(project: ShapesProject) -> Counter[tuple[object, ...]]:
    return Counter((call["model"], call["arm"], call["rep"], call["item"]) for call in project.calls())


def reserved(ledger: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, int]]:
    """Return how often each attempt was reserved."""
    return Counter((entry["run_id"], entry["attempt"]) for entry in ledger if entry["event"] == "reserved")


def settled(ledger: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, int]]:
    """Return how often each attempt was settled."""
    return Counter((entry["run_id"], entry["attempt"]) for entry in ledger if entry["event"] == "settled")


def highest_commitment(ledger: Sequence[Mapping[str, Any]]) -> float:
    """Return the most that was spent, lost and reserved at any one time."""
    highest = spent = 0.0
    open_usd: dict[tuple[str, int], float] = {}
    for entry in ledger:
        key = (entry["run_id"], entry["attempt"])
        if entry["event"] == "reserved":
            open_usd[key] = entry["usd"]
        else:
            open_usd.pop(key, None)
            spent += entry["spent_usd"] + entry["lost_usd"]
        highest = max(highest, spent + sum(open_usd.values()))
    return round(highest, 9)


def total(ledger: Iterable[Mapping[str, Any]], field: str) -> float:
    return round(sum(float(entry[field]) for entry in ledger if entry["event"] == "settled"), 9)


def assert_books_balance(project: ShapesProject) -> None:
    """Every attempt was reserved once and settled once, with what its record says."""
    ledger = project.ledger()
    records = attempts(project.eval)
    once = {(record["run_id"], record["attempt"]): 1 for record in records}
    begun = {key: count for key, count in reserved(ledger).items() if key in once}
    assert once == begun
    money = {
        (entry["run_id"], entry["attempt"]): (entry["spent_usd"], entry["lost_usd"])
        for entry in ledger
        if entry["event"] == "settled"
    }
    assert settled(ledger) == reserved(ledger), "a reservation stays open, or was settled twice"
    assert {key: money[key] for key in once} == {
        (record["run_id"], record["attempt"]): (record["spent_usd"], record["lost_usd"]) for record in records
    }
