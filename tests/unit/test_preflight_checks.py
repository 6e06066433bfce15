"""What the findings of a preflight mean, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import (
    Check,
    EndpointFacts,
    EngineFinding,
    EngineLoad,
    ImportFinding,
    ModelListing,
    ProbeFinding,
)
from tamesu.base.model.evidence import Usage
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import ImageReference
from tamesu.base.model.plan import Blocker, EvalPlan, FrozenDataset, Holder
from tamesu.core.preflight.answers import models_check, server_check
from tamesu.core.preflight.executed import compose_check, compose_files, data_check, images_check, import_check
from tamesu.core.preflight.lines import PAID, TITLES, failed, first_failure, in_order, not_checked, passed
from tamesu.core.preflight.pressure import (
    concurrency_check,
    idle_check,
    is_own,
    orphans_check,
    ownership_check,
    probe_timeout_seconds,
    timeout_check,
    validator_check,
)
from tamesu.core.preflight.probing import probe_check, sampling_check, variety_check
from tamesu.core.preflight.standing import allowed_check, budget_check, credentials_check, in_flight_check, lint_check
from tamesu.core.routes import Route, find_route
from tamesu.core.situation import MissingCredential
from tests.factories import REF, make_spec

SPEC = make_spec(("a", "b", "c", "d", "e"), provider="vllm", model="mine")
PROBE = ProbeFinding(True, "a" * 64, 0.4, Usage(input=9, output=1, total=10), 0.00001, (), "http")


def route(provider: str) -> Route:
    found = find_route(provider)
    assert found is not None
    return found


def plan(*blockers: Blocker) -> EvalPlan:
    return EvalPlan(REF, (), (), (), 1.5, 0.25, 20.0, blockers)


def told(check: Check) -> tuple[str, str]:
    return check.state, check.figure


class TestLines:
    def test_the_order_is_that_of_the_report_and_paid_lines_come_after_the_free_ones(self) -> None:
        names = list(TITLES)
        assert names[:4] == ["lint", "allowed", "budget", "credentials"]
        free = [name for name in names if name not in PAID and name != "data"]
        assert max(map(names.index, free)) < min(map(names.index, PAID))
        shuffled = [passed(name, "x") for name in reversed(names)]
        assert [check.name for check in in_order(shuffled)] == names

    def test_a_line_left_out_says_why(self) -> None:
        failure = failed("idle", "2 running", "wait")
        assert first_failure([passed("lint", "x"), failure]) == failure
        assert told(not_checked("probe", failure)) == ("unknown", "not checked, since 'engine is idle' failed")

    @pytest.mark.parametrize(
        "words",
        ("idle", "endpoint answers", "dry run", "owner, replicas", "in flight", "max_samples", "read back", "timeout"),
    )
    def test_every_line_of_the_reference_checklist_has_one_here(self, words: str) -> None:
        assert any(words in title for title in TITLES.values())


class TestStanding:
    def test_lint_counts_and_names_the_first_error(self) -> None:
        warning = Finding("eval.yml", 1, 1, "warning", "parameter/unknown", "odd", "fix")
        error = replace(warning, severity="error", line=7)
        assert told(lint_check([warning])) == ("pass", "0 errors, 1 warning")
        assert lint_check([warning, error]).state == "fail"
        assert "eval.yml:7:1" in lint_check([warning, error]).figure

    def test_each_blocker_has_one_line(self) -> None:
        draft, budget = Blocker("draft", "eval.yml: is a draft; activate it"), Blocker("budget", "too much; plan less")
        assert told(allowed_check([budget])) == ("pass", "active, of the pinned version, reviewed")
        found = allowed_check([budget, draft])
        assert (found.state, found.figure, found.fix) == ("fail", "eval.yml: is a draft", "activate it")

    def test_the_budget_tells_all_four_amounts(self) -> None:
        figure = "up to 0.0000 USD owed, 1.5000 spent, 0.2500 reserved, budget 20.0000"
        assert told(budget_check(plan())) == ("pass", figure)
        assert budget_check(plan(Blocker("budget", "exceeds; plan less"))).state == "fail"

    def test_credentials_are_told_by_name(self) -> None:
        missing = MissingCredential("openai", ("OPENAI_API_KEY",))
        assert told(credentials_check(route("openai"), "OPENAI_API_KEY", ())) == ("pass", "OPENAI_API_KEY is set")
        assert told(credentials_check(route("vllm"), None, ())) == ("pass", "provider vllm needs none")
        found = credentials_check(route("openai"), None, (missing,))
        assert told(found) == ("fail", "OPENAI_API_KEY is not set")

    def test_an_edit_under_a_run_in_flight_is_told(self) -> None:
        edit = Finding("prompts/user.md", 1, 1, "warning", "run/edited-in-flight", "was edited", "wait")
        assert told(in_flight_check([], ())) == ("pass", "no run of this eval is in flight")
        assert in_flight_check([], ("r",)).state == "pass"
        found = in_flight_check([edit], ("r",))
        assert found.state == "unknown"
        assert found.figure.startswith("prompts/user.md: edited under 1 run in flight")


class TestPressure:
    def test_the_probe_waits_for_an_orphan_and_for_its_own_turn(self) -> None:
        assert probe_timeout_seconds(replace(SPEC, timeout_seconds=300)) == 600
        assert probe_timeout_seconds(replace(SPEC, timeout_seconds=20)) == 120
        assert told(timeout_check(SPEC)) == ("pass", "600 s: twice timeout_seconds 300, at least 120")

    def test_c24_what_the_limit_covers_is_told(self) -> None:
        capped = concurrency_check(replace(SPEC, max_connections=10), 4)
        assert capped.figure == (
            "4 samples and as many connections at once, adaptive off; at most 10 over all runs and jobs; "
            "the last run reached 4"
        )
        assert concurrency_check(SPEC, None).figure.endswith("one run at a time there; not measured yet")

    def test_a_run_that_reached_less_than_configured_is_told(self) -> None:
        found = concurrency_check(SPEC, 1)
        assert (found.state, found.data["measured"]) == ("unknown", 1)
        assert "one container serves at once before adding replicas" in (found.fix or "")

    @pytest.mark.parametrize(
        ("facts", "state", "figure"),
        [
            (EndpointFacts("vllm"), "unknown", "not stated: owner, shared, replicas, requests_per_replica"),
            (
                EndpointFacts("vllm", owner="ada", replicas=1),
                "unknown",
                "run by ada, 1 replica; not stated: shared, requests_per_replica",
            ),
            (
                EndpointFacts("vllm", None, "ada", True, 1, 1),
                "unknown",
                "run by ada, shared, 1 replica, 1 request each: 1 served at once, 4 sent; "
                "3 wait in front of it and behind others'",
            ),
            (
                EndpointFacts("vllm", None, "us", False, 2, 2),
                "pass",
                "run by us, not shared, 2 replicas, 2 requests each: 4 served at once, 4 sent",
            ),
        ],
    )
    def test_ownership(self, facts: EndpointFacts, state: str, figure: str) -> None:
        assert told(ownership_check(True, facts, 4, 2)) == (state, figure)

    def test_a_shared_endpoint_is_a_matter_of_agreement(self) -> None:
        found = ownership_check(True, EndpointFacts("vllm", None, "ada", True, 1, 1), 4, 2)
        assert "agree with its owner" in (found.fix or "")
        assert ownership_check(False, EndpointFacts("openai"), 4, 2).state == "pass"

    @pytest.mark.parametrize(
        ("finding", "state", "figure"),
        [
            (EngineFinding(EngineLoad(0, 0), 0.0), "pass", "0 running, 0 waiting"),
            (EngineFinding(EngineLoad(0, 0), 12.4), "pass", "0 running, 0 waiting after 12 s"),
            (EngineFinding(EngineLoad(0, 2), 0.0), "fail", "0 running, 2 waiting"),
            (EngineFinding(None, 0.0), "unknown", "it tells no load; what runs on it is not known"),
            (
                EngineFinding(None, 0.0, "takes no connection"),
                "unknown",
                "it takes no connection; what runs on it is not known",
            ),
        ],
    )
    def test_idle(self, finding: EngineFinding, state: str, figure: str) -> None:
        assert told(idle_check(True, finding)) == (state, figure)

    def test_orphans(self) -> None:
        busy = idle_check(True, EngineFinding(EngineLoad(1, 0), 0.0))
        holder = Holder(12, "host", "2026-01-01T00:00:00+00:00")
        assert orphans_check(True, holder, busy).state == "unknown"
        assert "process 12 on host" in orphans_check(True, holder, busy).figure
        assert orphans_check(True, None, busy).state == "fail"
        assert orphans_check(True, None, idle_check(True, None)).state == "unknown"
        assert orphans_check(False, None, idle_check(False, None)).state == "pass"

    def test_which_endpoint_is_one_of_our_own(self) -> None:
        assert is_own(route("vllm"), "http://gpu-1/v1")
        assert is_own(route("openai"), "http://gpu-1/v1")
        assert not is_own(route("openai"), "https://api.openai.com/v1")
        assert not is_own(route("anthropic"), "http://gpu-1")

    def test_the_validator_says_where_it_looks(self) -> None:
        assert "at the HTTP client" in validator_check(route("openai"), ()).figure
        assert "its client returns" in validator_check(route("bedrock"), ()).figure
        assert validator_check(route("openai"), ("internal_tools",)).figure.endswith(
            "internal_tools travels in no request"
        )


class TestModels:
    def test_c34_another_model_is_refused_with_the_nearest_names(self) -> None:
        found = models_check(replace(SPEC, model="base-ft2"), ModelListing("listed", ("base", "other")))
        assert told(found) == ("fail", "lists 2 models, not 'base-ft2'; near: base")

    def test_the_model_is_among_them(self) -> None:
        listing = ModelListing("listed", (*(f"m{n}" for n in range(36)), "mine"))
        assert told(models_check(SPEC, listing)) == ("pass", "lists 37 models, this one among them")

    @pytest.mark.parametrize(
        ("provider", "model", "listed", "state"),
        [
            ("anthropic", "claude-x-1", "claude-x-1-20250101", "pass"),
            ("vllm", "claude-x-1", "claude-x-1-20250101", "fail"),
            ("openai-api/local", "base", "org/base", "fail"),
            ("openrouter", "org/m:free", "org/m", "pass"),
            ("openrouter", "org/m:free", "org/n", "fail"),
        ],
    )
    def test_aliases(self, provider: str, model: str, listed: str, state: str) -> None:
        spec = replace(SPEC, provider=provider, model=model)
        assert models_check(spec, ModelListing("listed", (listed,))).state == state

    @pytest.mark.parametrize(
        ("state", "expected", "says"),
        [
            ("unasked", "unknown", "why"),
            ("absent", "unknown", "lists no models"),
            ("refused", "fail", "refuses the key"),
            ("warming", "fail", "is not ready after 30 s"),
            ("broken", "fail", "why"),
        ],
    )
    def test_what_else_an_endpoint_says(self, state: str, expected: str, says: str) -> None:
        found = models_check(SPEC, ModelListing(state, detail="why", waited_seconds=30.0))  # type: ignore[arg-type]
        assert found.state == expected
        assert says in found.figure

    def test_c33_fields_left_to_the_server_are_named(self) -> None:
        spec = replace(SPEC, parameters={"temperature": 1.0})
        entry: dict[str, Json] = {"id": "mine", "max_model_len": 4096}
        found = server_check(spec, True, "0.11.0", entry)
        assert told(found) == (
            "unknown",
            "version 0.11.0, max_model_len 4096; top_p, top_k left to defaults that it does not tell",
        )
        assert found.data == {"version": "0.11.0", "entry": entry, "left_to_server": ["top_p", "top_k"]}
        meant = replace(SPEC, parameters={"temperature": 1.0, "top_p": "provider-default", "top_k": 50})
        assert told(server_check(meant, True, "0.11.0", {})) == ("pass", "version 0.11.0; top_p left to it on purpose")


class TestExecuted:
    def test_import(self) -> None:
        assert import_check(ImportFinding(True)).state == "pass"
        assert told(import_check(ImportFinding(False, "No module named 'helper'"))) == (
            "fail",
            "No module named 'helper'",
        )
        broken = import_check(ImportFinding(False, "task.py: SyntaxError: invalid syntax (task.py, line 3)"))
        assert broken.fix == "correct the task"
        found = import_check(ImportFinding(True, None, ("/a", "/b", "/c", "/d")))
        assert told(found) == ("unknown", "imports; reads 4 files outside its copy: /a, /b, /c and 1 more")
        assert import_check(None).state == "unknown"

    def test_compose(self) -> None:
        names = ["task.py", "compose.yaml", "box/docker-compose.yml", "x-compose.yml", "compose.lock.yml", "data.yml"]
        assert compose_files(names) == ("compose.yaml", "box/docker-compose.yml", "x-compose.yml")
        assert compose_check({}).state == "pass"
        assert told(compose_check({"compose.yaml": None, "b.yml": "no such variable"})) == (
            "fail",
            "b.yml: no such variable",
        )

    def test_images(self) -> None:
        spec = replace(SPEC, images=(ImageReference("compose.yaml", "python:3"),))
        found: Mapping[str, str] = {"python:3": "sha256:1"}
        assert told(images_check(spec, found, None)) == ("pass", "1 image here, verified")
        assert told(images_check(spec, {}, None)) == ("unknown", "0 of 1 here; not here: python:3")
        assert images_check(spec, {}, "is another one; pull it").fix == "pull it"

    def test_the_identity_is_published(self) -> None:
        found = data_check(SPEC, FrozenDataset((), "0123456789abcdef"), None)
        assert told(found) == ("pass", f"{SPEC.run_id}, 0 items, dataset 0123456789ab")


class TestProbe:
    def test_an_answer(self) -> None:
        assert told(probe_check(PROBE, 600)) == ("pass", "answered in 0.4 s, 9 + 1 tokens, 0.000010 USD")
        assert probe_check(replace(PROBE, usage=None, cost_usd=None), 600).state == "unknown"
        silent = replace(PROBE, answered=False, error="model not found")
        assert told(probe_check(silent, 600)) == ("fail", "model not found")

    def test_a_declared_field_that_does_not_reach_the_wire_is_refused(self) -> None:
        found = sampling_check(SPEC, replace(PROBE, problems=("top_k was declared and not sent", "b")))
        assert told(found) == ("fail", "top_k was declared and not sent (and 1 more)")
        spec = replace(SPEC, parameters={"temperature": 1.0, "max_tokens": 800})
        assert told(sampling_check(spec, PROBE)) == ("pass", "temperature 1.0; seen at the HTTP client")

    @pytest.mark.parametrize(
        ("parameters", "texts", "state", "figure"),
        [
            ({"temperature": 1.0}, "aaaaa", "fail", "identical outputs at temperature 1.0 (5 of 5)"),
            ({"temperature": 1.0}, "aabaa", "pass", "2 different outputs of 5 at temperature 1.0"),
            ({"temperature": 1.0}, "aa", "unknown", "identical outputs at temperature 1.0 (2 of 2)"),
            (
                {"temperature": 1.0, "seed": 1},
                "aaa",
                "unknown",
                "identical outputs at temperature 1.0 (3 of 3), with a seed declared",
            ),
            ({}, "aaa", "unknown", "identical outputs at the server's own temperature (3 of 3)"),
            ({"temperature": 0}, "aaa", "pass", "temperature 0: equal outputs are what is declared"),
            ({"temperature": 1.0}, "", "unknown", "not tried; --probes 5 asks as often"),
        ],
    )
    def test_c33_high_temperature_changes_the_output(
        self, parameters: Mapping[str, Json], texts: str, state: str, figure: str
    ) -> None:
        spec = replace(SPEC, parameters=parameters)
        assert told(variety_check(spec, [replace(PROBE, text_sha256=text * 64) for text in texts])) == (state, figure)
