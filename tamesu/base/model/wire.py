"""What left the process: the requests of a run reduced to parameters and digests, and what their check found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tamesu.base.canonical import Json

Way = Literal["http", "call"]
UNREACHED = "Unreached"  # the error of a request that never left, as no connection came about
NO_CONTENT = "tamesu_no_content"  # says in an output's metadata that the reply's message had no content at all
REFUSED = "tamesu_refused"  # in the metadata of an output: it tells of an error of the provider's, which is not billed


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One line of wire.jsonl, written when a request leaves; no header and no text of it is kept.

    `id` counts within the attempt; `call` is the model call that it belongs to, None for a request outside of any.
    `parameters` maps dotted names of the body to values, texts only where they are words of the protocol; all else is
    in `contents` as SHA-256 by name. `way` says where it was seen: at the HTTP client, or in the call that the
    provider's client returned. `role` names the further model that was asked, None is the run's own.
    """

    id: int
    attempt: int
    time: str
    way: Way
    path: str
    item: str | None
    call: int | None
    model: str | None
    parameters: Mapping[str, Json]
    contents: Mapping[str, str]
    event: Literal["sent"] = "sent"
    role: str | None = None


@dataclass(frozen=True, slots=True)
class WireReply:
    """One line of wire.jsonl, written when the reply to request `id` is here, or will never be.

    `served` is the model that the reply names. `server_ms` is the server's own time where it tells it.
    `redirects` counts the hops that led to the reply; `error` names why there is none, or why it is no answer.
    """

    id: int
    attempt: int
    time: str
    status: int | None
    served: str | None
    seconds: float
    server_ms: float | None = None
    request_id: str | None = None
    redirects: int = 0
    error: str | None = None
    event: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """What a log says about calls: how many of the run's model each item had answered, and how many of which others.

    `roles` holds the answered ones of further models, by role and then by item.
    """

    answered: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WireDifference:
    """One way in which a request was not what the plan says, and in how many requests."""

    kind: Literal["sent otherwise", "not sent", "not declared", "served by another model", "unseen"]
    name: str
    detail: str
    requests: int
    example: str | None = None

    def __str__(self) -> str:
        where = "" if self.example is None else f", first for item {self.example}"
        return f"{self.name} {self.detail} ({self.requests} request{'s' * (self.requests != 1)}{where})"


@dataclass(frozen=True, slots=True)
class WireCheck:
    """The requests of one attempt compared with the plan; any difference is drift.

    `served` counts replies by the model that they name. `unverified` are declared parameters that no request carries.
    `sha256` is the digest of the attempt's lines in wire.jsonl. `queue_ratio` is the median of wall time over the
    server's own time where the server tells it.
    """

    way: Way | None
    requests: int
    answered: int
    served: Mapping[str, int] = field(default_factory=dict)
    differences: tuple[WireDifference, ...] = ()
    unverified: tuple[str, ...] = ()
    sha256: str | None = None
    queue_ratio: float | None = None
    wall_ms: float | None = None
