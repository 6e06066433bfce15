"""Probing: one tiny paid request before a launch, reserved in the ledger like any other."""

from __future__ import annotations

from tamesu.base.model.endpoint import ProbeFinding
from tamesu.base.model.evidence import LedgerEntry
from tamesu.base.model.plan import RunSpec
from tamesu.core.ledger import next_probe
from tamesu.core.preflight.probing import is_warming
from tamesu.core.probe import probe_exposure_usd, probe_spec
from tamesu.edge.backends.protocol import Backend
from tamesu.edge.credentials import Access
from tamesu.edge.store.journal import append_entry, ledger_held, read_ledger
from tamesu.edge.store.paths import Project
from tamesu.stages.clock import now
from tamesu.stages.payment import Invocation, check_money


def paid_probe(
    project: Project, engine: Backend, spec: RunSpec, access: Access, payer: Invocation, timeout_seconds: int
) -> ProbeFinding:
    """Return what one request yields.

    What came back without usage is charged at the most that it may have cost, unless the server was not ready.
    Raises PaymentNeeded or BudgetRefused, and asks nothing then.
    """
    number = _reserve(project, spec, payer)
    wire = project.eval(spec.ref).run(spec.run_id).preflight_wire
    spent, lost = 0.0, probe_exposure_usd(spec)
    try:
        finding = engine.probe(probe_spec(spec, timeout_seconds), access, wire)
        spent = finding.cost_usd or 0.0
        lost = 0.0 if finding.cost_usd is not None or is_warming(finding) else lost
        return finding
    finally:
        _settle(project, spec, payer, number, spent, lost)


def _reserve(project: Project, spec: RunSpec, payer: Invocation) -> int:
    """Reserve a probe under the lock of the ledger and return its number: -1, -2 and so on, as attempts count up."""
    ledger, exposure = project.eval(spec.ref).ledger, round(probe_exposure_usd(spec), 9)
    with ledger_held(project):
        if exposure > 0:
            check_money(project, spec, exposure, payer)
        number = next_probe(read_ledger(ledger), spec.run_id)
        append_entry(ledger, LedgerEntry("reserved", now(), spec.run_id, number, payer.id, usd=exposure))
    return number


def _settle(project: Project, spec: RunSpec, payer: Invocation, number: int, spent: float, lost: float) -> None:
    entry = LedgerEntry(
        "settled", now(), spec.run_id, number, payer.id, spent_usd=round(spent, 9), lost_usd=round(lost, 9)
    )
    with ledger_held(project):
        append_entry(project.eval(spec.ref).ledger, entry)
