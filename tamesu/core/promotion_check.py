"""A promoted dataset held against its promotion.yml: which items and pictures are not what was promoted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import shown
from tamesu.base.model.manifest import Dataset, Item
from tamesu.base.model.promotion import PromotedItem, PromotionRecord


@dataclass(frozen=True, slots=True)
class Alteration:
    """What differs from promotion.yml: the file, relative to dataset.yml, and a line about it."""

    file: str
    line: str

    def __str__(self) -> str:
        return f"{self.file}: {self.line}"


def content_digest(item: Item, identity: str) -> str:
    """Return the SHA-256 of what an item says, under an ID; its assets have digests of their own."""
    said: dict[str, Json] = {"id": identity, "input": item.input, "expected": item.expected}
    return digest({**said, "metadata": dict(item.metadata or {})})


def alterations(record: PromotionRecord, dataset: Dataset, items_file: str) -> Iterator[Alteration]:
    """Yield what differs between a dataset and the promotion that made it, in the order of promotion.yml.

    `items_file` is where items stand. Of a promotion.yml of a version that recorded no content, only which items there
    are and their pictures is compared.
    """
    here = {item.id: item for item in dataset.items}
    for promoted in record.items:
        found = here.pop(promoted.id, None)
        if found is None:
            yield Alteration(items_file, f"item '{promoted.id}' is gone")
            continue
        if promoted.content and content_digest(found, promoted.id) != promoted.content:
            yield Alteration(items_file, f"item '{promoted.id}' is not what was promoted")
        yield from _picture(promoted, found, dataset.file, items_file)
    for name in here:
        yield Alteration(items_file, f"item '{shown(name)}' was not promoted")


def _picture(promoted: PromotedItem, item: Item, manifest: str, items_file: str) -> Iterator[Alteration]:
    folder = manifest.rpartition("/")[0]
    place = f"{folder}/{promoted.asset}"
    if [asset.path for asset in item.assets] != [place]:
        yield Alteration(items_file, f"item '{promoted.id}' has other assets than {promoted.asset}, or it is missing")
    for asset in item.assets:
        if asset.path == place and asset.sha256 != promoted.sha256:
            yield Alteration(promoted.asset, f"is not the picture that was promoted as item '{promoted.id}'")
