"""Endpoints: where models answer, what the project knows about them, and what a preflight found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Usage
from tamesu.base.model.trust import TrustedCode


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What config/config.yaml says about the endpoint of a provider; nothing of it is secret.

    `base_url` stands where the environment names none. `max_connections` caps the calls in flight over all runs, evals
    and jobs of the project. `replicas` serve at once, each `requests_per_replica` requests. `owner` is who runs it,
    `shared` says that others call it too.
    """

    provider: str
    base_url: str | None = None
    owner: str | None = None
    shared: bool | None = None
    replicas: int | None = None
    requests_per_replica: int | None = None
    max_connections: int | None = None


CheckState = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a preflight: what was checked, how it stands, its figure in words, and the figures themselves."""

    name: str
    title: str
    state: CheckState
    figure: str
    fix: str | None = None
    data: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreflightRecord:
    """preflight.json: what was checked before money was spent, in order; times are UTC.

    `trusted_code` is the word of a person on which code from elsewhere was imported.
    """

    run_id: str
    model_uri: str
    origin: str | None
    started: str
    ended: str
    checks: tuple[Check, ...]
    trusted_code: tuple[TrustedCode, ...] = ()
    schema_version: int = 1

    @property
    def passed(self) -> bool:
        """Whether nothing failed; what is unknown is told and does not stop."""
        return all(check.state != "fail" for check in self.checks)


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """What a serving engine says about itself: requests that it works on, and that wait."""

    running: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EngineFinding:
    """A look at the engine behind an endpoint: its load (None where it tells none), and how long it was waited for."""

    load: EngineLoad | None
    waited_seconds: float
    error: str | None = None


ListingState = Literal["listed", "refused", "absent", "warming", "broken", "unasked"]


@dataclass(frozen=True, slots=True)
class ModelListing:
    """What an endpoint says when it is asked for its models.

    `refused` is a key that it does not take, `absent` an endpoint that lists none, `warming` one that was not ready
    until the deadline, `broken` an answer that is none or may not be followed, `unasked` a protocol without listing.
    `entry` is what the listing says about the model itself, scalars only.
    """

    state: ListingState
    models: tuple[str, ...] = ()
    detail: str = ""
    waited_seconds: float = 0.0
    entry: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """The answer to one tiny request with the declared fields; its text is kept as a digest only.

    `problems` are the differences between the request that left and the plan, `way` says where it was seen (`http`,
    `call`). `cost_usd` is None when it is not known.
    """

    answered: bool
    text_sha256: str | None
    seconds: float
    usage: Usage | None
    cost_usd: float | None
    problems: tuple[str, ...]
    way: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ImportFinding:
    """Whether the copied task imports, why not, and what it read outside its copy."""

    ok: bool
    error: str | None = None
    outside_reads: tuple[str, ...] = ()
