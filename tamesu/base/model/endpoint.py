"""Endpoints: where models answer, what the project knows about them, and what a preflight found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tamesu.base.canonical import Json


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
    """preflight.json: what was checked before money was spent, in order; times are UTC."""

    run_id: str
    model_uri: str
    origin: str | None
    started: str
    ended: str
    checks: tuple[Check, ...]
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
