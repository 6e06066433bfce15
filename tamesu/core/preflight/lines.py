"""The lines of a preflight: their names, titles and order, and how one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import Check

# In the order of the report. What reads files alone comes first, then what asks the endpoint, then what starts a
# process, then what may cost money; the names of the last kind are in PAID.
TITLES: Final[Mapping[str, str]] = {
    "lint": "manifests are valid",
    "allowed": "nothing forbids the run",
    "budget": "exposure is within the budget",
    "credentials": "credentials are here, by name",
    "in-flight": "nothing in flight read a file that was edited since",
    "concurrency": "max_samples is set explicitly",
    "timeout": "probe timeout is sized for a busy endpoint",
    "validator": "what is sent is compared with the plan afterwards",
    "idle": "engine is idle",
    "orphans": "no orphan holds the endpoint",
    "models": "endpoint answers and lists the model",
    "server": "version and defaults of the server are known",
    "ownership": "owner, replicas and contention are known",
    "import": "dry run: the copied task imports",
    "compose": "dry run: compose files render",
    "images": "dry run: images are here",
    "probe": "one tiny request is answered",
    "sampling": "sampling values read back from that request",
    "variety": "temperature changes the output",
    "data": "data are bound and the identity is published",
}
PAID: Final = frozenset({"probe", "sampling", "variety"})


def passed(name: str, figure: str, data: Mapping[str, Json] | None = None) -> Check:
    """Return a line that holds."""
    return Check(name, TITLES[name], "pass", figure, None, data or {})


def failed(name: str, figure: str, fix: str, data: Mapping[str, Json] | None = None) -> Check:
    """Return a line that stops paid work, and what to do."""
    return Check(name, TITLES[name], "fail", figure, fix, data or {})


def unknown(name: str, figure: str, fix: str | None = None, data: Mapping[str, Json] | None = None) -> Check:
    """Return a line that is told and stops nothing."""
    return Check(name, TITLES[name], "unknown", figure, fix, data or {})


def not_checked(name: str, because: Check) -> Check:
    """Return a line that was left out, since another failed."""
    return unknown(name, f"not checked, since '{because.title}' failed")


def of_role(role: str, checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return lines about the model of a role, whose titles say so."""
    return tuple(replace(check, title=f"{role}: {check.title}") for check in checks)


def first_failure(checks: Iterable[Check]) -> Check | None:
    """Return the first line that stops paid work."""
    return next((check for check in checks if check.state == "fail"), None)


def in_order(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return lines in the order of the report."""
    order = list(TITLES)
    return tuple(sorted(checks, key=lambda check: order.index(check.name)))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in `1 error` and `2 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
