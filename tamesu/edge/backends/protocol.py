"""What an execution backend offers; each lives in a folder of its own beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tamesu.base.model.endpoint import ImportFinding, ProbeFinding
from tamesu.base.model.evidence import Fault, SampleEvidence
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.provider_attempt import ProviderAttempt
from tamesu.base.model.wire import ModelCalls
from tamesu.edge.credentials import Access
from tamesu.edge.store.paths import RunPaths


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """One attempt at one run: what to ask, and the folders that are its own.

    `workdir` is the attempt's own folder while it runs; `replay_calls` is where recorded answers count
    the calls they served. `access` is how a live model is reached, `role_accesses` how those of roles are; only an
    execution has them.
    `progress` is the file that is told what ends meanwhile, if anybody looks.
    """

    spec: RunSpec
    paths: RunPaths
    attempt: int
    asked: tuple[str, ...]
    workdir: Path
    replay_calls: Path
    access: Access | None = None
    progress: Path | None = None
    role_accesses: Mapping[str, Access] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that may appear in no file, the longest first."""
        reached = (self.access, *self.role_accesses.values())
        found = {secret for access in reached if access is not None for secret in access.secrets}
        return tuple(sorted(found, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class LogReading:
    """A log reduced to evidence; `concurrency_reached` is computed from event times.

    `samples_at_once` is how many samples were served at once on average: their working time together, over the
    time in which any of them ran. None when the log does not say. `calls` counts the model calls that were answered.
    `provider_attempts` are the calls of an attempt one by one, where its log tells them apart; each is a sample, too.
    """

    status: str
    samples: tuple[SampleEvidence, ...]
    concurrency_reached: int | None
    samples_at_once: float | None = None
    calls: ModelCalls = field(default_factory=ModelCalls)
    provider_attempts: tuple[ProviderAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosedLog:
    """A log at its final place; `in_flight_known` says that it also names what a death cut short."""

    path: Path | None
    status: str | None
    in_flight_known: bool
    error: Fault | None = None


class Backend(Protocol):
    """Executes attempts, closes their logs, reads them back."""

    def isolate(self, workdir: Path) -> None:
        """Make the process independent of stray environment and files; call before any attempt."""

    def import_task(self, spec: RunSpec, paths: RunPaths) -> ImportFinding:
        """Import the executed copy of the task; a fault of it is returned, never raised."""

    def probe(self, spec: RunSpec, access: Access, wire: Path) -> ProbeFinding:
        """Make one request with the fields of a run; `wire` is where its record is written anew."""

    def execute(self, request: AttemptRequest) -> Fault | None:
        """Run one attempt to its end. A fault that left no usable log is returned, never raised.

        An interruption by the user ends it as well; its log says that, and the attempt is closed like any other.
        """

    def close_log(self, request: AttemptRequest) -> ClosedLog:
        """Bring the attempt's log to its final place, recovering what a death left."""

    def remove_survivors(self, request: AttemptRequest) -> None:
        """Remove containers that the attempt left behind, and nobody else's."""

    def read_log(self, path: Path) -> LogReading:
        """Return a log's evidence. Raises FrameworkFault for a file that is no readable log."""

    def check_identity(self, path: Path, request: AttemptRequest) -> None:
        """Raise LogRefused when the log's own fields do not yield the run's identity."""
