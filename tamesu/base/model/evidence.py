"""What happened: attempts, items, runs and money, as recorded on disk.

Times are UTC in ISO 8601. Money is in US dollars. Paths are POSIX; those of artifacts are relative to the
item's folder, those of logs to the run's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import UNSET, UnsetType

from tamesu.base.canonical import Json
from tamesu.base.model.load import LoadSummary
from tamesu.base.model.plan import Price
from tamesu.base.model.trust import TrustedCode
from tamesu.base.model.wire import WireCheck


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one item in the one normal form, each kind counted once.

    `input` is without cache; `output` is with `reasoning`, which is the part of it that nobody sees; `total` is
    as the provider states it.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Why something failed: a class name that programs compare, and one line for people."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(frozen=True, slots=True)
class SampleScore:
    """One scorer's result as the log holds it; `number` is None when it is not a finite number."""

    name: str
    raw: Json
    number: float | None
    answer: str | None = None
    explanation: str | None = None
    metadata: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ModelShare:
    """What one model had of a sample: its tokens, None when no reply stated any, and its replies without usage."""

    usage: Usage | None
    calls_without_usage: int = 0


@dataclass(frozen=True, slots=True)
class SampleEvidence:
    """One sample of an execution log, reduced to what ingestion needs.

    `interrupted` says that it neither finished nor failed by itself; `in_flight` that it was cut by an
    uncontrolled death. `calls_without_usage` counts replies that stated no usage; `usage_problem` is a line
    about token counts that cannot be, which leave `usage` None. `no_content` says that the last reply's message had
    no content at all. `shares` tells the models apart, by the name that Inspect knows them by; `rejected_calls` counts
    tool calls that an approval policy did not let pass.
    """

    item: str
    scores: tuple[SampleScore, ...]
    error: Fault | None
    usage: Usage | None
    stop_reason: str | None
    answered: bool
    limit: str | None
    latency_ms: int | None
    interrupted: bool = False
    in_flight: bool = False
    calls_without_usage: int = 0
    usage_problem: str | None = None
    no_content: bool = False
    shares: Mapping[str, ModelShare] = field(default_factory=dict)
    rejected_calls: int = 0


@dataclass(frozen=True, slots=True)
class StagedEntry:
    """One line of a staging manifest, as a scorer wrote it; nothing in it is trusted."""

    role: str
    path: str
    media_type: str
    blob: str


@dataclass(frozen=True, slots=True)
class Artifact:
    role: str
    path: str
    sha256: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class RejectedArtifact:
    """A staged file that is no artifact, and why; `size` and `limit`, in bytes, stand where it was too large."""

    role: str
    path: str
    reason: str
    size: int | UnsetType = UNSET
    limit: int | UnsetType = UNSET

    @property
    def sizes(self) -> str | None:
        """How large it is and may be, in words; None where its size is not why it was refused."""
        if not isinstance(self.size, int) or not isinstance(self.limit, int):
            return None
        return f"{self.size:,} bytes, above the limit of {self.limit:,}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the output is, for review: `generated`, `invalid_artifact`, `safety_filtered`; None: no role is reviewed."""

    status: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OutputFile:
    """The artifact that people review: path below the item's folder, SHA-256, size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One of several artifacts that people review, by role; `reason` says why it is not fit for that."""

    role: str
    path: str
    sha256: str
    size: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """A scorer's result unchanged, its value as a finite number if it has one, and whether it passes."""

    value: float | None
    passed: bool
    raw: Json
    answer: str | None = None
    explanation: str | None = None
    metadata: Mapping[str, Json] | None = None


ItemState = Literal["complete", "failed"]
AnswerState = Literal["text", "empty", "absent", "truncated", "truncated_empty", "filtered", "none"]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """result.yml: one item of one run.

    `attempts` counts the attempts that used up one of `max_attempts`; `attempt` is the one this result is
    of. `retryable` says that a further attempt may end otherwise; it is False for what is complete. `rejected_calls`
    counts tool calls that an approval policy did not let pass. `output` is a list when several roles are
    reviewed.
    """

    item: str
    run_id: str
    sample: str
    state: ItemState
    retryable: bool
    attempts: int
    attempt: int
    answer: AnswerState
    stop_reason: str | None
    limit: str | None
    error: Fault | None
    scores: Mapping[str, ScoreRecord]
    outcome: Outcome
    output: OutputFile | tuple[ReviewedFile, ...] | None
    artifacts: tuple[Artifact, ...]
    missing_artifacts: tuple[str, ...]
    rejected_artifacts: tuple[RejectedArtifact, ...]
    usage: Usage | None
    cost_usd: float | None
    latency_ms: int | None
    rejected_calls: int = 0
    schema_version: int = 1


