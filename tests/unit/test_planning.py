"""Planning: what a launch holds, what it may cost, and what blocks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tamesu.base.model.evidence import (
    Balance,
)
from tamesu.base.model.plan import RunSpec, SourceCopy
from tamesu.base.model.trust import Origin
from tamesu.core.matrix import Matrix
from tamesu.core.planning import Grouping, Retries, plan
from tamesu.core.scope import ALL as EVERYTHING
from tamesu.core.scope import Scope
from tamesu.core.situation import MissingCredential, Situation
from tamesu.core.slots import RunEvidence
from tests.factories import make_eval, make_spec
from tests.run_factories import ALL, FINAL, ITEMS, RETRY, evidence


def situation(found: Mapping[str, RunEvidence], **fields: Any) -> Situation:
    made: dict[str, Any] = {
        "evidence": found,
        "others": (),
        "balance": Balance(0.0, 0.0, 0.0),
        "spent": {},
        "recorded_usd": 0.0,
        "missing_credentials": (),
        "untrusted": (),
        "strays": (),
        "installed_inspect": "0.3.285",
        "pinned_inspect": "0.3.285",
    }
    return Situation(**(made | fields))


ORIGIN = Origin(
    case="a",
    marker="cases/a/.untrusted-origin",
    sha256="0" * 64,
    content_digest="1" * 64,
    source="demo.tar.gz",
    unpacked_at="2026-01-31T12:00:00Z",
    code=("cases/a/task.py", "cases/a/helper.py"),
)

RUNS = tuple(make_spec(ITEMS, model=model, repetition=rep) for model in ("model-a", "model-b") for rep in (1, 2))


def planned(
    found: Mapping[str, RunEvidence] | None = None,
    grouping: Grouping = Grouping.BATCHED,
    retries: Retries = Retries.BOUNDED,
    runs: tuple[RunSpec, ...] = RUNS,
    scope: Scope = EVERYTHING,
    **fields: Any,
) -> Any:
    evaluation = make_eval()
    evaluation = replace(evaluation, defaults=replace(evaluation.defaults, budget_usd=100.0))
    return plan(evaluation, Matrix(runs, {}), situation(found or {}, **fields), grouping, retries, scope)


def test_one_job_a_run_or_one_process_an_endpoint() -> None:
    """Where a cap lets several models be asked at a time, each gets a process of its own."""
    single, batched = planned(grouping=Grouping.SINGLE), planned()
    assert [launch.runs for launch in single.launches] == [(spec.run_id,) for spec in RUNS]
    assert [launch.runs for launch in batched.launches] == [tuple(spec.run_id for spec in RUNS)]
    capped = planned(runs=tuple(replace(spec, max_connections=20) for spec in RUNS))
    assert sorted(launch.runs for launch in capped.launches) == [
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
    ("kind", "fields", "said"),
    [
        (
            "inspect-version",
            {"installed_inspect": "0.3.999"},
            "inspect_ai 0.3.999 is installed but config/config.yaml pins 0.3.285",
        ),
        ("budget", {"balance": Balance(90.0, 2.0, 2.5)}, "exposure of up to 5.6000 USD plus 94.5000 USD"),
        (
            "credentials",
            {"missing_credentials": (MissingCredential("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),)},
            "provider google: GOOGLE_API_KEY or GEMINI_API_KEY is not set; set it in the environment or .env",
        ),
        ("ledger", {"recorded_usd": 3.5}, "runs on disk cost 3.5000 USD but ledger.jsonl knows of 0.0000; restore it"),
        (
            "untrusted",
            {"untrusted": (ORIGIN,)},
            "cases/a/.untrusted-origin: this case came from elsewhere (demo.tar.gz, unpacked 2026-01-31T12:00:00Z), "
            "and running it runs its code; review cases/a/task.py and 1 more source, then delete this file or give "
            "--trust-code",
        ),
    ],
)
def test_what_blocks(kind: str, fields: dict[str, Any], said: str) -> None:
    (blocker,) = planned(**fields).blockers
    assert said in blocker.message
    assert blocker.kind == kind


def test_a_budget_met_exactly_is_kept_and_nothing_blocks_what_is_banked() -> None:
    assert planned(balance=Balance(94.4, 0.0, 0.0)).blockers == ()
    found = {spec.run_id: evidence(spec, ALL) for spec in RUNS}
    assert planned(found, installed_inspect="0.3.999", balance=Balance(500.0, 0.0, 0.0)).blockers == ()
