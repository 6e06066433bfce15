"""Freezing: the selected items of a dataset, rendered for one arm, as the bytes that an execution reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from tamesu.base.canonical import Json, canonical_bytes, digest, digest_bytes
from tamesu.base.errors import InvalidDocument, meant
from tamesu.base.model.manifest import Arm, Dataset, FileDigest, Item, ItemSelection
from tamesu.base.model.plan import FrozenDataset, Sample
from tamesu.core.prompts import render_messages


class Targets(Enum):
    """How a frozen dataset states what is expected: as text alone, as scorers read it, or as the JSON value too."""

    TEXT = "text"
    JSON = "json"


class Assets(Enum):
    """What becomes of assets and references: counted, as a task hands them over itself, or sent with each prompt."""

    COUNTED = "counted"
    SENT = "sent"


def select_items(dataset: Dataset, selection: ItemSelection) -> tuple[Item, ...]:
    """Return the selected items in dataset order.

    A random selection takes the items whose SHA-256 of seed and id is smallest, so it depends on no
    generator's version and changes little when the dataset grows.
    Raises InvalidDocument for ids or counts that the dataset cannot serve.
    """
    items = dataset.items
    if selection.kind == "all":
        return items
    if selection.kind == "ids":
        known, wanted = {item.id for item in items}, set(selection.ids)
        missing = [name for name in selection.ids if name not in known]
        if missing:
            hint = meant("item", missing[0], known)
            raise InvalidDocument(f"{dataset.file}: holds no item '{missing[0]}' that `items.ids` selects; {hint}")
        return tuple(item for item in items if item.id in wanted)
    if selection.count > len(items):
        raise InvalidDocument(
            f"{dataset.file}: holds {len(items)} items but `items` selects {selection.count}; lower the number"
        )
    if selection.kind == "first":
        return items[: selection.count]
    ranked = sorted(items, key=lambda item: digest_bytes(f"{selection.seed}:{item.id}".encode()))
    chosen = {item.id for item in ranked[: selection.count]}
    return tuple(item for item in items if item.id in chosen)


def freeze(
    items: Iterable[Item], arm: Arm, targets: Targets = Targets.TEXT, assets: Assets = Assets.COUNTED
) -> FrozenDataset:
    """Return the items rendered for one arm, each with the digest that identity counts."""
    samples = tuple(_sample(item, arm, targets, assets) for item in items)
    return FrozenDataset(samples, digest([[sample.item, sample.digest] for sample in samples]))


def sent_pictures(item: Item, arm: Arm) -> tuple[FileDigest, ...]:
    """Return the files that go with an item's prompt: the arm's references, then the assets of the item."""
    return (*(reference.file for reference in arm.references), *item.assets)


def shown_pictures(dataset: Dataset, arm: Arm, sample: Sample) -> tuple[FileDigest, ...]:
    """Return the files that go with a frozen sample's prompt, none where a task hands assets over itself."""
    if not sample.pictures:
        return ()
    item = next(one for one in dataset.items if one.id == sample.item)
    return sent_pictures(item, arm)


def _sample(item: Item, arm: Arm, targets: Targets, sent: Assets) -> Sample:
    assets = tuple(asset.sha256 for asset in item.assets)
    sample = Sample(
        item=item.id,
        messages=render_messages(arm, item),
        target=_target(item.expected),
        metadata=dict(item.metadata or {}),
        assets=assets,
        digest="",
        expected=item.expected if targets is Targets.JSON else None,
        pictures=tuple(file.sha256 for file in sent_pictures(item, arm)) if sent is Assets.SENT else (),
    )
    return replace(sample, digest=sample_digest(sample_record(sample), assets))


def sample_digest(record: dict[str, Json], assets: Sequence[str]) -> str:
    """Return the digest of one sample: its record in input.jsonl and the digests of its assets."""
    return digest({"record": record, "assets": list[Json](assets)})


def _target(expected: Json) -> Json:
    """Inspect takes text or a list of texts; anything richer travels as canonical JSON text."""
    if expected is None:
        return ""
    if isinstance(expected, str) or (isinstance(expected, list) and all(isinstance(part, str) for part in expected)):
        return expected
    return canonical_bytes(expected).decode()


def sample_record(sample: Sample) -> dict[str, Json]:
    """Return the record of input.jsonl: item ID, rendered messages, target, metadata, what is expected as JSON.

    `pictures` are the SHA-256 of those that go with the user's message.
    """
    record: dict[str, Json] = {
        "id": sample.item,
        "input": [{"role": message.role, "content": message.content} for message in sample.messages],
        "target": sample.target,
        "metadata": dict(sample.metadata),
    }
    if sample.pictures:
        record["pictures"] = list[Json](sample.pictures)
    return record if sample.expected is None else {**record, "expected": sample.expected}


def sample_line(sample: Sample) -> bytes:
    """Return one line of input.jsonl, LF included."""
    return canonical_bytes(sample_record(sample)) + b"\n"


def dataset_bytes(dataset: FrozenDataset) -> bytes:
    """Return the whole frozen dataset as it is written to input.jsonl."""
    return b"".join(sample_line(sample) for sample in dataset.samples)
