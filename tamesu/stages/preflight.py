"""Preflight: every check that money deserves, cheapest first, kept beside the run that it is about."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import UsageError
from tamesu.base.model.endpoint import Check, EndpointFacts, ImportFinding, PreflightRecord, ProbeFinding
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef
from tamesu.base.model.plan import RunSpec, SlotState
from tamesu.base.model.trust import TrustedCode
from tamesu.core.planning import Grouping, Retries
from tamesu.core.preflight.lines import PAID, first_failure, in_order, not_checked, of_role, unknown
from tamesu.core.preflight.pressure import (
    concurrency_check,
    last_measured,
    probe_timeout_seconds,
    timeout_check,
    validator_check,
)
from tamesu.core.preflight.probing import probe_check, sampling_check, variety_check
from tamesu.core.preflight.standing import (
    allowed_check,
    budget_check,
    credentials_check,
    in_flight_check,
    lint_check,
)
from tamesu.core.roles import as_run
from tamesu.core.routes import Route, canonical_provider, find_route
from tamesu.core.situation import Unpriced
from tamesu.core.trust import words_for
from tamesu.core.wire import unverified
from tamesu.edge.credentials import Environment, missing_credentials, read_access, read_environment
from tamesu.edge.endpoints.access import HttpAccess, http_access
from tamesu.edge.endpoints.patience import Patience
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.edge.store.places import endpoint_holder
from tamesu.stages.access import endpoints_of
from tamesu.stages.clock import now
from tamesu.stages.endpoint_look import ENDPOINT_CHECKS, Look, endpoint_checks, look_at, recorded_checks
from tamesu.stages.frozen_checks import frozen_checks, unopened_checks
from tamesu.stages.lint import lint_eval
from tamesu.stages.plan import Planned, digest_cache, plan_eval
from tamesu.stages.trust import executed_origins

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wish:
    """How patient a preflight is, in seconds, and how many further probes look at sampling."""

    wait_idle_seconds: float = 0.0
    warm_up_seconds: float = 120.0
    probes: int = 0


@dataclass(frozen=True, slots=True)
class Hands:
    """What starts processes or asks models, and the clock; None where this version cannot.

    `probe` makes one tiny request with the declared fields, waits for an endpoint that is not ready yet, and enters its
    cost into the ledger; `sample` does the same for an answer long enough to differ between two draws.
    """

    probe: Callable[[RunSpec], ProbeFinding] | None = None
    import_task: Callable[[RunSpec], ImportFinding] | None = None
    sample: Callable[[RunSpec], ProbeFinding] | None = None
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep

    def patience(self, seconds: float) -> Patience:
        return Patience(seconds, self.clock, self.wait)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the runs of one eval have in common: plan, lint, environment, endpoints, and what was found already.

    Runs that would ask the same thing share the answer, so that 200 repetitions are one probe.
    """

    planned: Planned
    findings: tuple[Finding, ...]
    environment: Environment
    endpoints: Mapping[str, EndpointFacts]
    known: dict[str, object] = field(default_factory=dict)
    trusted: tuple[TrustedCode, ...] = ()

    def once(self, what: str, key: Json, find: Callable[[], T]) -> T:
        """Return what `find` finds for a key, found once."""
        name = f"{what} {digest(key)}"
        if name not in self.known:
            self.known[name] = find()
        found: T = self.known[name]  # type: ignore[assignment]
        return found

    def endpoint(self, spec: RunSpec) -> EndpointFacts:
        """Return what the project says about the endpoint of a run."""
        return self.endpoints.get(canonical_provider(spec.provider)) or EndpointFacts(spec.provider)

    @property
    def untrusted(self) -> tuple[str, ...]:
        """A line per case whose code came from elsewhere and may not run."""
        return tuple(str(blocker) for blocker in self.planned.plan.blockers if blocker.kind == "untrusted")

    @property
    def live(self) -> tuple[str, ...]:
        plan = self.planned.plan
        own = (slot.spec.run_id for slot in plan.slots if slot.state is SlotState.RUNNING)
        return (*own, *(stray.run_id for stray in plan.strays))


def preflight_eval(project: Project, around: Surroundings, wish: Wish, hands: Hands) -> tuple[PreflightRecord, ...]:
    """Check every owed run of an eval and keep the records; none when nothing is owed."""
    owed = [slot.spec for slot in around.planned.plan.slots if slot.pending]
    return tuple(preflight_run(project, spec, around, wish, hands) for spec in owed)


def survey(
    project: Project,
    ref: EvalRef,
    trusted: Sequence[TrustedCode] = (),
    unpriced: Unpriced = Unpriced.REFUSED,
) -> Surroundings:
    """Return what the preflights of one eval have in common. Raises InvalidDocument when the eval has errors."""
    cache = digest_cache(project)
    planned = plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, trusted=trusted, unpriced=unpriced)
    cache.save()
    findings = lint_eval(project, ref).findings
    needed = words_for(executed_origins(project, ref, planned.matrix.runs), trusted)
    return Surroundings(planned, findings, read_environment(project.root), endpoints_of(project), trusted=needed)


