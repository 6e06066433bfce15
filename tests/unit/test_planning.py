"""Planning: the state of every slot, what a launch holds, what blocks it, and why a run is stale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.errors import FrameworkFault
from tamesu.base.model.evidence import (
    AttemptRecord,
    Balance,
    Fault,
    ItemEntry,
    RunRecord,
    SampleEvidence,
    SampleScore,
    Usage,
)
from tamesu.base.model.manifest import FileDigest, MechanicalCheck
from tamesu.base.model.plan import Holder, Identity, Price, RunSpec, SlotState, SourceCopy
from tamesu.core.attempts import attempt_state, attempts_used, close_attempt
from tamesu.core.identity import content_fingerprint, judgement_map, make_identity
from tamesu.core.ingest import answer_state, check_samples, item_verdict, score_records
from tamesu.core.matrix import Matrix
from tamesu.core.planning import Grouping, Retries, Situation, plan
from tamesu.core.slots import NOTHING, RunEvidence, is_final, reopened_slot, slot
from tamesu.core.staleness import found_run
from tests.factories import POLICY, make_eval, make_spec

ITEMS = ("a", "b", "c", "d")
DONE, RETRY, FINAL, ENDED = "complete", "failed, retryable", "failed for good", "failed thrice"


def entry(state: str = DONE, sample: str = "5" * 64) -> ItemEntry:
    attempts = 3 if state == ENDED else 1
    return ItemEntry("complete" if state == DONE else "failed", state in {RETRY, ENDED}, attempts, sample, "9" * 64)


def record(spec: RunSpec, states: Mapping[str, str], **fields: Any) -> RunRecord:
    identity = spec.identity
    entries = {name: entry(state) for name, state in states.items()}
    complete = sum(one.state == "complete" for one in entries.values())
    made: dict[str, Any] = {
        "run_id": spec.run_id,
        "eval": str(spec.ref),
        "task": spec.task,
        "provider": spec.provider,
        "model": spec.model,
        "arm": spec.arm,
        "repetition": spec.repetition,
        "state": "complete",
        "planned": len(spec.items),
        "complete": complete,
        "failed": len(entries) - complete,
        "spent_usd": 0.0,
        "started": "",
        "ended": "",
        "error": None,
        "identity": _identity_record(identity),
        "execution": None,
        "attempts": {"01": "1" * 64},
        "items": entries,
    }
    return RunRecord(**(made | fields))


def _identity_record(identity: Identity) -> Any:
    from tamesu.base.model.evidence import IdentityRecord

    names = ("generation_digest", "scoring_digest", "judgement_digest", "specification_fingerprint")
    return IdentityRecord(
        version=identity.version,
        **{name: getattr(identity, name) for name in names},
        content_fingerprint=identity.content_fingerprint,
        generation=identity.generation,
        scoring=identity.scoring,
        judgement=identity.judgement,
        content={file.path: file.sha256 for file in identity.content},
    )


def attempt(number: int = 1, used: tuple[str, ...] = ITEMS) -> AttemptRecord:
    return AttemptRecord(
        number, "generate", "finished", None, None, "success", None, "", "", ITEMS, used, used, 0, None, 0.0, 0.0, 0, {}
    )


def evidence(spec: RunSpec, states: Mapping[str, str], **fields: Any) -> RunEvidence:
    made: dict[str, Any] = {
        "record": record(spec, states),
        "attempts": (attempt(),),
        "attempt_digests": {"01": "1" * 64},
    }
    return RunEvidence(**(made | fields))


SPEC = make_spec(ITEMS)
ALL = dict.fromkeys(ITEMS, DONE)


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


# --- plans ------------------------------------------------------------------------------------------------


def situation(found: Mapping[str, RunEvidence], **fields: Any) -> Situation:
    made: dict[str, Any] = {
        "evidence": found,
        "others": (),
        "balance": Balance(0.0, 0.0, 0.0),
        "installed_inspect": "0.3.285",
        "pinned_inspect": "0.3.285",
    }
    if "strays" in Situation.__dataclass_fields__:
        made["strays"] = ()
    return Situation(**(made | fields))


RUNS = tuple(make_spec(ITEMS, model=model, repetition=rep) for model in ("model-a", "model-b") for rep in (1, 2))


def planned(
    found: Mapping[str, RunEvidence] | None = None,
    grouping: Grouping = Grouping.BATCHED,
    retries: Retries = Retries.BOUNDED,
    runs: tuple[RunSpec, ...] = RUNS,
    **fields: Any,
) -> Any:
    evaluation = make_eval()
    evaluation = replace(evaluation, defaults=replace(evaluation.defaults, budget_usd=100.0))
    return plan(evaluation, Matrix(runs, {}), situation(found or {}, **fields), grouping, retries)


def test_one_job_a_run_or_one_process_an_endpoint() -> None:
    single, batched = planned(grouping=Grouping.SINGLE), planned()
    assert [launch.runs for launch in single.launches] == [(spec.run_id,) for spec in RUNS]
    assert sorted(launch.runs for launch in batched.launches) == [
        (RUNS[0].run_id, RUNS[1].run_id),
        (RUNS[2].run_id, RUNS[3].run_id),
    ]
    for one in (single, batched):
        assert one.exposure_usd == pytest.approx(16 * 0.35)
        assert {launch.mode for launch in one.launches} == {"execute"}
        assert all(launch.paid for launch in one.launches)


@pytest.mark.parametrize(
    "change",
    [
        {"sources": (SourceCopy("x", "x", "1" * 64),)},
        {"scoring_sources": (SourceCopy("x", "x", "1" * 64),)},
        {"task_file": "other.py"},
        {"task_function": "other"},
        {"options": {"max_sandboxes": 2}},
        {"concurrency": 9},
    ],
    ids=lambda change: next(iter(change)),
)
def test_runs_that_must_not_share_a_process_do_not(change: dict[str, Any]) -> None:
    runs = (RUNS[0], replace(RUNS[1], **change))
    assert len(planned(runs=runs).launches) == 2


def test_only_work_is_launched_and_ingestion_costs_nothing() -> None:
    found = {
        RUNS[0].run_id: evidence(RUNS[0], ALL),
        RUNS[1].run_id: evidence(RUNS[1], ALL | {"b": RETRY}),
        RUNS[2].run_id: evidence(RUNS[2], ALL | {"b": FINAL}),
        RUNS[3].run_id: evidence(RUNS[3], ALL, unclosed=True),
    }
    one = planned(found, Grouping.SINGLE)
    assert [slot.state.value for slot in one.slots] == ["banked", "partial", "failed", "partial"]
    assert [(launch.runs, launch.mode, launch.next_attempts) for launch in one.launches] == [
        ((RUNS[1].run_id,), "execute", (2,)),
        ((RUNS[3].run_id,), "ingest", (2,)),
    ]
    assert [launch.exposure_usd for launch in one.launches] == [pytest.approx(0.35), 0.0]
    assert [launch.paid for launch in one.launches] == [True, False]
    again = planned(found, Grouping.SINGLE, Retries.AGAIN)
    assert [launch.runs for launch in again.launches] == [(RUNS[i].run_id,) for i in (1, 2, 3)]


def test_a_launch_is_named_by_what_it_does() -> None:
    names = [launch.id for launch in planned(grouping=Grouping.SINGLE).launches]
    assert names == [launch.id for launch in planned(grouping=Grouping.SINGLE).launches]
    assert len(set(names)) == 4
    later = planned({RUNS[0].run_id: evidence(RUNS[0], {})}, Grouping.SINGLE)
    assert later.launches[0].id != names[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"installed_inspect": "0.3.999"}, "inspect_ai 0.3.999 is installed but config/config.yaml pins 0.3.285"),
        ({"balance": Balance(90.0, 2.0, 2.5)}, "exposure of up to 5.6000 USD plus 94.5000 USD"),
    ],
)
def test_what_blocks(fields: dict[str, Any], said: str) -> None:
    (blocker,) = planned(**fields).blockers
    assert said in blocker


def test_a_budget_met_exactly_is_kept_and_nothing_blocks_what_is_banked() -> None:
    assert planned(balance=Balance(94.4, 0.0, 0.0)).blockers == ()
    found = {spec.run_id: evidence(spec, ALL) for spec in RUNS}
    assert planned(found, installed_inspect="0.3.999", balance=Balance(500.0, 0.0, 0.0)).blockers == ()


# --- staleness --------------------------------------------------------------------------------------------


def with_maps(spec: RunSpec, generation: Mapping[str, Any], scoring: Mapping[str, Any] | None = None) -> RunSpec:
    content = content_fingerprint([FileDigest("c/prompts/user.md.j2", "1" * 64, 1)])
    return replace(spec, identity=make_identity(generation, scoring or {}, judgement_map(POLICY), content))


BASE = {"dataset": "1" * 64, "repetition": 1, "parameter/temperature": 0.7, "source/task.py": "2" * 64}


@pytest.mark.parametrize(
    ("generation", "scoring", "causes"),
    [
        ({"parameter/temperature": 0.8}, {}, ("parameter/temperature changed (was 0.7, now 0.8)",)),
        ({"parameter/top_p": 0.9}, {}, ("parameter/top_p changed (was absent, now 0.9)",)),
        ({"source/task.py": "3" * 64}, {}, ("source/task.py changed",)),
        ({}, {"artifacts/max_bytes": 9}, ("artifacts/max_bytes changed (was absent, now 9)",)),
        ({"dataset": "9" * 64}, {}, ("the order of the dataset changed",)),
    ],
)
def test_a_stale_run_names_its_cause(
    generation: dict[str, Any], scoring: dict[str, Any], causes: tuple[str, ...]
) -> None:
    was, now = with_maps(SPEC, BASE), with_maps(SPEC, BASE | generation, scoring)
    found = found_run(record(was, ALL), [now])
    assert (found.kind, found.causes) == ("stale", causes)
    assert found.redo_usd == pytest.approx(4 * 0.35)
    assert found.redo_usd == pytest.approx(1.40)


def test_a_changed_dataset_names_its_items() -> None:
    was = with_maps(SPEC, BASE)
    now = replace(
        with_maps(SPEC, BASE | {"dataset": "9" * 64}),
        items=("a", "b", "d", "e"),
        sample_digests={"a": "5" * 64, "b": "6" * 64, "d": "5" * 64, "e": "5" * 64},
    )
    assert found_run(record(was, ALL), [now]).causes == (
        "dataset item b changed",
        "dataset item c is not selected any more",
        "dataset item e is new",
    )


def test_a_changed_prompt_is_named_instead_of_every_item() -> None:
    was = with_maps(SPEC, BASE)
    changed = content_fingerprint([FileDigest("c/prompts/user.md.j2", "7" * 64, 1)])
    identity = make_identity(BASE | {"dataset": "9" * 64}, {}, judgement_map(POLICY), changed)
    now = replace(SPEC, identity=identity, sample_digests=dict.fromkeys(ITEMS, "6" * 64))
    assert found_run(record(was, ALL), [now]).causes == ("prompt user.md.j2 changed",)


def test_runs_beyond_the_plan_are_extra() -> None:
    was = with_maps(SPEC, BASE)
    other = found_run(record(was, ALL, model="model-z"), [was])
    assert (other.kind, other.causes) == ("extra", ("openai/model-z x plain is not in the plan",))
    third = with_maps(make_spec(ITEMS, repetition=3), BASE | {"repetition": 3})
    beyond = found_run(record(third, ALL), [was])
    assert (beyond.kind, beyond.causes) == ("extra", ("repetition 3 is beyond the plan",))


# --- samples and attempts ---------------------------------------------------------------------------------


def sample(item: str = "a", **fields: Any) -> SampleEvidence:
    made: dict[str, Any] = {
        "item": item,
        "scores": (SampleScore("works", 1.0, 1.0),),
        "error": None,
        "usage": Usage(input=1000, output=500),
        "stop_reason": "stop",
        "answered": True,
        "limit": None,
        "latency_ms": 5,
    }
    return SampleEvidence(**(made | fields))


@pytest.mark.parametrize(
    ("found", "error", "retryable"),
    [
        (sample(), None, False),
        (sample(limit="token"), None, False),
        (None, "MissingSample", True),
        (sample(error=Fault("ValueError", "x"), scores=()), "ValueError", True),
        (sample(error=Fault("CancelledError", ""), interrupted=True), "Interrupted", True),
        (sample(error=Fault("CancelledError", ""), in_flight=True), "Interrupted", True),
        (sample(scores=()), "MissingScore", False),
        (sample(scores=(SampleScore("works", "x", None),)), "MissingScore", False),
        (sample(scores=(SampleScore("other", 1.0, 1.0),)), "MissingScore", False),
        (sample(usage=None), "MissingUsage", False),
        (sample(calls_without_usage=1), "MissingUsage", False),
        (sample(usage=None, answered=False, stop_reason=None), None, False),
    ],
)
def test_the_verdict_on_an_item(found: SampleEvidence | None, error: str | None, retryable: bool) -> None:
    verdict = item_verdict(SPEC, found)
    assert (verdict.error and verdict.error.type, verdict.retryable) == (error, retryable)
    assert verdict.state == ("complete" if error is None else "failed")


def test_usage_is_owed_by_paid_models_alone() -> None:
    free = replace(SPEC, price=Price(0.0, 0.0, free=True))
    assert item_verdict(free, sample(usage=None, calls_without_usage=1)).state == "complete"


def test_foreign_and_repeated_samples_are_the_frameworks_fault() -> None:
    check_samples(ITEMS, ["a", "c"])
    with pytest.raises(FrameworkFault, match="'a' more than once"):
        check_samples(ITEMS, ["a", "b", "a"])
    with pytest.raises(FrameworkFault, match="'A' that this attempt did not ask"):
        check_samples(ITEMS, ["a", "A"])


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (None, "none"),
        (sample(stop_reason=None, answered=False), "none"),
        (sample(answered=False), "empty"),
        (sample(), "text"),
        (sample(stop_reason="max_tokens"), "truncated"),
        (sample(stop_reason="max_tokens", answered=False), "truncated"),
        (sample(stop_reason="model_length"), "truncated"),
        (sample(stop_reason="content_filter", answered=False), "filtered"),
        (sample(stop_reason="tool_calls"), "text"),
    ],
)
def test_kinds_of_answers(found: SampleEvidence | None, word: str) -> None:
    assert answer_state(found) == word


def test_pass_flags() -> None:
    scores = (SampleScore("works", "C", 1.0), SampleScore("extra", 0.99, 0.99), SampleScore("none", "x", None))
    made = score_records((MechanicalCheck("works", 0.5),), sample(scores=scores))
    assert {name: (one.value, one.passed, one.raw) for name, one in made.items()} == {
        "works": (1.0, True, "C"),
        "extra": (0.99, False, 0.99),
        "none": (None, False, "x"),
    }


COST = (1000 * 2.0 + 500 * 8.0) / 1e6


@pytest.mark.parametrize(
    ("state", "known", "used", "finished", "lost"),
    [
        # a finished, b in flight, c interrupted; d never began
        ("finished", True, ITEMS, ("a",), 2 * 0.1),
        ("interrupted", True, ("a",), ("a",), 2 * 0.1),
        ("died", True, ("a", "b"), ("a",), 2 * 0.1),
        ("died", False, ("a", "b"), ("a",), 2 * 0.1 + 3 * 0.35),
    ],
)
def test_closing_an_attempt(
    state: Any, known: bool, used: tuple[str, ...], finished: tuple[str, ...], lost: float
) -> None:
    samples = [
        sample("a"),
        sample("b", usage=None, in_flight=True),
        sample("c", usage=None, interrupted=True),
    ]
    closing = close_attempt(SPEC, ITEMS, samples, state, known)
    assert (closing.used, closing.finished) == (used, finished)
    assert closing.spent_usd == pytest.approx(COST)
    assert closing.lost_usd == pytest.approx(lost)


def test_a_free_attempt_loses_no_money() -> None:
    free = replace(SPEC, price=Price(0.0, 0.0, free=True))
    closing = close_attempt(free, ITEMS, [sample("a", in_flight=True)], "died", False)
    assert (closing.spent_usd, closing.lost_usd) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("status", "survived", "any_sample", "state"),
    [
        ("success", True, True, "finished"),
        ("success", False, True, "finished"),
        ("error", True, True, "finished"),
        ("error", False, True, "died"),
        ("error", True, False, "faulted"),
        ("started", True, True, "died"),
        ("started", False, False, "died"),
        ("cancelled", True, True, "interrupted"),
        ("cancelled", False, False, "interrupted"),
        (None, True, False, "faulted"),
        (None, False, False, "died"),
    ],
)
def test_how_an_attempt_ended(status: str | None, survived: bool, any_sample: bool, state: str) -> None:
    assert attempt_state(status, survived=survived, any_sample=any_sample) == state


def test_attempts_count_where_they_were_used() -> None:
    attempts = [attempt(1), attempt(2, ("b",)), attempt(3, ("b", "c"))]
    assert [attempts_used(attempts)[item] for item in ITEMS] == [1, 3, 2, 1]