AttemptState = Literal["finished", "faulted", "interrupted", "died", "corrupt"]


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """attempts/<nn>.yml: one Inspect evaluation of the run, pinned by the digest of its log.

    `asked` are the items it was given; `used` those for which it counts against `max_attempts`; `finished`
    those whose sample ended by itself, of which `failed` did with an error, `failure` being the first. State
    `faulted` says that nothing was asked at all, `error` why. `adopted` names the process that closed it when
    that was not the one that ran it. `price` is the snapshot of execution time, used for this attempt forever.
    `images` maps the references that the sources name to the IDs of the images that were here. `wire` compares what
    left with the plan; recorded answers leave nothing. `load` is what the engine said of itself meanwhile.
    `role_prices` are the prices of further models by role, of the same time as `price`.
    `trusted_code` is the word of a person on which code from elsewhere ran.
    """

    attempt: int
    kind: str
    state: AttemptState
    log: str | None
    sha256: str | None
    log_status: str | None
    dataset_sha256: str | None
    started: str
    ended: str
    asked: tuple[str, ...]
    used: tuple[str, ...]
    finished: tuple[str, ...]
    failed: int
    failure: str | None
    spent_usd: float
    lost_usd: float
    calls_lost: int
    versions: Mapping[str, str]
    price: Price | None = None
    adopted: str | None = None
    error: Fault | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    wire: WireCheck | None = None
    load: LoadSummary | None = None
    concurrency_reached: int | None = None
    role_prices: Mapping[str, Price | None] = field(default_factory=dict)
    trusted_code: tuple[TrustedCode, ...] = ()
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """One item in a run's inventory: its state, why it failed, and the digests of sample, result and artifacts."""

    state: ItemState
    retryable: bool
    attempts: int
    sample: str
    result: str
    error: str | None = None
    artifacts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One log of the run: path, SHA-256, and the status that Inspect wrote (recorded, never trusted)."""

    attempt: int
    path: str | None
    sha256: str | None
    status: str | None


@dataclass(frozen=True, slots=True)
class RoleRecord:
    """A further model of a run as it was asked: what Inspect calls it, where it answers, how, at which price."""

    model_uri: str
    base_url_origin: str | None
    parameters: Mapping[str, Json]
    price: Price | None
    recorded: bool


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """How the run was executed: versions, endpoint without credentials, task, limits, logs.

    `busy_seconds` is the working time of all samples added up, `wall_seconds` the time that the attempts took,
    their start included: busy over wall is the mean number of samples in flight. `wire` says where the requests were
    seen (`http` or `call`), `served` counts replies by the model that they name, `unverified` are parameters that no
    request carries. `remarks` say what made it slower than configured. `trusted_code` is the word of a person on which
    code from elsewhere ran.
    """

    backend: str
    inspect_version: str
    adapter_version: int
    tamesu_version: str
    python_version: str
    model_uri: str
    base_url_origin: str | None
    task_file: str | None
    task_function: str | None
    limits: Mapping[str, Json]
    parameters: Mapping[str, Json]
    retries: int
    timeout_seconds: int
    concurrency: int
    concurrency_reached: int | None
    price: Price | None
    recorded: bool
    logs: tuple[LogEntry, ...]
    busy_seconds: float | None = None
    wall_seconds: float | None = None
    wire: str | None = None
    served: Mapping[str, int] = field(default_factory=dict)
    unverified: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    roles: Mapping[str, RoleRecord] = field(default_factory=dict)
    trusted_code: tuple[TrustedCode, ...] = ()


RunState = Literal["complete", "partial", "failed"]


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """Identity as it stands in run.yml, with the named values behind the digests."""

    version: int
    generation_digest: str
    scoring_digest: str
    judgement_digest: str
    specification_fingerprint: str
    content_fingerprint: str
    generation: Mapping[str, Json]
    scoring: Mapping[str, Json]
    judgement: Mapping[str, Json]
    content: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """run.yml: identity, state, inventory and the execution block of one run.

    `checksum` is the seal of all the rest; early versions wrote none.
    """

    run_id: str
    eval: str
    task: str
    provider: str
    model: str
    arm: str
    repetition: int
    state: RunState
    planned: int
    complete: int
    failed: int
    spent_usd: float
    started: str
    ended: str
    error: Fault | None
    identity: IdentityRecord
    execution: ExecutionRecord
    attempts: Mapping[str, str]
    items: Mapping[str, ItemEntry]
    schema_version: int = 1
    checksum: str = ""


LedgerEvent = Literal["reserved", "settled"]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One line of ledger.jsonl.

    A negative attempt is a probe. `reserved` holds `usd` for an attempt; `settled` releases it and states what was
    spent (known from usage) and lost (an upper bound for calls whose usage is unknown). `unpriced` counts the samples
    that were asked at a price nobody knew.
    """

    event: LedgerEvent
    time: str
    run_id: str
    attempt: int
    invocation: str
    usd: float = 0.0
    spent_usd: float = 0.0
    lost_usd: float = 0.0
    samples: int = 0
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class Balance:
    """A ledger summed up: spent by usage, lost by upper bound, reserved and not yet settled.

    `unpriced` counts samples that were asked at a price nobody knew: what they cost is in none of the amounts.
    """

    spent_usd: float
    lost_usd: float
    reserved_usd: float
    unpriced: int = 0

    @property
    def total_usd(self) -> float:
        return self.spent_usd + self.lost_usd + self.reserved_usd
