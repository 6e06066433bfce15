"""What is intended: rendered samples, runs with their identity, and what is owed of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Literal

from tamesu.base.canonical import Json
from tamesu.base.model.manifest import (
    ArtifactPolicy,
    EvalRef,
    FileDigest,
    ImageReference,
    Limits,
    OutputSchema,
    Policy,
)


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One item as the model will see it; `digest` covers all fields, `assets` are digests of files.

    `pictures` are the digests of the files that are sent with the prompt, in their order.

    `expected` is what built-in checks compare with; `target` is the same as text, which scorers read.
    """

    item: str
    messages: tuple[Message, ...]
    target: Json
    metadata: Mapping[str, Json]
    assets: tuple[str, ...]
    digest: str
    expected: Json = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FrozenDataset:
    """The selected items rendered for one arm; `digest` is over the (item, digest) pairs in order."""

    samples: tuple[Sample, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Identity:
    """The partitioned fingerprint of a run and the named values it was computed from.

    `generation`, `scoring` and `judgement` map field names to values; the digests are over those maps.
    `specification` covers all three, `content` the bytes of every file read.
    """

    version: int
    generation: Mapping[str, Json]
    scoring: Mapping[str, Json]
    judgement: Mapping[str, Json]
    generation_digest: str
    scoring_digest: str
    judgement_digest: str
    specification_fingerprint: str
    content_fingerprint: str
    content: tuple[FileDigest, ...]


@dataclass(frozen=True, slots=True)
class PriceTier:
    """US dollars per million tokens of a request whose whole input is above that many tokens."""

    above_input_tokens: int
    input: float
    output: float
    cache_read: float
    cache_write: float


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; `tiers` hold the rates of larger requests, in ascending order.

    `free` marks a model that costs nothing by declaration. `usd_per_hour` is the rent of an endpoint, all
    replicas together: its tokens cost nothing, its time does. `source` says who stated the price.
    """

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0
    free: bool = False
    tiers: tuple[PriceTier, ...] = ()
    usd_per_hour: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """A source as it is copied beside the run: project path, path below the copy, content."""

    path: str
    target: str
    sha256: str


def is_paid(price: Price | None) -> bool:
    """Return whether calls at this price cost money; an unknown price counts as paid."""
    return price is None or not price.free


def is_rented(price: Price | None) -> bool:
    """Return whether time is paid for, and not tokens."""
    return price is not None and price.usd_per_hour is not None


@dataclass(frozen=True, slots=True)
class RoleRun:
    """A further model of a run, which its task or its scorers ask by role; resolved like the run's own.

    `max_connections` caps the calls in flight at its endpoint over all runs.
    """

    role: str
    provider: str
    model: str
    model_uri: str
    base_url_origin: str | None
    parameters: Mapping[str, Json]
    recordings: SourceCopy | None
    max_connections: int | None
    price: Price | None
    largest_call_usd: float | None

    @property
    def priced_by_tokens(self) -> bool:
        return is_paid(self.price) and not is_rented(self.price)

    @property
    def bounded(self) -> bool:
        """Whether anything bounds what a call of it may cost."""
        return not is_paid(self.price) or self.largest_call_usd is not None


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One model x arm x repetition, completely resolved; all that execute and ingest need.

    `sources` are those of generation, `pictures` the files that are sent with prompts. `max_connections` caps the calls
    in flight at its endpoint over all runs. Money is in US dollars per sample; `timeout_seconds` is per model call.
    `roles` are further models; price and parameters of the run are those of its own model, while whether it is paid,
    and how much is at stake, is about all of them.
    """

    ref: EvalRef
    run_id: str
    task: str
    backend: str
    provider: str
    model: str
    model_uri: str
    base_url_origin: str | None
    arm: str
    repetition: int
    parameters: Mapping[str, Json]
    recordings: SourceCopy | None
    retries: int
    timeout_seconds: int
    max_attempts: int
    concurrency: int
    max_connections: int | None
    limits: Limits
    task_file: str | None
    task_function: str | None
    task_args: Mapping[str, Json]
    options: Mapping[str, Json]
    allow_mutable_images: bool
    sources: tuple[SourceCopy, ...]
    scoring_sources: tuple[SourceCopy, ...]
    images: tuple[ImageReference, ...]
    artifacts: ArtifactPolicy
    policy: Policy
    price: Price | None
    largest_call_usd: float | None
    items: tuple[str, ...]
    sample_digests: Mapping[str, str]
    assets: Mapping[str, tuple[str, ...]]
    identity: Identity
    roles: tuple[RoleRun, ...] = ()
    output_schema: OutputSchema | None = None
    pictures: tuple[SourceCopy, ...] = ()

    @property
    def executed(self) -> tuple[SourceCopy, ...]:
        """All sources of the executed copy, those of scoring included."""
        return (*self.sources, *self.scoring_sources)

    @property
    def paid(self) -> bool:
        return is_paid(self.price) or any(is_paid(role.price) for role in self.roles)

    @property
    def unpriced(self) -> bool:
        """Whether nobody knows what the tokens of one of its models cost."""
        return self.price is None or any(role.price is None for role in self.roles)

    @property
    def own_tokens_paid(self) -> bool:
        """Whether the tokens of the run's own model cost money."""
        return is_paid(self.price) and not self.rented

    @property
    def priced_by_tokens(self) -> bool:
        """Whether a reply without usage may leave the cost unknown; rent runs by the clock instead."""
        return self.own_tokens_paid or any(role.priced_by_tokens for role in self.roles)

    @property
    def rented(self) -> bool:
        return is_rented(self.price)

    @property
    def bounded(self) -> bool:
        """Whether anything bounds what a sample may cost; without a bound its exposure is not known, never 0."""
        own = not is_paid(self.price) or self.largest_call_usd is not None
        return own and all(role.bounded for role in self.roles)

    @property
    def exposure_per_sample(self) -> float:
        """The most that one attempt at one sample can cost, run by itself."""
        return self.exposure_usd(1)

    def exposure_usd(self, samples: int) -> float:
        """Return the most that one attempt at so many samples can cost, in US dollars.

        Per sample it is the limit, and the call that trips it; with roles scoring may cost as much again. Rent:
        rounds of `concurrency` samples, each as long as one sample may take, which is what `largest_call_usd` holds
        then. It means nothing unless `bounded`.
        """
        rent = ceil(samples / self.concurrency) * (self.largest_call_usd or 0.0) if self.rented else 0.0
        if not self.priced_by_tokens:
            return rent
        once = ((self.limits.cost_limit or 0.0) + self.largest_token_call_usd) * samples
        return rent + (2 * once if self.roles else once)

    @property
    def largest_token_call_usd(self) -> float:
        """The most that one call of any model that is paid by the token can cost."""
        own = [self.largest_call_usd or 0.0] if self.own_tokens_paid else []
        return max((*own, *(role.largest_call_usd or 0.0 for role in self.roles if role.priced_by_tokens)), default=0.0)

    @property
    def endpoint(self) -> str:
        """What a concurrency cap is about: all models of a provider at one place, all recorded ones together."""
        return f"{self.provider}@{self.base_url_origin or 'default'}"


class SlotState(StrEnum):
    """Where one slot of the plan stands."""

    OWED = "owed"
    RUNNING = "running"
    PARTIAL = "partial"
    BANKED = "banked"
    FAILED = "failed"
    DRIFTED = "drifted"


@dataclass(frozen=True, slots=True)
class Holder:
    """A live process that holds a run: process id, host, UTC time since when."""

    pid: int
    host: str
    since: str


@dataclass(frozen=True, slots=True)
class Slot:
    """One planned run with what the evidence says about it.

    `pending` are the items that another attempt would ask; `unclosed` says that an earlier attempt left
    evidence which is not ingested yet. `problem` is a line about evidence that does not verify. `spent_usd` is what
    the ledger says about this run, spent and lost. `failed` does not count items that an end of the process cut
    and that are asked again. `story` says how a run that is not finished stands, and what to do.
    """

    spec: RunSpec
    state: SlotState
    complete: int
    failed: int
    pending: tuple[str, ...]
    next_attempt: int
    unclosed: bool
    holder: Holder | None = None
    problem: str | None = None
    failure: str | None = None
    logs_absent: bool = False
    policy_then: str | None = None
    spent_usd: float = 0.0
    story: str | None = None

    @property
    def exposure_usd(self) -> float:
        return self.spec.exposure_usd(len(self.pending))


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run on disk that serves no slot: why (`stale` with its cause, `extra`, `damaged`), what redoing costs at most.

    `remedy` is the cheapest way to have it counted again.
    """

    run_id: str
    kind: Literal["stale", "extra", "damaged"]
    causes: tuple[str, ...]
    redo_usd: float
    remedy: str


@dataclass(frozen=True, slots=True)
class Stray:
    """A run that a live process holds although the plan does not name it (any more).

    `spec` is what it froze, None when that cannot be read; `edits` is what was edited since.
    """

    run_id: str
    holder: Holder
    spec: RunSpec | None = None
    edits: tuple[str, ...] = ()


BlockerKind = Literal[
    "draft", "support", "inspect-version", "credentials", "untrusted", "image", "price", "ledger", "budget"
]


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why nothing of an eval may start, in one line that says what to do."""

    kind: BlockerKind
    message: str

    def __str__(self) -> str:
        return self.message


LaunchMode = Literal["execute", "ingest"]


@dataclass(frozen=True, slots=True)
class Launch:
    """Runs that one process works off together; mode `ingest` only closes what an earlier one left."""

    id: str
    ref: EvalRef
    runs: tuple[str, ...]
    mode: LaunchMode
    paid: bool
    exposure_usd: float
    next_attempts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """Everything that is known about one eval before anything starts.

    `unpriced` counts samples that were asked at a price nobody knew, so that what they cost is in no amount.
    `ledger_problem` is a line about a ledger that knows of less than runs on disk cost.
    """

    ref: EvalRef
    slots: tuple[Slot, ...]
    found: tuple[FoundRun, ...]
    launches: tuple[Launch, ...]
    spent_usd: float
    reserved_usd: float
    budget_usd: float
    blockers: tuple[Blocker, ...]
    strays: tuple[Stray, ...] = ()
    policy_changed: str | None = None
    unpriced: int = 0
    ledger_problem: str | None = None

    @property
    def exposure_usd(self) -> float:
        return sum(launch.exposure_usd for launch in self.launches)

    @property
    def exposure_known(self) -> bool:
        """Whether everything owed is bounded, so that `exposure_usd` is what it says."""
        return all(slot.spec.bounded or not slot.pending for slot in self.slots)

    @property
    def incomplete(self) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if slot.state is not SlotState.BANKED)
