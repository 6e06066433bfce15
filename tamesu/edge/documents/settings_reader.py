"""Reading the project's settings: the pinned Inspect version and the prices."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tamesu.base.model.plan import Price
from tamesu.core.matrix import Setting
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind

FREE = Price(0.0, 0.0, free=True)


def installed_inspect() -> str:
    """Return the version of the installed Inspect without importing it."""
    return version("inspect_ai")


def read_setting(reading: Reading, config: Path, models: Path) -> Setting:
    """Return the pinned Inspect version (the installed one without a pin) and the prices."""
    pinned = installed_inspect()
    if config.exists():
        document = reading.document(config, DocumentKind.CONFIG)
        if document is not None and isinstance(document.value, dict):
            pinned = str(document.value.get("inspect_version", pinned))
    return Setting(pinned, _prices(reading, models))


def _prices(reading: Reading, path: Path) -> Mapping[tuple[str, str], Price]:
    if not path.exists():
        return {}
    document = reading.document(path, DocumentKind.MODELS)
    if document is None or not isinstance(document.value, dict):
        return {}
    prices: dict[tuple[str, str], Price] = {}
    value: dict[str, Any] = document.value
    entries: list[dict[str, Any]] = value["models"]
    for number, entry in enumerate(entries):
        key = (entry["provider"], entry["model"])
        if key in prices:
            reading.note(
                document, ("models", number), "price/repeated", f"{key[0]}/{key[1]} has two prices",
                "keep one entry per model",
            )  # fmt: skip
        price = _price(entry)
        if price is not None:
            prices[key] = price
    return prices


def _price(entry: dict[str, Any]) -> Price | None:
    if entry.get("free", False):
        return FREE
    stated = entry.get("usd_per_million")
    if stated is None:
        return None
    return Price(
        input=float(stated["input"]),
        output=float(stated["output"]),
        cache_read=float(stated.get("cache_read", stated["input"])),
        cache_write=float(stated.get("cache_write", stated["input"])),
    )