def preflight_run(project: Project, spec: RunSpec, around: Surroundings, wish: Wish, hands: Hands) -> PreflightRecord:
    """Check one run, write preflight.json beside it, and return what was written.

    What may cost money is left out once anything cheaper failed.
    """
    started = now()
    route = _route(spec)
    facts = around.endpoint(spec)
    access = http_access(route, read_access(route, around.environment, facts.base_url))
    checks = list(_standing(spec, route, around))
    checks += recorded_checks(route) or _endpoint(project, _At(spec, route, access, facts), around, wish, hands, checks)
    checks += _frozen(project, spec, around, hands, checks)
    roles = [(role.role, as_run(spec, role)) for role in spec.roles if role.provider != "replay"]
    for name, model in roles:
        checks += of_role(name, _of_model(project, model, around, wish, hands))
    if not any(check.name in PAID for check in checks):
        checks += _paid(spec, around, wish, hands, checks)
    for name, model in roles:
        checks += of_role(name, _paid(model, around, wish, hands, checks))
    record = PreflightRecord(
        spec.run_id, spec.model_uri, spec.base_url_origin, started, now(), in_order(checks), around.trusted
    )
    content = msgspec.json.format(msgspec.json.encode(record), indent=2)
    write_atomic(project.eval(spec.ref).run(spec.run_id).preflight, content + b"\n")
    return record


def _of_model(project: Project, model: RunSpec, around: Surroundings, wish: Wish, hands: Hands) -> tuple[Check, ...]:
    """Return the lines about the model of a role that cost nothing."""
    route, facts = _route(model), around.endpoint(model)
    checks = [_credentials(model, route, around), timeout_check(model), validator_check(route, unverified(model))]
    access = http_access(route, read_access(route, around.environment, facts.base_url))
    return (*checks, *_endpoint(project, _At(model, route, access, facts), around, wish, hands, checks))


def _credentials(spec: RunSpec, route: Route, around: Surroundings) -> Check:
    found = around.environment.first(route.credentials if route.key is None else (route.key,))
    stated = around.endpoint(spec).base_url is not None
    missing = tuple(
        one
        for one in missing_credentials((spec.provider,), around.environment)
        if not (stated and one.names == (route.base_url_variable,))
    )
    return credentials_check(route, None if found is None else found[0], missing)


def _route(spec: RunSpec) -> Route:
    route = find_route(spec.provider)
    if route is None:
        raise UsageError(f"{spec.ref}: provider '{spec.provider}' has no route; see docs/routes.md")
    return route


def _standing(spec: RunSpec, route: Route, around: Surroundings) -> tuple[Check, ...]:
    """Return the lines that files, ledger and environment alone decide."""
    plan = around.planned.plan
    return (
        lint_check(around.findings),
        allowed_check(plan.blockers),
        budget_check(plan),
        _credentials(spec, route, around),
        in_flight_check(around.findings, around.live),
        concurrency_check(spec, last_measured(spec, around.planned.records)),
        timeout_check(spec),
        validator_check(route, unverified(spec)),
    )


@dataclass(frozen=True, slots=True)
class _At:
    """A run and where it will ask."""

    spec: RunSpec
    route: Route
    access: HttpAccess
    facts: EndpointFacts


def _endpoint(
    project: Project, at: _At, around: Surroundings, wish: Wish, hands: Hands, checks: list[Check]
) -> tuple[Check, ...]:
    closed = next((check for check in checks if check.name == "credentials" and check.state == "fail"), None)
    if closed is not None:
        return tuple(not_checked(name, closed) for name in ENDPOINT_CHECKS)

    def look() -> Look:
        idle, warm_up = hands.patience(wish.wait_idle_seconds), hands.patience(wish.warm_up_seconds)
        return look_at(at.route, at.access, at.spec.model, idle, warm_up)

    found = around.once("look", [at.spec.endpoint, at.spec.model], look)
    holder = endpoint_holder(project, at.spec.endpoint)
    return endpoint_checks(at.spec, at.route, at.access.base_url, found, at.facts, holder)


def _frozen(
    project: Project, spec: RunSpec, around: Surroundings, hands: Hands, checks: list[Check]
) -> tuple[Check, ...]:
    forbidden = next((check for check in checks if check.name == "allowed" and check.state == "fail"), None)
    dataset = around.planned.matrix.datasets[spec.arm]
    if forbidden is not None and around.untrusted:
        return unopened_checks(project, spec, dataset, forbidden)
    importing = hands.import_task

    def import_task(run: RunSpec) -> ImportFinding | None:
        if forbidden is not None or importing is None:
            return None
        sources: list[Json] = [[source.target, source.sha256] for source in run.executed]
        key: list[Json] = [sources, run.task_file, run.task_function, dict(run.task_args)]
        return around.once("import", key, lambda: importing(run))

    blockers = around.planned.plan.blockers
    found = frozen_checks(project, spec, dataset, blockers, import_task)
    if forbidden is None:
        return found
    # importing a task runs its code
    return tuple(not_checked(check.name, forbidden) if check.name == "import" else check for check in found)


def _paid(spec: RunSpec, around: Surroundings, wish: Wish, hands: Hands, checks: list[Check]) -> tuple[Check, ...]:
    names = ("probe", "sampling", "variety")
    failure = first_failure(checks)
    if failure is not None:
        return tuple(not_checked(name, failure) for name in names)
    probe = hands.probe
    if probe is None:
        return tuple(unknown(name, "this version asks no model before a run") for name in names)
    key: list[Json] = [spec.endpoint, spec.model_uri, dict(spec.parameters), dict(spec.options), spec.timeout_seconds]

    first = around.once("probe", key, lambda: probe(spec))
    told = (probe_check(first, probe_timeout_seconds(spec)), sampling_check(spec, first))
    failure = first_failure(told)
    if failure is not None:
        return (*told, not_checked("variety", failure))
    sample = hands.sample or probe
    drawn = around.once("sample", key, lambda: [sample(spec) for _ in range(wish.probes)])
    return (*told, variety_check(spec, drawn))
