"""Who pays for an attempt, and whether they may: reserved in the ledger before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from tamesu.base.errors import BudgetRefused, PaymentNeeded
from tamesu.base.model.evidence import LedgerEntry
from tamesu.base.model.plan import RunSpec
from tamesu.core.ledger import balance, invocation_total
from tamesu.edge.store.journal import all_ledgers, append_entry, ledger_held, read_ledger
from tamesu.edge.store.paths import Project
from tamesu.stages.clock import now


@dataclass(frozen=True, slots=True)
class Invocation:
    """Who pays: an identifier, the ceiling for everything under it (None: free work only), the budget."""

    id: str
    pay_usd: float | None
    budget_usd: float


def reserve(project: Project, spec: RunSpec, attempt: int, samples: int, payer: Invocation) -> None:
    """Reserve the exposure of an attempt. Raises PaymentNeeded or BudgetRefused and reserves nothing."""
    exposure = round(spec.exposure_usd(samples), 9)
    ledger = project.eval(spec.ref).ledger
    with ledger_held(project):
        if exposure > 0:
            check_money(project, spec, exposure, payer)
        append_entry(
            ledger,
            LedgerEntry("reserved", now(), spec.run_id, attempt, payer.id, usd=exposure, samples=samples),
        )


def check_money(project: Project, spec: RunSpec, exposure: float, payer: Invocation) -> None:
    """Raise PaymentNeeded or BudgetRefused unless so many US dollars may be reserved; the caller holds the ledger."""
    if payer.pay_usd is None:
        raise PaymentNeeded(
            f"{spec.run_id}: would cost up to {exposure:.4f} USD; use `tamesu run`, or --config pay_usd=<ceiling>"
        )
    committed = invocation_total(all_ledgers(project), payer.id)
    if committed + exposure > payer.pay_usd + 1e-9:
        raise BudgetRefused(
            f"{spec.run_id}: up to {exposure:.4f} USD on top of {committed:.4f} USD exceeds pay_usd "
            f"{payer.pay_usd:.4f}; raise the ceiling"
        )
    total = balance(read_ledger(project.eval(spec.ref).ledger)).total_usd
    if total + exposure > payer.budget_usd + 1e-9:
        raise BudgetRefused(
            f"{spec.run_id}: up to {exposure:.4f} USD on top of {total:.4f} USD spent or reserved exceeds "
            f"budget_usd {payer.budget_usd:.4f}; raise it in eval.yml"
        )
