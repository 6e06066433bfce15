"""A scope: which runs an invocation takes on, how much of each, what that may cost, and when it is done."""

from __future__ import annotations

import pytest

from tamesu.base.model.evidence import Balance
from tamesu.core.scope import Scope, model_names
from tamesu.core.slots import NOTHING, slot
from tests.run_factories import ALL, FINAL, ITEMS, RETRY, evidence
from tests.unit.test_planning import RUNS, planned

FIRST = RUNS[0]


def test_a_model_is_named_as_manifests_or_inspect_do() -> None:
    assert model_names(FIRST) == {"model-a", f"{FIRST.provider}/model-a", FIRST.model_uri}
    for name in model_names(FIRST):
        assert [Scope(frozenset({name})).takes(spec) for spec in RUNS] == [True, True, False, False]


def test_only_runs_in_scope_are_launched_and_what_they_may_cost_is_theirs() -> None:
    one = planned(scope=Scope(frozenset({"model-b"})))
    assert [launch.runs for launch in one.launches] == [(RUNS[2].run_id, RUNS[3].run_id)]
    assert one.exposure_usd == pytest.approx(planned().exposure_usd / 2)
    assert len(one.slots) == len(RUNS)  # the others are owed still


def test_a_limit_asks_the_first_items_that_are_owed_and_reserves_for_them_alone() -> None:
    found = {FIRST.run_id: evidence(FIRST, ALL | {"b": RETRY, "c": RETRY})}
    one = planned(found, runs=(FIRST,), scope=Scope(items=1))
    assert one.slots[0].pending == ("b", "c")
    assert one.exposure_usd == pytest.approx(planned(found, runs=(FIRST,)).exposure_usd / 2)


def test_a_budget_that_is_too_small_for_all_does_not_forbid_a_probe() -> None:
    spent = Balance(99.0, 0.0, 0.0)
    assert [blocker.kind for blocker in planned(balance=spent).blockers] == ["budget"]
    assert planned(balance=spent, scope=Scope(frozenset({"model-a"}), 1)).blockers == ()


@pytest.mark.parametrize(
    ("scope", "state", "undone"),
    [
        (Scope(), ALL, True),
        (Scope(frozenset({"model-b"})), {}, False),
        (Scope(frozenset({"model-a"})), {}, True),
        (Scope(items=2), {}, True),
        (Scope(items=2), {name: ALL[name] for name in ITEMS[:1]}, True),
        (Scope(items=2), {name: ALL[name] for name in ITEMS[:2]}, False),
        (Scope(items=2), {name: ALL[name] for name in ITEMS[:2]} | {ITEMS[2]: RETRY}, True),
        (Scope(items=2), ALL | {ITEMS[0]: FINAL}, True),
        (Scope(frozenset({"model-b"}), 2), {}, False),
    ],
)
def test_a_probe_is_done_when_as_many_items_are_complete_and_none_failed(
    scope: Scope, state: dict[str, str], undone: bool
) -> None:
    found = slot(FIRST, evidence(FIRST, state) if state else NOTHING)
    assert scope.leaves_undone(found) is undone
