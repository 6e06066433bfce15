"""How many calls will be in flight, on whose endpoint, and how busy it is."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.endpoint import Check, EndpointFacts, EngineFinding
from tamesu.base.model.evidence import RunRecord
from tamesu.base.model.plan import Holder, RunSpec
from tamesu.core.preflight.lines import counted, passed, unknown
from tamesu.core.preflight.lines import failed as fails
from tamesu.core.routes import Protocol, Route

_SHORTEST_PROBE_SECONDS = 120
_STATE = "say owner, shared, replicas and requests_per_replica in config/config.yaml, endpoints"
VENDOR = "the provider's own"


def probe_timeout_seconds(spec: RunSpec) -> int:
    """Return how long a probe waits: an orphan of a killed run may be ahead of it, then its own turn comes."""
    return max(2 * spec.timeout_seconds, _SHORTEST_PROBE_SECONDS)


def is_own(route: Route, base_url: str | None) -> bool:
    """Return whether an endpoint is one that somebody here runs or rents, and not the provider's public one."""
    return route.protocol is Protocol.CHAT and base_url is not None and base_url != route.base_url


def last_measured(spec: RunSpec, records: Sequence[RunRecord]) -> int | None:
    """Return the concurrency that the last run of the same model reached; None when none knows."""
    known = [
        record
        for record in records
        if (record.provider, record.model) == (spec.provider, spec.model)
        and record.execution.concurrency_reached is not None
    ]
    return max(known, key=lambda record: record.ended).execution.concurrency_reached if known else None


def concurrency_check(spec: RunSpec, measured: int | None) -> Check:
    """Return how many samples and calls may be in flight, the cap of the endpoint, and what was reached last time.

    Without a cap the runs of a project take turns at an endpoint (C24).
    """
    cap, in_flight = spec.max_connections, spec.concurrency
    parts = [
        f"{counted(in_flight, 'sample')} and as many connections at once, adaptive off",
        "one run at a time there" if cap is None else f"at most {cap} over all runs and jobs",
        "not measured yet" if measured is None else f"the last run reached {measured}",
    ]
    data = {"concurrency": spec.concurrency, "max_connections": cap, "measured": measured}
    if measured is not None and measured < in_flight and measured < len(spec.items):
        fix = "raise the requests that one container serves at once before adding replicas, or lower concurrency"
        return unknown("concurrency", "; ".join(parts), fix, data)
    return passed("concurrency", "; ".join(parts), data)


def timeout_check(spec: RunSpec) -> Check:
    """Return how long the probe waits, in seconds."""
    seconds = probe_timeout_seconds(spec)
    return passed(
        "timeout",
        f"{seconds} s: twice timeout_seconds {spec.timeout_seconds}, at least {_SHORTEST_PROBE_SECONDS}",
        {"seconds": seconds},
    )


def validator_check(route: Route, unverified: tuple[str, ...]) -> Check:
    """Return where requests are seen, which decides what drift can be told; `unverified` travels in no request."""
    if route.protocol is Protocol.RECORDED:
        return passed("validator", "recorded answers: nothing is sent")
    seen = "in the call that its client returns" if route.way == "call" else "at the HTTP client"
    figure = f"every request, seen {seen}; any difference makes the run drifted, not banked"
    if unverified:
        figure += f"; {', '.join(unverified)} travels in no request"
    return passed("validator", figure)


def idle_check(own: bool, finding: EngineFinding | None) -> Check:
    """Return how busy the engine is; `finding` None means that it was not asked."""
    if not own:
        return passed("idle", f"{VENDOR} endpoint, whose load is not ours")
    if finding is None or finding.load is None:
        why = "it tells no load" if finding is None or finding.error is None else f"it {finding.error}"
        return unknown("idle", f"{why}; what runs on it is not known", "look at the engine's own log")
    load = finding.load
    figure = f"{load.running} running, {load.waiting} waiting"
    if finding.waited_seconds >= 1:
        figure += f" after {finding.waited_seconds:.0f} s"
    data = {"running": load.running, "waiting": load.waiting}
    if load.running + load.waiting == 0:
        return passed("idle", figure, data)
    return fails("idle", figure, "wait (--wait-idle 600), stop what runs there, or restart the container", data)


def orphans_check(own: bool, holder: Holder | None, idle: Check) -> Check:
    """Return who of this project holds the endpoint, and what an engine busy without anybody of it means."""
    if holder is not None:
        who = f"process {holder.pid} on {holder.host} since {holder.since}"
        return unknown(
            "orphans", f"{who} works on this endpoint", "wait for it or stop it; the run would queue behind it"
        )
    if idle.state == "fail":
        what = "no process of this project calls it, so the load is an orphan on the server or someone else's"
        return fails("orphans", what, "see who calls it; a killed run is generated to its end, or until a restart")
    if own and idle.state == "unknown":
        return unknown("orphans", "no process of this project calls it; the engine itself tells nothing")
    return passed("orphans", "no process of this project calls it")


def ownership_check(own: bool, facts: EndpointFacts, concurrency: int, retries: int) -> Check:
    """Return whose endpoint it is, and whether it serves as many requests at once as will be sent."""
    if not own:
        told = f"{VENDOR}, shared with all its customers; a refusal for load is retried {retries} times"
        return passed("ownership", told)
    stated = {
        "owner": facts.owner,
        "shared": facts.shared,
        "replicas": facts.replicas,
        "requests_per_replica": facts.requests_per_replica,
    }
    missing = [name for name, value in stated.items() if value is None]
    figure = _told(facts)
    if missing:
        known = f"{figure}; " if figure else ""
        return unknown("ownership", f"{known}not stated: {', '.join(missing)}", _STATE, stated)
    at_once = (facts.replicas or 0) * (facts.requests_per_replica or 0)
    figure += f": {at_once} served at once, {concurrency} sent"
    if at_once >= concurrency:
        return passed("ownership", figure, stated)
    others = " and behind others'" if facts.shared else ""
    fix = "agree with its owner, lower concurrency, or deploy your own" if facts.shared else "lower concurrency"
    figure += f"; {concurrency - at_once} wait in front of it{others}"
    return unknown("ownership", figure, f"{fix}; raise requests per container before replicas", stated)


def _told(facts: EndpointFacts) -> str:
    parts = []
    if facts.owner is not None:
        parts.append(f"run by {facts.owner}")
    if facts.shared is not None:
        parts.append("shared" if facts.shared else "not shared")
    if facts.replicas is not None:
        parts.append(counted(facts.replicas, "replica"))
    if facts.requests_per_replica is not None:
        parts.append(f"{counted(facts.requests_per_replica, 'request')} each")
    return ", ".join(parts)
