"""Slots: where each planned run stands, from its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.model.evidence import (
    Fault,
    RunRecord,
)
from tamesu.base.model.plan import Holder, RunSpec, SlotState
from tamesu.core.identity import content_fingerprint, make_identity
from tamesu.core.slots import NOTHING, is_final, reopened_slot, slot
from tests.factories import POLICY, make_spec
from tests.run_factories import ALL, DONE, ENDED, FINAL, ITEMS, RETRY, SPEC, attempt, entry, evidence, record


@pytest.mark.parametrize(
    ("states", "tolerate", "state", "pending"),
    [
        (ALL, 0.0, SlotState.BANKED, ()),
        (ALL | {"b": RETRY}, 0.0, SlotState.PARTIAL, ("b",)),
        (ALL | {"b": RETRY, "c": FINAL}, 0.0, SlotState.PARTIAL, ("b",)),
        (ALL | {"b": FINAL}, 0.0, SlotState.FAILED, ()),
        (ALL | {"b": ENDED}, 0.0, SlotState.FAILED, ()),
        (ALL | {"b": FINAL}, 0.25, SlotState.BANKED, ()),
        (ALL | {"b": FINAL, "c": ENDED}, 0.25, SlotState.FAILED, ()),
        (ALL | {"b": FINAL, "c": ENDED}, 0.5, SlotState.BANKED, ()),
        (ALL | {"b": RETRY}, 1.0, SlotState.PARTIAL, ("b",)),
        (dict.fromkeys(ITEMS, RETRY), 1.0, SlotState.PARTIAL, ITEMS),
        (dict.fromkeys(ITEMS, FINAL), 1.0, SlotState.FAILED, ()),
        ({"a": DONE, "b": DONE}, 0.0, SlotState.PARTIAL, ("c", "d")),
        ({}, 0.0, SlotState.PARTIAL, ITEMS),
    ],
)
def test_the_state_of_a_slot_follows_from_item_states(
    states: Mapping[str, str], tolerate: float, state: SlotState, pending: tuple[str, ...]
) -> None:
    spec = make_spec(ITEMS, policy=replace(POLICY, tolerate_failed=tolerate))
    found = slot(spec, evidence(spec, states))
    assert (found.state, found.pending) == (state, pending)
    assert found.complete == sum(value == DONE for value in states.values())
    assert found.failed == len(states) - found.complete
    assert found.next_attempt == 2
    assert found.exposure_usd == pytest.approx(len(pending) * 0.35)


def test_the_word_of_the_record_is_not_trusted() -> None:
    for word in ("complete", "partial", "failed"):
        for states, state in ((ALL, SlotState.BANKED), (ALL | {"a": FINAL}, SlotState.FAILED)):
            found = evidence(SPEC, states, record=record(SPEC, states, state=word))
            assert slot(SPEC, found).state is state


def test_nothing_on_disk_is_owed() -> None:
    found = slot(SPEC, NOTHING)
    assert (found.state, found.pending, found.next_attempt) == (SlotState.OWED, ITEMS, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"unclosed": True},
        {"attempts": (attempt(), attempt(2)), "attempt_digests": {"01": "1" * 64, "02": "2" * 64}},
        {"record": None},
        {"record": None, "attempts": (), "attempt_digests": {}, "unclosed": True},
    ],
)
def test_what_is_not_ingested_is_partial(fields: dict[str, Any]) -> None:
    assert slot(SPEC, evidence(SPEC, ALL, **fields)).state is SlotState.PARTIAL


def test_a_held_run_is_running_whatever_lies_there() -> None:
    who = Holder(7, "host", "now")
    for one in (NOTHING, evidence(SPEC, ALL), evidence(SPEC, {}, problem="damaged")):
        found = slot(SPEC, replace(one, holder=who))
        assert (found.state, found.holder, found.pending) == (SlotState.RUNNING, who, ())


def _altered(spec: RunSpec, **digests: str) -> RunRecord:
    made = record(spec, ALL)
    return replace(made, identity=replace(made.identity, **digests))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"problem": "result.yml: is missing"}, "result.yml: is missing"),
        ({"record": _altered(SPEC, generation_digest="0" * 64)}, "another identity"),
        ({"record": _altered(SPEC, scoring_digest="0" * 64)}, "another identity"),
        ({"record": replace(record(SPEC, ALL), run_id="other")}, "another identity"),
        ({"record": replace(record(SPEC, ALL), items={**record(SPEC, ALL).items, "z": entry()})}, "another identity"),
        ({"record": replace(record(SPEC, ALL), items={"a": entry(sample="0" * 64)})}, "another identity"),
        ({"record": record(SPEC, {}, error=Fault("FrameworkFault", "strangers"))}, "FrameworkFault: strangers"),
    ],
)
def test_evidence_that_does_not_verify_is_failed_and_says_why(fields: dict[str, Any], said: str) -> None:
    found = slot(SPEC, evidence(SPEC, ALL, **fields))
    assert found.state is SlotState.FAILED
    assert found.problem is not None
    assert said in found.problem
    assert found.pending == ()


def test_a_changed_judgement_keeps_the_run_banked_and_is_shown() -> None:
    then = make_identity(SPEC.identity.generation, SPEC.identity.scoring, {"pass_at": 1}, content_fingerprint([]))
    now = make_identity(SPEC.identity.generation, SPEC.identity.scoring, {"pass_at": 2}, content_fingerprint([]))
    spec = replace(SPEC, identity=now)
    found = slot(spec, evidence(spec, ALL, record=record(replace(SPEC, identity=then), ALL)))
    assert (found.state, found.policy_then) == (SlotState.BANKED, "pass_at changed (was 1, now 2)")


@pytest.mark.parametrize(
    ("states", "pending"),
    [
        (ALL | {"b": FINAL}, ("b",)),
        (ALL | {"b": ENDED, "d": FINAL}, ("b", "d")),
        (ALL, ()),
    ],
)
def test_asking_again_reopens_what_is_not_complete(states: Mapping[str, str], pending: tuple[str, ...]) -> None:
    found = reopened_slot(SPEC, evidence(SPEC, states))
    assert found.pending == pending
    assert found.state is (SlotState.PARTIAL if pending else SlotState.BANKED)


def test_asking_again_reopens_a_framework_fault_but_nothing_that_was_altered() -> None:
    fault = record(SPEC, {}, error=Fault("FrameworkFault", "strangers"))
    reopened = reopened_slot(SPEC, evidence(SPEC, {}, record=fault))
    assert (reopened.state, reopened.pending, reopened.problem) == (SlotState.PARTIAL, ITEMS, None)
    altered = reopened_slot(SPEC, evidence(SPEC, ALL, problem="result.yml: differs"))
    assert (altered.state, altered.pending) == (SlotState.FAILED, ())
    foreign = reopened_slot(SPEC, evidence(SPEC, ALL, record=_altered(SPEC, generation_digest="0" * 64)))
    assert foreign.state is SlotState.FAILED


def test_what_is_final() -> None:
    finals = {state: is_final(entry(state), 3) for state in (DONE, RETRY, FINAL, ENDED)}
    assert finals == {DONE: True, RETRY: False, FINAL: True, ENDED: True}
    assert not is_final(entry(ENDED), 4)
