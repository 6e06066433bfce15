"""Why an eval's judges may not be asked, each in one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tamesu.base.model.evidence import Balance
from tamesu.base.model.judging import JudgeStanding
from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import Blocker, RoleRun, is_rented
from tamesu.core.situation import MissingCredential


def budget_left(budget_usd: float, committed_usd: float) -> float:
    """Return what is left of a budget in US dollars, nothing where more was spent or reserved than it holds."""
    return max(0.0, budget_usd - committed_usd)


def judge_blockers(
    evaluation: Eval,
    judges: Sequence[JudgeStanding],
    models: Mapping[str, RoleRun],
    missing: Sequence[MissingCredential],
    balance: Balance,
    recorded_usd: float,
) -> tuple[Blocker, ...]:
    """Return what forbids asking for what is askable; `recorded_usd` is what the records say that they cost."""
    asked = [one for one in judges if one.askable]
    if not asked:
        return ()
    return (
        *_status(evaluation),
        *_credentials(missing),
        *_prices(evaluation, asked, models),
        *_ledger(balance, recorded_usd),
        *_budget(evaluation, asked, balance),
    )


def _status(evaluation: Eval) -> Iterator[Blocker]:
    if evaluation.status == "draft":
        said = f"`tamesu activate {evaluation.ref}` when it is ready"
        yield Blocker("draft", f"{evaluation.file}: status is 'draft'; only 'active' may judge; {said}")
    elif evaluation.status != "active":
        yield Blocker("draft", f"{evaluation.file}: status is '{evaluation.status}'; only 'active' may judge")


def _credentials(missing: Sequence[MissingCredential]) -> Iterator[Blocker]:
    for one in missing:
        names = " or ".join(one.names)
        yield Blocker("credentials", f"provider {one.provider}: {names} is not set; set it in the environment or .env")


def _prices(evaluation: Eval, asked: Sequence[JudgeStanding], models: Mapping[str, RoleRun]) -> Iterator[Blocker]:
    rented = [one.judge for one in asked if is_rented(models[one.judge].price)]
    for name in rented:
        why = "is rented by the hour, and what a judgment costs of that is not known"
        fix = "state usd_per_million, or free: true and count the rent yourself"
        yield Blocker("price", f"{evaluation.file}: judge '{name}' {why}; {fix}")
    for one in asked:
        if one.paid and one.largest_call_usd is None and one.judge not in rented:
            fix = "state its price in config/models.yml and set its parameters.max_tokens"
            message = f"nothing bounds what judge '{one.judge}' ({one.provider}/{one.model}) may cost; {fix}"
            yield Blocker("price", f"{evaluation.file}: {message}")


def _ledger(balance: Balance, recorded_usd: float) -> Iterator[Blocker]:
    settled = balance.spent_usd + balance.lost_usd + balance.reserved_usd
    if recorded_usd > settled + 1e-6:
        yield Blocker(
            "ledger",
            f"judgments on disk cost {recorded_usd:.4f} USD but judge-ledger.jsonl knows of {settled:.4f}; restore it "
            "from version control, or the budget would be spent twice",
        )


def _budget(evaluation: Eval, asked: Sequence[JudgeStanding], balance: Balance) -> Iterator[Blocker]:
    exposure, budget = sum(one.exposure_usd for one in asked), evaluation.defaults.judge_budget_usd
    if exposure > 0 and balance.total_usd + exposure > budget + 1e-9:
        yield Blocker(
            "budget",
            f"{evaluation.file}: judging may cost up to {exposure:.4f} USD; of judge_budget_usd {budget:.4f}, which is "
            f"apart from budget_usd, {budget_left(budget, balance.total_usd):.4f} USD are left "
            f"({balance.total_usd:.4f} spent or reserved); raise defaults.judge_budget_usd or ask fewer "
            "(--judge, --limit)",
        )
