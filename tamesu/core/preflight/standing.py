"""What files and ledger say before anybody is asked: lint, what forbids the run, budget, credentials, edits."""

from __future__ import annotations

from collections.abc import Sequence

from tamesu.base.model.endpoint import Check
from tamesu.base.model.finding import Finding
from tamesu.base.model.plan import Blocker, EvalPlan
from tamesu.core.preflight.lines import counted, failed, passed, unknown
from tamesu.core.routes import Route
from tamesu.core.situation import MissingCredential

EDITED = "run/edited-in-flight"
_MONEY = frozenset({"budget", "price", "ledger"})
_ELSEWHERE = _MONEY | {"credentials", "image"}


def lint_check(findings: Sequence[Finding]) -> Check:
    """Return what lint says; edits under a run in flight have a line of their own."""
    told = [finding for finding in findings if finding.rule != EDITED]
    errors = [finding for finding in told if finding.severity == "error"]
    figure = f"{counted(len(errors), 'error')}, {counted(len(told) - len(errors), 'warning')}"
    if errors:
        return failed("lint", f"{figure}; the first: {errors[0]}", "correct what `tamesu lint` tells")
    return passed("lint", figure)


def allowed_check(blockers: Sequence[Blocker]) -> Check:
    """Return what forbids the run beside money, credentials and images, which have lines of their own."""
    found = [blocker for blocker in blockers if blocker.kind not in _ELSEWHERE]
    if not found:
        return passed("allowed", "active, of the pinned version, reviewed")
    message, _, fix = found[0].message.rpartition("; ")
    return failed("allowed", message or fix, fix)


def budget_check(plan: EvalPlan) -> Check:
    """Return how the exposure of everything owed stands to the budget, in US dollars."""
    money = {"spent_usd": plan.spent_usd, "reserved_usd": plan.reserved_usd, "budget_usd": plan.budget_usd}
    exposure = f"up to {plan.exposure_usd:.4f} USD" if plan.exposure_known else "an amount that nothing bounds"
    figure = (
        f"{exposure} owed, {plan.spent_usd:.4f} spent, {plan.reserved_usd:.4f} reserved, budget {plan.budget_usd:.4f}"
    )
    data = {"exposure_usd": plan.exposure_usd if plan.exposure_known else None, **money}
    blocker = next((blocker for blocker in plan.blockers if blocker.kind in _MONEY), None)
    if blocker is None:
        return passed("budget", figure, data)
    return failed("budget", figure, blocker.message, data)


def credentials_check(route: Route, found: str | None, missing: Sequence[MissingCredential]) -> Check:
    """Return whether a credential is here; `found` is the name of its variable, never its value."""
    if not missing:
        told = f"{found} is set" if found is not None else f"provider {route.provider} needs none"
        return passed("credentials", told)
    names = ", and ".join(" or ".join(one.names) for one in missing)
    fix = "set it in the environment, in the folder of --config-dir or in the project's .env"
    return failed("credentials", f"{names} is not set", fix)


def in_flight_check(findings: Sequence[Finding], live: Sequence[str]) -> Check:
    """Return which edited files a live run has fingerprinted; `live` names the runs of the eval in flight."""
    edited = [finding for finding in findings if finding.rule == EDITED]
    if edited:
        names = ", ".join(dict.fromkeys(finding.file for finding in edited))
        return unknown(
            "in-flight",
            f"{names}: edited under {counted(len(live), 'run')} in flight, which uses its own copy and ends stale",
            "wait for it, or stop it, before anything is paid for twice",
        )
    if live:
        return passed(
            "in-flight", f"{counted(len(live), 'run')} in flight, no file of it edited; leave them as they are"
        )
    return passed("in-flight", "no run of this eval is in flight")
