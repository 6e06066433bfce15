"""promotion.yml: where the pictures of a promoted dataset come from, and what accepted each of them.

It lies beside the dataset.yml that it is about. It states no time of its own and nothing of this machine: the same
evidence, promoted in the same way, yields the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Selection(StrEnum):
    """Which accepted outputs become items: every one, or of each source item the first in the order of the plan."""

    NONE = "none"
    FIRST_PASS = "first_pass"


@dataclass(frozen=True, slots=True)
class PassedCheck:
    """A mechanical check as it passed: its value, and the value from which it passes."""

    name: str
    value: float
    pass_at: float


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The evidence behind an acceptance, each kind that acceptance required.

    `reviews` and `adjudication` are names of review records (`<reviewer>@<time>`); `judgments` maps a judge to the
    numbers of its records. They lie beside the source's result.yml.
    """

    checks: tuple[PassedCheck, ...] = ()
    reviews: tuple[str, ...] = ()
    adjudication: str | None = None
    judgments: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromotedItem:
    """One picture: its item and file in the new dataset, and the output that it is a copy of, byte for byte.

    `asset` is relative to dataset.yml, `artifact` to the project; `size` is in bytes. `recorded` says that it was
    replayed from a recording, and no model was asked. `content` is the SHA-256 of what the item says; early versions
    recorded none.
    """

    id: str
    asset: str
    sha256: str
    size: int
    run_id: str
    item: str
    artifact: str
    recorded: bool
    accepted_by: Verdicts
    content: str = ""


@dataclass(frozen=True, slots=True)
class PromotionCounts:
    """Outputs that were planned, accepted, and left undecided by waived judgement; items that were promoted."""

    planned: int
    accepted: int
    undecided: int
    promoted: int


@dataclass(frozen=True, slots=True)
class PromotionRecord:
    """promotion.yml.

    `closing` is the digest that closing.yml holds, `closed` its time, `evidence` the digest that the views of the eval
    name, `policy` the digest of its judgement. `declared_selection` is what the eval said of selection.
    """

    eval: str
    dataset: str
    closed: str
    closing: str
    evidence: str
    policy: str
    selection: Selection
    declared_selection: str
    recorded: bool
    counts: PromotionCounts
    tamesu_version: str
    items: tuple[PromotedItem, ...]
    schema_version: int = 1
