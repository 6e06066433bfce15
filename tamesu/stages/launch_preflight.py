"""The preflight of a launch: what the plan did not check already, right before its first attempt, kept with the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from tamesu.base.canonical import Json, digest
from tamesu.base.errors import PreflightFailed
from tamesu.base.model.endpoint import Check, EndpointFacts, PreflightRecord, ProbeFinding
from tamesu.base.model.load import LoadSummary
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.progress import EndpointAwaited
from tamesu.core.attempt_lines import endpoint_awaited
from tamesu.core.preflight.executed import import_check
from tamesu.core.preflight.lines import first_failure, in_order, not_checked, of_role
from tamesu.core.preflight.pressure import concurrency_check, probe_timeout_seconds, timeout_check, validator_check
from tamesu.core.preflight.probing import is_warming, probe_check, sampling_check
from tamesu.core.roles import models_of
from tamesu.core.routes import Route, find_route
from tamesu.core.wire import unverified
from tamesu.edge.backends.protocol import Backend
from tamesu.edge.credentials import Access
from tamesu.edge.endpoints.access import http_access
from tamesu.edge.endpoints.patience import Patience
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project
from tamesu.stages.awaiting import told_patience
from tamesu.stages.clock import now
from tamesu.stages.endpoint_look import Look, endpoint_checks, look_at
from tamesu.stages.engine_load import sampled_load
from tamesu.stages.payment import Invocation
from tamesu.stages.probing import paid_probe

T = TypeVar("T")
_WARM_UP_SECONDS = 600.0  # a container that has to be started, with its model


@dataclass(frozen=True, slots=True)
class LaunchPreflight:
    """What the runs of one launch share: who pays, what is known of endpoints, and what was found already."""

    project: Project
    engine: Backend
    payer: Invocation
    accesses: Mapping[str, Access]
    endpoints: Mapping[str, EndpointFacts]
    tell: Callable[[EndpointAwaited], None]
    known: dict[str, object] = field(default_factory=dict)

    def check(self, spec: RunSpec) -> None:
        """Check a run and the models that it asks by role, and write its preflight.json; recorded answers need none.

        Raises PreflightFailed with the first line that failed, PaymentNeeded and BudgetRefused before the probe.
        """
        started = now()
        checks = self._checks_of_all(spec)
        if not checks:
            return
        record = PreflightRecord(spec.run_id, spec.model_uri, spec.base_url_origin, started, now(), in_order(checks))
        content = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_atomic(self.project.eval(spec.ref).run(spec.run_id).preflight, content + b"\n")
        failure = first_failure(record.checks)
        if failure is not None:
            fix = "" if failure.fix is None else f"; {failure.fix}"
            raise PreflightFailed(f"{spec.run_id}: preflight failed: {failure.title}: {failure.figure}{fix}")

    def sampled_load(self, spec: RunSpec) -> AbstractContextManager[list[LoadSummary]]:
        """Return what samples the load of a run's engine while it is entered."""
        return sampled_load(spec, self.accesses.get(spec.provider))

    def _checks_of_all(self, spec: RunSpec) -> list[Check]:
        """Return the lines of each live model, up to the first that stops the run."""
        checks: list[Check] = []
        for role, model in zip((None, *(role.role for role in spec.roles)), models_of(spec), strict=True):
            route, access = find_route(model.provider), self.accesses.get(model.provider)
            if route is not None and access is not None and first_failure(checks) is None:
                found = self._checks(model, route, access)
                checks += found if role is None else of_role(role, found)
        return checks

    def _checks(self, spec: RunSpec, route: Route, access: Access) -> list[Check]:
        paths = self.project.eval(spec.ref).run(spec.run_id)
        sources: list[Json] = [[source.target, source.sha256] for source in spec.executed]
        task: list[Json] = [sources, spec.task_file, spec.task_function, dict(spec.task_args)]
        checks = [
            concurrency_check(spec, None),
            timeout_check(spec),
            validator_check(route, unverified(spec)),
            *self._endpoint(spec, route, access),
            import_check(self._once("import", task, lambda: self.engine.import_task(spec, paths))),
        ]
        failure = first_failure(checks)
        if failure is not None:
            return [*checks, not_checked("probe", failure), not_checked("sampling", failure)]
        key: list[Json] = [spec.endpoint, spec.model_uri, dict(spec.parameters), dict(spec.options)]
        finding = self._once("probe", key, lambda: self._probe(spec, access))
        return [*checks, probe_check(finding, probe_timeout_seconds(spec)), sampling_check(spec, finding)]

    def _endpoint(self, spec: RunSpec, route: Route, access: Access) -> tuple[Check, ...]:
        facts = self.endpoints.get(route.provider) or EndpointFacts(route.provider)
        http = http_access(route, access)

        def look() -> Look:
            orphans = self._patience(spec, float(probe_timeout_seconds(spec)))
            return look_at(route, http, spec.model, orphans, self._patience(spec, _WARM_UP_SECONDS))

        found = self._once("look", [spec.endpoint, spec.model], look)
        return endpoint_checks(spec, route, http.base_url, found, facts, None)

    def _probe(self, spec: RunSpec, access: Access) -> ProbeFinding:
        timeout = probe_timeout_seconds(spec)

        def ask() -> ProbeFinding:
            return paid_probe(self.project, self.engine, spec, access, self.payer, timeout)

        found, _ = self._patience(spec, _WARM_UP_SECONDS).until(ask, lambda finding: not is_warming(finding))
        return found

    def _patience(self, spec: RunSpec, seconds: float) -> Patience:
        return told_patience(seconds, lambda: self.tell(endpoint_awaited(spec, seconds, now())))

    def _once(self, what: str, key: Json, find: Callable[[], T]) -> T:
        """Return what `find` finds for a key, found once per launch."""
        name = f"{what} {digest(key)}"
        if name not in self.known:
            self.known[name] = find()
        found: T = self.known[name]  # type: ignore[assignment]
        return found
