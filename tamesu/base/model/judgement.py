"""What people and judging models said of an item: immutable records, kept beside the item's result.

A verdict is computed from the answers to the rubric's dimensions, never asked for. `seen` maps each reviewed role to
the SHA-256 of the artifact as it was seen; `rubric` is the digest of the rubric. When either is another one now, the
record is stale: kept, not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Fault, Usage
from tamesu.base.model.plan import Price

NO_REASON = "none"  # the reserved code of a pass


@dataclass(frozen=True, slots=True)
class Answer:
    """One dimension of a rubric as answered; `reason` is `none` for a pass, else a code of the dimension."""

    passed: bool
    reason: str = NO_REASON
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """reviews/<reviewer>--<timestamp>.yml: what one person answered about one item, and when it was imported.

    `settles` names the reviews that an adjudication decides between; it is empty for a review. `checksum` is the
    SHA-256 of everything else, made at import.
    """

    reviewer: str
    time: str
    pack: str
    run_id: str
    item: str
    seen: Mapping[str, str]
    rubric: str
    answers: Mapping[str, Answer]
    note: str | None = None
    settles: tuple[str, ...] = ()
    schema_version: int = 1
    checksum: str = ""

    @property
    def name(self) -> str:
        """What other records call it, unique among the reviews of an item."""
        return f"{self.reviewer}@{self.time}"

    @property
    def passed(self) -> bool:
        return all(answer.passed for answer in self.answers.values())


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One call to a judging model: which, how, with what, and what it took.

    `judge_digest` covers model, prompts and parameters; `prompt` is the digest of the messages that left. Costs are in
    US dollars, None when unknown; `price` is the snapshot of that time. `recorded` marks replayed answers.
    `lost_usd` is an upper bound for what the call may have cost beyond `cost_usd`: tries without a reply, or a reply
    that states no usage. `shown` maps each role that was sent to the SHA-256 of what left of it.
    """

    judge: str
    judge_digest: str
    provider: str
    model_uri: str
    base_url_origin: str | None
    parameters: Mapping[str, Json]
    prompt: str
    time: str
    latency_ms: int | None
    usage: Usage | None
    cost_usd: float | None
    price: Price | None
    recorded: bool
    served: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    lost_usd: float = 0.0
    shown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """judgments/<judge>--<rubric sha8>--<nnnn>.yml: one verdict of a judging model; `raw` is its reply as it came."""

    number: int
    run_id: str
    item: str
    seen: Mapping[str, str]
    rubric: str
    answers: Mapping[str, Answer]
    raw: str
    call: JudgeCall
    schema_version: int = 1

    @property
    def passed(self) -> bool:
        return all(answer.passed for answer in self.answers.values())


@dataclass(frozen=True, slots=True)
class JudgmentFailure:
    """judgment-failures/<judge>--<rubric sha8>--<nnnn>.yml: a call that yielded no verdict, never counted as one."""

    number: int
    run_id: str
    item: str
    seen: Mapping[str, str]
    rubric: str
    fault: Fault
    raw: str | None
    call: JudgeCall
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class ItemJudged:
    """Everything that people and judging models said of one item, the oldest first."""

    reviews: tuple[ReviewRecord, ...] = ()
    judgments: tuple[JudgmentRecord, ...] = ()
    failures: tuple[JudgmentFailure, ...] = ()


NOTHING_JUDGED = ItemJudged()


@dataclass(frozen=True, slots=True)
class Waiver:
    """Judgement that was not there when an eval was closed: `review`, `adjudication` or `judge:<id>`, and of what."""

    kind: str
    run_id: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Closing:
    """One closing of an eval: when, on which evidence, what was waived, and the counts of then.

    `evidence` is the digest of runs, reviews, judgments and policy; a later change of any of them reopens the question.
    `accepted` is None when that was not known of every item.
    """

    time: str
    evidence: str
    allow_incomplete_review: bool
    waived: tuple[Waiver, ...]
    runs: int
    items: int
    accepted: int | None


@dataclass(frozen=True, slots=True)
class ClosingRecord:
    """closing.yml: every closing of an eval, the last one last; opening it again keeps the earlier ones.

    `checksum` is the SHA-256 of everything else.
    """

    closings: tuple[Closing, ...] = field(default_factory=tuple)
    schema_version: int = 1
    checksum: str = ""
