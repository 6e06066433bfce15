"""Blockers: why nothing of an eval may start, each in one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tamesu.base.model.manifest import Eval
from tamesu.base.model.plan import Blocker, Launch, RunSpec, is_rented
from tamesu.core.ledger import ledger_problem
from tamesu.core.roles import models_of
from tamesu.core.situation import Situation, Unpriced
from tamesu.core.support import missing_support
from tamesu.core.trust import untrusted_line


def blockers(
    evaluation: Eval, situation: Situation, launches: Sequence[Launch], runs: Sequence[RunSpec]
) -> tuple[Blocker, ...]:
    """Return what forbids the launches that ask models; none when nothing is to be asked."""
    asking = [launch for launch in launches if launch.mode == "execute"]
    if not asking:
        return ()
    return (
        *_status(evaluation),
        *_support(evaluation),
        *_trust(situation),
        *_versions(situation),
        *_credentials(situation),
        *_images(evaluation),
        *_prices(evaluation, runs, situation.unpriced),
        *_ledger(situation),
        *_budget(evaluation, situation, asking),
    )


def _status(evaluation: Eval) -> Iterator[Blocker]:
    if evaluation.status == "draft":
        said = f"`tamesu activate {evaluation.ref}` when it is ready"
        yield Blocker("draft", f"{evaluation.file}: status is 'draft'; only 'active' may run; {said}")
    elif evaluation.status != "active":
        yield Blocker("draft", f"{evaluation.file}: status is '{evaluation.status}'; only 'active' may run")


def _support(evaluation: Eval) -> Iterator[Blocker]:
    for missing in missing_support(evaluation):
        if missing.blocks:
            yield Blocker("support", f"{evaluation.file}: {missing.message}")


def _trust(situation: Situation) -> Iterator[Blocker]:
    for origin in situation.untrusted:
        yield Blocker("untrusted", untrusted_line(origin))


def _versions(situation: Situation) -> Iterator[Blocker]:
    if situation.installed_inspect != situation.pinned_inspect:
        yield Blocker(
            "inspect-version",
            f"inspect_ai {situation.installed_inspect} is installed but config/config.yaml pins "
            f"{situation.pinned_inspect}; install that version, or move the pin (evidence becomes stale)",
        )


def _credentials(situation: Situation) -> Iterator[Blocker]:
    for missing in situation.missing_credentials:
        names = " or ".join(missing.names)
        yield Blocker(
            "credentials", f"provider {missing.provider}: {names} is not set; set it in the environment or .env"
        )


def _images(evaluation: Eval) -> Iterator[Blocker]:
    for image in evaluation.execution.images:
        if not image.pinned and image.locked is None:
            yield Blocker("image", f"image '{image.reference}' is not locked; run `tamesu lock {evaluation.ref}`")


def _prices(evaluation: Eval, runs: Sequence[RunSpec], unpriced: Unpriced) -> Iterator[Blocker]:
    models = [model for spec in runs for model in models_of(spec)]
    # one call per item is a bound of its own, though not in money; a conversation has none
    acceptable = evaluation.execution.backend == "native"
    unknown = {f"{model.provider}/{model.model}" for model in models if model.price is None and acceptable}
    unbounded = sorted({f"{model.provider}/{model.model}" for model in models if not model.bounded} - unknown)
    if unknown and unpriced is Unpriced.REFUSED:
        names = ", ".join(sorted(unknown))
        fix = "state it in config/models.yml, or accept that with --accept-unknown-price"
        yield Blocker("price", f"{evaluation.file}: nobody knows the price of {names}; {fix}")
    if unbounded:
        fix = "state prices in config/models.yml and set parameters.max_tokens"
        yield Blocker("price", f"{evaluation.file}: nothing bounds what {', '.join(unbounded)} may cost; {fix}")
    rented = sorted({role.model_uri for spec in runs for role in spec.roles if is_rented(role.price)})
    if rented:
        why = "rent is known by the run's own time only"
        fix = "state usd_per_million, or free: true and count the rent yourself"
        yield Blocker("price", f"{evaluation.file}: {', '.join(rented)} is rented and asked by role, but {why}; {fix}")


def _ledger(situation: Situation) -> Iterator[Blocker]:
    problem = ledger_problem(situation.balance, situation.recorded_usd)
    if problem is not None:
        yield Blocker("ledger", problem)


def _budget(evaluation: Eval, situation: Situation, asking: Sequence[Launch]) -> Iterator[Blocker]:
    exposure = sum(launch.exposure_usd for launch in asking)
    committed = situation.balance.total_usd
    if exposure > 0 and committed + exposure > evaluation.defaults.budget_usd + 1e-9:
        yield Blocker(
            "budget",
            f"{evaluation.file}: exposure of up to {exposure:.4f} USD plus {committed:.4f} USD spent or reserved "
            f"exceeds budget_usd {evaluation.defaults.budget_usd:.4f}; raise it or plan less",
        )
