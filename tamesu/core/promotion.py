"""Promotion: which accepted outputs become items of a new dataset, under which IDs, and the documents that say so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import NothingAccepted, Refused, UsageError, shown
from tamesu.base.model.evidence import Artifact
from tamesu.base.model.judgement import Closing, ClosingRecord
from tamesu.base.model.manifest import Eval, Item, Policy
from tamesu.base.model.promotion import (
    PassedCheck,
    PromotedItem,
    PromotionCounts,
    PromotionRecord,
    Selection,
    Verdicts,
)
from tamesu.core.closing import last_closing
from tamesu.core.naming import LONGEST_ID
from tamesu.core.promotion_check import content_digest
from tamesu.core.report.figures import count
from tamesu.core.rows import ItemRow
from tamesu.core.tasks import IMAGES

DATASET, ITEMS, PROMOTION = "dataset.yml", "items.jsonl", "promotion.yml"
RECORDED = "replayed recordings, not what a live model returned"
_MARK = 12  # hex digits that tell the outputs of one item apart
_VERSION = re.compile(r"(?P<base>.+)-v(?P<number>[0-9]{1,9})", re.ASCII)
_SUFFIX = re.compile(r"[A-Za-z0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AcceptedOutput:
    """An accepted output: its row, the picture, where that lies in the project, whether it was replayed."""

    row: ItemRow
    picture: Artifact
    place: str
    recorded: bool


@dataclass(frozen=True, slots=True)
class PromotionSource:
    """The eval that is promoted from: its closing that stands, and the digests of evidence and policy."""

    evaluation: Eval
    closing: Closing
    evidence: str
    policy: str
    tamesu_version: str


@dataclass(frozen=True, slots=True)
class PromotedDataset:
    """What a promotion consists of, apart from its name and the pictures: the provenance, and the items by line."""

    record: PromotionRecord
    items: bytes

    def manifest(self, name: str) -> bytes:
        """Return dataset.yml. JSON strings are YAML, and no reader takes one for anything else."""
        lines = {"name": name, "description": description(self.record), "items_from": ITEMS}
        return "".join(f"{key}: {json.dumps(text, ensure_ascii=False)}\n" for key, text in lines.items()).encode()


# --- what may be promoted


def check_task(evaluation: Eval) -> None:
    """Raise UsageError for an eval whose outputs are no pictures."""
    if evaluation.task != IMAGES:
        raise UsageError(f"{evaluation.file}: its task is {evaluation.task}; only pictures of {IMAGES} are promoted")


def standing_closing(evaluation: Eval, record: ClosingRecord | None, evidence: str) -> Closing:
    """Return the closing that stands: the last one, about the evidence and policy of now, of an eval still complete.

    Raises Refused with what to do where there is none.
    """
    last, ref = last_closing(record), evaluation.ref
    if last is None:
        raise Refused(f"{ref}: was never closed; `tamesu close {ref}` first")
    if last.evidence != evidence:
        raise Refused(
            f"{ref}: evidence or policy changed after it was closed on {last.time}; "
            f"put them back, or `tamesu close {ref}` again"
        )
    if evaluation.status != "complete":
        raise Refused(f"{ref}: closed on {last.time} and opened again since; `tamesu close {ref}` first")
    return last


def chosen_selection(evaluation: Eval, wanted: Selection | None) -> Selection:
    """Return what was asked for, else what the eval declares. Raises UsageError for a word that is not known here."""
    if wanted is not None:
        return wanted
    declared = evaluation.policy.acceptance.selection
    known = [one.value for one in Selection]
    if declared not in known:
        ways = " or ".join(f"--selection {one}" for one in known)
        raise UsageError(f"{evaluation.file}: promote knows no acceptance.selection '{shown(declared)}'; say {ways}")
    return Selection(declared)


def accepted_rows(rows: Sequence[ItemRow], selection: Selection) -> tuple[ItemRow, ...]:
    """Return the rows that become items, in the order of the plan: models, their arms, repetitions, items.

    Raises NothingAccepted.
    """
    found = [row for row in rows if row.accepted is True]
    if not found:
        undecided = sum(row.accepted is None for row in rows)
        rest = f"{undecided} of them undecided; " if undecided else ""
        where = f"{rows[0].case}/{rows[0].experiment}/{rows[0].eval}: " if rows else ""
        raise NothingAccepted(
            f"{where}none of {count(len(rows), 'output')} was accepted; {rest}evaluation-report.md says why"
        )
    if selection is Selection.NONE:
        return tuple(found)
    first: dict[str, ItemRow] = {}
    for row in found:
        first.setdefault(row.item, row)
    return tuple(first.values())


# --- names


def next_version(source: str, existing: Iterable[str]) -> str:
    """Return `<name>-v<N>` for what comes after a dataset: one above the highest version there is of that name.

    A dataset without a version is its own version 1.
    """
    base = _base(source)
    taken = [number for name in (source, *existing) if (number := _version(name, base)) is not None]
    return f"{base}-v{max(taken, default=1) + 1}"


def item_id(row: ItemRow, selection: Selection) -> str:
    """Return the ID of an output in the new dataset.

    With one picture per source item it is that item's. Else a digest of run and item follows it, so that it depends on
    no other output, and names no model: prompts and judges of a later eval see the ID.
    """
    if selection is Selection.FIRST_PASS:
        return row.item
    mark = digest({"run": row.run_id, "item": row.item})[:_MARK]
    return f"{row.item[: LONGEST_ID - _MARK - 1].rstrip('-')}-{mark}"


def _base(name: str) -> str:
    found = _VERSION.fullmatch(name)
    return name if found is None else found["base"]


def _version(name: str, base: str) -> int | None:
    """Return the version of a dataset of that base; names count as a file system that ignores case compares them."""
    found = _VERSION.fullmatch(name.casefold())
    return int(found["number"]) if found is not None and found["base"] == base.casefold() else None


# --- the documents


def promoted_dataset(
    source: PromotionSource, rows: Sequence[ItemRow], outputs: Sequence[AcceptedOutput], selection: Selection
) -> PromotedDataset:
    """Return the documents of a promotion; `rows` are all of the eval, `outputs` those that become items."""
    evaluation = source.evaluation
    items = {item.id: item for item in evaluation.dataset.items}
    promoted = tuple(_promoted(one, selection, evaluation.policy, items[one.row.item]) for one in outputs)
    record = PromotionRecord(
        eval=str(evaluation.ref),
        dataset=evaluation.dataset.file,
        closed=source.closing.time,
        closing=source.closing.evidence,
        evidence=source.evidence,
        policy=source.policy,
        selection=selection,
        declared_selection=evaluation.policy.acceptance.selection,
        recorded=any(one.recorded for one in promoted),
        counts=PromotionCounts(
            planned=len(rows),
            accepted=sum(row.accepted is True for row in rows),
            undecided=sum(row.accepted is None for row in rows),
            promoted=len(promoted),
        ),
        tamesu_version=source.tamesu_version,
        items=promoted,
    )
    return PromotedDataset(record, "".join(_line(one, items[one.item]) for one in promoted).encode())


def same_promotion(one: PromotionRecord, other: PromotionRecord) -> bool:
    """Return whether two promotions took the same pictures of the same closing, whoever made them and when.

    The digest of the views counts as little as the version of Tamesu: it also covers runs that serve no slot.
    """
    return _lasting(one) == _lasting(other)


def _lasting(record: PromotionRecord) -> PromotionRecord:
    items = tuple(replace(item, content="") for item in record.items)  # the dataset is held against it, not this
    return replace(record, evidence="", tamesu_version="", items=items)


def description(record: PromotionRecord) -> str:
    """Return what dataset.yml says of itself, with the recorded pictures among them."""
    number, recorded = len(record.items), sum(one.recorded for one in record.items)
    text = f"{count(number, 'accepted picture')} of {record.eval}, closed on {record.closed}; {PROMOTION} says of each"
    text += " where it comes from and what accepted it."
    if recorded:
        who = "They are" if recorded == number else f"{recorded} of them are"
        text += f" {who} {RECORDED}."
    return text


def _promoted(output: AcceptedOutput, selection: Selection, policy: Policy, source: Item) -> PromotedItem:
    identity, picture = item_id(output.row, selection), output.picture
    return PromotedItem(
        id=identity,
        asset=f"assets/{identity}{_suffix(picture.path)}",
        sha256=picture.sha256,
        size=picture.size,
        run_id=output.row.run_id,
        item=output.row.item,
        artifact=output.place,
        recorded=output.recorded,
        accepted_by=_verdicts(output.row, policy),
        content=content_digest(source, identity),
    )


def _suffix(path: str) -> str:
    """Return the suffix of a file's name with its dot; nothing where it is none that every file system carries."""
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    return f".{suffix.lower()}" if "." in path and _SUFFIX.fullmatch(suffix) else ""


def _verdicts(row: ItemRow, policy: Policy) -> Verdicts:
    required = policy.acceptance.requires
    human = row.human if "human" in required else None
    return Verdicts(
        checks=tuple(_checks(row, policy)) if "mechanical" in required else (),
        reviews=() if human is None else tuple(one.name for one in human.counted),
        adjudication=None if human is None or human.adjudication is None else human.adjudication.name,
        judgments={
            one.judge: tuple(record.number for record in one.counted) for one in row.judges if one.judge in required
        },
    )


def _checks(row: ItemRow, policy: Policy) -> Iterator[PassedCheck]:
    for check in policy.mechanical:
        score = row.score(check.scorer)
        if score is not None and score.value is not None:
            yield PassedCheck(check.scorer, score.value, check.pass_at)


def _line(promoted: PromotedItem, item: Item) -> str:
    """Return an item as a line of JSONL: the source item as it is, and the picture in the place of its assets."""
    fields: dict[str, Json] = {"id": promoted.id, "input": item.input}
    if item.expected is not None:
        fields["expected"] = item.expected
    if item.metadata:
        fields["metadata"] = _plain(item.metadata)
    fields["assets"] = [promoted.asset]
    return json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(values: Mapping[str, Json]) -> Json:
    return dict(values)
