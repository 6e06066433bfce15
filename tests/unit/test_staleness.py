"""Staleness: why a run on disk serves no slot, what redoing costs, and what is cheaper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.plan import Price, RunSpec, Slot
from tamesu.core.identity import content_fingerprint, judgement_map, make_identity
from tamesu.core.slots import NOTHING, slot
from tamesu.core.staleness import found_run
from tests.factories import POLICY, make_spec
from tests.run_factories import ALL, DONE, ITEMS, SPEC, evidence, record


def owed(spec: RunSpec) -> Slot:
    return slot(spec, NOTHING)


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
    found = found_run(record(was, ALL), [owed(now)])
    assert (found.kind, found.causes) == ("stale", causes)
    assert found.redo_usd == pytest.approx(4 * 0.35)
    assert found.remedy.endswith(", for nothing; or redo for up to 1.4000 USD")


@pytest.mark.parametrize(
    ("generation", "undo"),
    [
        ({"parameter/temperature": 0.8}, "set parameter/temperature back to 0.7"),
        ({"parameter/top_p": 0.9}, "set parameter/top_p back to nothing (remove it)"),
        ({"inspect_version": "0.3.999"}, "set inspect_version back to nothing (remove it)"),
        (
            {"parameter/temperature": 0.8, "source/task.py": "3" * 64},
            "set parameter/temperature back to 0.7 and put task.py back",
        ),
    ],
)
def test_undoing_is_the_cheapest_remedy(generation: dict[str, Any], undo: str) -> None:
    was, now = with_maps(SPEC, BASE), with_maps(SPEC, BASE | generation)
    assert found_run(record(was, ALL), [owed(now)]).remedy.partition(", for nothing")[0] == undo


def test_a_changed_file_is_named_in_the_remedy() -> None:
    was = with_maps(SPEC, BASE)
    content = content_fingerprint([FileDigest("c/prompts/user.md.j2", "7" * 64, 1), FileDigest("c/eval.yml", "1", 1)])
    now = replace(SPEC, identity=make_identity(BASE | {"dataset": "9" * 64}, {}, judgement_map(POLICY), content))
    assert found_run(record(was, ALL), [owed(now)]).remedy.startswith("put user.md.j2 back, for nothing")


def test_redoing_is_priced_by_what_the_slot_still_owes() -> None:
    """Half redone costs half; redone already costs nothing and needs nothing."""
    was, now = with_maps(SPEC, BASE), with_maps(SPEC, BASE | {"parameter/temperature": 0.8})
    half = slot(now, evidence(now, {"a": DONE, "b": DONE}))
    assert found_run(record(was, ALL), [half]).redo_usd == pytest.approx(2 * 0.35)
    redone = found_run(record(was, ALL), [slot(now, evidence(now, ALL))])
    assert (redone.redo_usd, redone.remedy) == (0.0, "redone already; kept")


def test_a_free_model_is_redone_for_nothing() -> None:
    free = replace(SPEC, price=Price(0.0, 0.0, free=True))
    was, now = with_maps(free, BASE), with_maps(free, BASE | {"parameter/temperature": 0.8})
    assert found_run(record(was, ALL), [owed(now)]).remedy.endswith("for nothing; or redo for nothing")


def test_a_changed_dataset_names_its_items() -> None:
    was = with_maps(SPEC, BASE)
    now = replace(
        with_maps(SPEC, BASE | {"dataset": "9" * 64}),
        items=("a", "b", "d", "e"),
        sample_digests={"a": "5" * 64, "b": "6" * 64, "d": "5" * 64, "e": "5" * 64},
    )
    assert found_run(record(was, ALL), [owed(now)]).causes == (
        "dataset item b changed",
        "dataset item c is not selected any more",
        "dataset item e is new",
    )


def test_a_changed_prompt_is_named_instead_of_every_item() -> None:
    was = with_maps(SPEC, BASE)
    changed = content_fingerprint([FileDigest("c/prompts/user.md.j2", "7" * 64, 1)])
    identity = make_identity(BASE | {"dataset": "9" * 64}, {}, judgement_map(POLICY), changed)
    now = replace(SPEC, identity=identity, sample_digests=dict.fromkeys(ITEMS, "6" * 64))
    assert found_run(record(was, ALL), [owed(now)]).causes == ("prompt user.md.j2 changed",)


def test_runs_beyond_the_plan_are_extra() -> None:
    was = with_maps(SPEC, BASE)
    other = found_run(record(was, ALL, model="model-z"), [owed(was)])
    assert (other.kind, other.causes) == ("extra", ("openai/model-z x plain is not in the plan",))
    third = with_maps(make_spec(ITEMS, repetition=3), BASE | {"repetition": 3})
    beyond = found_run(record(third, ALL), [owed(was)])
    assert (beyond.kind, beyond.causes) == ("extra", ("repetition 3 is beyond the plan",))


SCHEMA = {"type": "object", "properties": {"queue": {"enum": ["billing", "access"]}, "urgent": {"type": "boolean"}}}
OTHER = {**SCHEMA, "properties": {**SCHEMA["properties"], "queue": {"enum": ["billing"]}}}
PICTURE = ["a" * 64, {"role": "product", "detail": True}]


@pytest.mark.parametrize(
    ("name", "was", "now", "cause", "undo"),
    [
        (
            "output_schema", SCHEMA, OTHER,
            'output_schema changed at properties.queue.enum (was ["billing", "access"], now ["billing"])',
            "put the output schema back",
        ),
        (
            "output_schema", SCHEMA, None, 'output_schema changed (was {"type": "object", "properties": {"queue": ',
            "put the output schema back",
        ),
        ("reference/1", PICTURE, ["b" * 64, PICTURE[1]], "reference/1 changed (another picture)", "put the reference"),
        (
            "reference/1", PICTURE, ["a" * 64, {"role": "product", "detail": False}],
            "reference/1 changed (detail was true, now false)", "put the reference back",
        ),
        ("parameter/stop", ["a", None], ["b"], 'parameter/stop changed (was ["a", null], now ["b"])', 'to ["a", null]'),
        ("parameter/flag", True, False, "parameter/flag changed (was true, now false)", "parameter/flag back to true"),
    ],
)  # fmt: skip
def test_a_cause_speaks_as_a_manifest_does(name: str, was: Any, now: Any, cause: str, undo: str) -> None:
    before, after = with_maps(SPEC, BASE | {name: was}), with_maps(SPEC, BASE | {name: now})
    found = found_run(record(before, ALL), [owed(after)])
    (told,) = found.causes
    assert told.startswith(cause)
    assert undo in found.remedy
    assert not set("'") & set(told + found.remedy)


@pytest.mark.parametrize("folder", ["responses", "outputs", "texts"])
def test_a_prompt_in_a_folder_of_any_name_is_named_instead_of_every_item(folder: str) -> None:
    def content(sha256: str) -> Any:
        return content_fingerprint([FileDigest(f"c/experiments/e/{folder}/user.md.j2", sha256, 1)])

    first = replace(SPEC, identity=make_identity(BASE, {}, judgement_map(POLICY), content("1" * 64)))
    identity = make_identity(BASE | {"dataset": "9" * 64}, {}, judgement_map(POLICY), content("7" * 64))
    now = replace(SPEC, identity=identity, sample_digests=dict.fromkeys(ITEMS, "6" * 64))
    assert found_run(record(first, ALL), [owed(now)]).causes == ("prompt user.md.j2 changed",)
