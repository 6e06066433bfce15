"""Reading the project's settings: the pinned Inspect version and what is known about models."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tamesu.base.model.endpoint import EndpointFacts
from tamesu.base.model.facts import ModelFacts
from tamesu.base.model.plan import Price
from tamesu.core.lint.remark import nearest
from tamesu.core.matrix import ModelKey, Setting, model_key
from tamesu.core.routes import find_route, route_names
from tamesu.edge.documents.document import Document
from tamesu.edge.documents.endpoints_reader import read_endpoints
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.documents.source_files import present

_SOURCE = "config/models.yml"


def installed_inspect() -> str:
    """Return the version of the installed Inspect without importing it."""
    return version("inspect_ai")


def read_setting(reading: Reading, config: Path, models: Path) -> Setting:
    """Return the pinned Inspect version (the installed one without a pin), the models and endpoints of the project."""
    pinned = installed_inspect()
    endpoints: Mapping[str, EndpointFacts] = {}
    if present(config):
        document = reading.document(config, DocumentKind.CONFIG)
        if document is not None and isinstance(document.value, dict):
            pinned = str(document.value.get("inspect_version", pinned))
            endpoints = read_endpoints(reading, document)
    return Setting(pinned, _models(reading, models), endpoints=endpoints)


def _models(reading: Reading, path: Path) -> Mapping[ModelKey, ModelFacts]:
    if not present(path):
        return {}
    document = reading.document(path, DocumentKind.MODELS)
    if document is None or not isinstance(document.value, dict):
        return {}
    models: dict[ModelKey, ModelFacts] = {}
    value: dict[str, Any] = document.value
    entries: list[dict[str, Any]] = value["models"]
    for number, entry in enumerate(entries):
        if find_route(entry["provider"]) is None:
            reading.note(
                document, ("models", number, "provider"), "provider/no-route",
                f"provider '{entry['provider']}' has no Inspect route", nearest(entry["provider"], route_names()),
            )  # fmt: skip
        key = model_key(entry["provider"], entry["model"])
        if key in models:
            reading.note(
                document, ("models", number), "price/repeated", f"{key[0]}/{key[1]} has two prices",
                "keep one entry per model",
            )  # fmt: skip
        _contradictions(reading, document, number, entry)
        models[key] = _facts(entry)
    return models


def _contradictions(reading: Reading, document: Document, number: int, entry: dict[str, Any]) -> None:
    name = f"{entry['provider']}/{entry['model']}"
    ways = [way for way in ("free", "usd_per_million", "usd_per_hour") if entry.get(way, False) is not False]
    if len(ways) > 1:
        reading.note(
            document, ("models", number, ways[1]), "price/contradiction",
            f"{name} is priced in two ways, '{ways[0]}' and '{ways[1]}'", "keep the one that holds",
        )  # fmt: skip
    elif "replicas" in entry and "usd_per_hour" not in entry:
        reading.note(
            document, ("models", number, "replicas"), "price/contradiction",
            f"{name} has replicas but no rent", "add usd_per_hour, the rent of one replica, or remove replicas",
        )  # fmt: skip


def _facts(entry: dict[str, Any]) -> ModelFacts:
    efforts = entry.get("effort_values")
    return ModelFacts(
        price=_price(entry),
        capabilities=tuple(entry.get("capabilities", ())),
        effort_values=None if efforts is None else tuple(efforts),
    )


def _price(entry: dict[str, Any]) -> Price | None:
    if entry.get("free", False):
        return Price(0.0, 0.0, free=True, source=_SOURCE)
    if "usd_per_hour" in entry:
        return Price(0.0, 0.0, usd_per_hour=float(entry["usd_per_hour"]) * entry.get("replicas", 1), source=_SOURCE)
    stated = entry.get("usd_per_million")
    if stated is None:
        return None
    return Price(
        input=float(stated["input"]),
        output=float(stated["output"]),
        cache_read=float(stated.get("cache_read", stated["input"])),
        cache_write=float(stated.get("cache_write", stated["input"])),
        source=_SOURCE,
    )
