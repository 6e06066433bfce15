"""What lies around an eval when it is planned: evidence, ledger, versions, credentials, trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tamesu.base.model.evidence import Balance, RunRecord
from tamesu.base.model.plan import FoundRun, Stray
from tamesu.base.model.trust import Origin
from tamesu.core.slots import RunEvidence


@dataclass(frozen=True, slots=True)
class MissingCredential:
    """A provider whose credentials are not here, and the environment variables of which one is needed."""

    provider: str
    names: tuple[str, ...]


class Unpriced(StrEnum):
    """Whether a person accepts that nobody knows what the calls of a model cost (`--accept-unknown-price`)."""

    REFUSED = "refused"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Situation:
    """What lies on disk for an eval: evidence per planned run, other runs, who holds them, the ledger, versions.

    `spent` is in US dollars by run, `recorded_usd` what all run.yml on disk say that they cost.
    `damaged` are runs beside the plan that cannot be read or were changed by hand.
    `untrusted` are the markers of cases that came from elsewhere and whose code would run unreviewed.
    """

    evidence: Mapping[str, RunEvidence]
    others: tuple[RunRecord, ...]
    balance: Balance
    spent: Mapping[str, float]
    recorded_usd: float
    missing_credentials: tuple[MissingCredential, ...]
    untrusted: tuple[Origin, ...]
    strays: tuple[Stray, ...]
    installed_inspect: str
    pinned_inspect: str
    unpriced: Unpriced = Unpriced.REFUSED
    damaged: tuple[FoundRun, ...] = ()
