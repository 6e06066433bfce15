"""What a preflight may start and ask: the import of the copied task, and probes, which cost money."""

from __future__ import annotations

import uuid
from dataclasses import replace

from tamesu.base.errors import UsageError
from tamesu.base.model.endpoint import ImportFinding, ProbeFinding
from tamesu.base.model.plan import RunSpec
from tamesu.core.preflight.pressure import probe_timeout_seconds
from tamesu.core.preflight.probing import is_warming
from tamesu.core.routes import find_route
from tamesu.edge.backends.chosen import backend
from tamesu.edge.backends.protocol import Backend
from tamesu.edge.credentials import read_access
from tamesu.edge.endpoints.patience import Patience
from tamesu.edge.store.paths import Project
from tamesu.stages.payment import Invocation
from tamesu.stages.preflight import Hands, Surroundings, Wish
from tamesu.stages.probing import paid_probe

_UNLIMITED = 1e12  # whoever types the command has a hand on the lever; the budget of the eval still holds


def hands_of(project: Project, around: Surroundings, wish: Wish) -> Hands:
    """Return the hands for one eval.

    The first import or probe makes the process one of an execution: what is read from the environment, `around` holds.
    """
    evaluation = around.planned.evaluation
    payer = Invocation(uuid.uuid4().hex[:16], _UNLIMITED, evaluation.defaults.budget_usd)
    engines: list[Backend] = []

    def engine() -> Backend:
        if not engines:
            engines.append(backend(evaluation.execution.backend))
            engines[0].isolate(project.state / "launches" / f"preflight-{payer.id}")
        return engines[0]

    def import_task(spec: RunSpec) -> ImportFinding:
        return engine().import_task(spec, project.eval(spec.ref).run(spec.run_id))

    def ask(spec: RunSpec) -> ProbeFinding:
        route = find_route(spec.provider)
        if route is None:
            raise UsageError(f"{spec.ref}: provider '{spec.provider}' has no route; see docs/routes.md")
        access = read_access(route, around.environment, around.endpoint(spec).base_url)
        return paid_probe(project, engine(), spec, access, payer, probe_timeout_seconds(spec))

    def probe(spec: RunSpec) -> ProbeFinding:
        patience = Patience(wish.warm_up_seconds)
        found, waited = patience.until(lambda: ask(spec), lambda finding: not is_warming(finding))
        return replace(found, error=f"{found.error} (after {waited:.0f} s)") if is_warming(found) else found

    return Hands(probe=probe, import_task=import_task)
