"""Reading dataset.yml, with its items inline or in a JSONL or CSV file, and their assets."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Dataset, FileDigest, Item
from tamesu.core.artifacts import RESERVED_STEM
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.jsonl import Record, read_csv_records, read_records
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.schemas import DocumentKind, validate


def read_dataset(reading: Reading, path: Path) -> Dataset | None:
    """Return a dataset; None, with findings, when it does not hold what it must."""
    document = reading.document(path, DocumentKind.DATASET)
    if document is None or not isinstance(document.value, dict):
        return None
    value: dict[str, Any] = document.value
    shared = _assets(reading, document, ("shared_assets",), value.get("shared_assets", []), path.parent)
    if "items_from" in value:
        placed = _items_from(reading, document, str(value["items_from"]))
    else:
        placed = [_Placed(document, ("items", n), item) for n, item in enumerate(value["items"])]
    items = tuple(_item(reading, path.parent, place, shared) for place in placed)
    _check_ids(reading, placed)
    return Dataset(path.parent.name, reading.relative(path), items)


@dataclass(frozen=True, slots=True)
class _Placed:
    """An item as written, and where it stands."""

    document: Document
    path: NodePath
    value: dict[str, Any]


def _items_from(reading: Reading, document: Document, written: str) -> list[_Placed]:
    target = reading.file(document, ("items_from",), written)
    if target is None:
        return []
    label = reading.relative(target)
    read = read_csv_records if target.suffix == ".csv" else read_records
    try:
        records: tuple[Record, ...] = read(label, reading.content(target))
    except DocumentFault as error:
        reading.findings.append(error.finding)
        return []
    if not records:
        reading.findings.append(Finding(label, 1, 1, "error", "dataset/empty", "holds no item", "write one"))
    placed = []
    for record in records:
        line = record.document(label)
        findings = validate(line, DocumentKind.ITEM)
        reading.findings.extend(findings)
        if not findings and isinstance(line.value, dict):
            placed.append(_Placed(line, (), line.value))
    return placed


def _item(reading: Reading, folder: Path, place: _Placed, shared: tuple[FileDigest, ...]) -> Item:
    """Return an item; assets of one in a JSONL file are relative to dataset.yml, like all paths of the dataset."""
    value = place.value
    at = (*place.path, "assets")
    return Item(
        id=value["id"],
        input=_sorted(value["input"]),
        expected=value.get("expected"),
        metadata={name: _sorted(part) for name, part in sorted(value.get("metadata", {}).items())},
        assets=(*shared, *_assets(reading, place.document, at, value.get("assets", []), folder)),
    )


def _sorted(value: Json) -> Json:
    """Return a value whose mappings are in the order of their keys: a template may print a mapping or walk it."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(part) for part in value] if isinstance(value, list) else value


def _assets(
    reading: Reading, document: Document, at: NodePath, written: list[Any], folder: Path
) -> tuple[FileDigest, ...]:
    found = []
    for number, name in enumerate(written):
        target = reading.file(document, (*at, number), name, folder)
        digest = None if target is None else reading.digest(target)
        if digest is not None:
            found.append(digest)
    return tuple(found)


def _check_ids(reading: Reading, placed: list[_Placed]) -> None:
    """IDs are file names: refuse those that differ only by case, Unicode form or leading zeros."""
    seen: dict[str, str] = {}
    for place in placed:
        name = place.value["id"]
        key = "-".join(part.lstrip("0") or "0" for part in _folded(name).split("-"))
        other = seen.get(key)
        if other is None:
            seen[key] = name
        elif _folded(other) == _folded(name):
            what = f"item '{name}' appears twice" if other == name else f"item '{name}' cannot be told from '{other}'"
            reading.note(
                place.document, (*place.path, "id"), "id/repeated", what, "give every item an ID of its own"
            )  # fmt: skip
        else:
            reading.note(
                place.document, (*place.path, "id"), "id/leading-zeros",
                f"items '{other}' and '{name}' differ only by leading zeros, which tables and number formats drop",
                "give every item an ID that differs in more than zeros",
            )  # fmt: skip
        if RESERVED_STEM.fullmatch(name):
            reading.note(
                place.document, (*place.path, "id"), "id/reserved", f"'{name}' is a device's name on some systems",
                "choose another ID",
            )  # fmt: skip


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
