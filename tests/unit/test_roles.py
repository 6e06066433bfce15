"""Further models by role: what is at stake, what a sample cost, whose request a line of the wire is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamesu.base.model.evidence import ModelShare, SampleEvidence, SampleScore, Usage
from tamesu.base.model.plan import Price, RoleRun, RunSpec
from tamesu.base.model.wire import ModelCalls, WireReply, WireRequest
from tamesu.core.attempts import close_attempt
from tamesu.core.pricing import known_sample_cost, run_sample_cost, unstated_calls
from tamesu.core.roles import as_run, models_of
from tamesu.core.verdict import item_verdict
from tamesu.core.wire import check_wire, unanswered_calls, unanswered_role_calls
from tests.factories import make_spec

OWN, GRADER = Price(1.0, 4.0), Price(10.0, 50.0)
FREE = Price(0.0, 0.0, free=True)
RENTED = Price(0.0, 0.0, usd_per_hour=36.0)


def role(price: Price | None = GRADER, largest: float | None = 0.02) -> RoleRun:
    return RoleRun(
        role="grader",
        provider="openai",
        model="judge",
        model_uri="openai/judge",
        base_url_origin=None,
        parameters={"max_tokens": 50},
        recordings=None,
        max_connections=1,
        price=price,
        largest_call_usd=largest,
    )


def spec(own: Price | None = OWN, largest: float | None = 0.01, *roles: RoleRun) -> RunSpec:
    made = replace(make_spec(("a", "b")), provider="openai", model="answerer", model_uri="openai/answerer")
    return replace(
        made, price=own, largest_call_usd=largest, parameters={"max_tokens": 100}, roles=roles, concurrency=2
    )


def sample(own: Usage | None, grader: Usage | None, silent: int = 0, latency_ms: int = 1000) -> SampleEvidence:
    shares = {"openai/answerer": ModelShare(own), "openai/judge": ModelShare(grader, silent)}
    return SampleEvidence(
        item="a",
        scores=(SampleScore("works", 1.0, 1.0),),
        error=None,
        usage=own,
        stop_reason="stop",
        answered=True,
        limit=None,
        latency_ms=latency_ms,
        calls_without_usage=silent,
        shares=shares,
    )


THOUSAND = Usage(input=1000, output=100, total=1100)


class TestExposure:
    def test_scoring_may_cost_the_limit_once_more_and_the_dearest_call_trips_it(self) -> None:
        assert spec().exposure_usd(2) == pytest.approx(2 * (0.25 + 0.01))
        assert spec(OWN, 0.01, role()).exposure_usd(2) == pytest.approx(2 * 2 * (0.25 + 0.02))

    def test_a_paid_grader_makes_a_free_run_paid(self) -> None:
        assert not spec(FREE, 0.0).paid
        graded = spec(FREE, 0.0, role())
        assert (graded.paid, graded.priced_by_tokens, graded.own_tokens_paid) == (True, True, False)
        assert graded.exposure_usd(1) == pytest.approx(2 * 0.27)

    def test_rent_and_tokens_add_up(self) -> None:
        rented = spec(RENTED, 9.0)
        assert rented.exposure_usd(3) == pytest.approx(2 * 9.0)
        assert spec(RENTED, 9.0, role()).exposure_usd(3) == pytest.approx(2 * 9.0 + 2 * 3 * 0.27)

    def test_an_unbounded_grader_leaves_it_unknown(self) -> None:
        assert spec(OWN, 0.01, role()).bounded
        assert not spec(OWN, 0.01, role(GRADER, None)).bounded
        assert spec(OWN, 0.01, role(FREE, None)).bounded


class TestCost:
    def test_each_model_counts_at_its_own_price(self) -> None:
        cost = run_sample_cost(spec(OWN, 0.01, role()), sample(THOUSAND, THOUSAND), 1)
        assert cost == pytest.approx((1000 + 400 + 10_000 + 5000) / 1e6)
        assert run_sample_cost(spec(FREE, 0.0, role()), sample(None, THOUSAND), 1) == pytest.approx(0.015)
        assert run_sample_cost(spec(OWN, 0.01, role(FREE)), sample(THOUSAND, None), 1) == pytest.approx(0.0014)

    def test_rent_runs_by_the_clock_beside_tokens(self) -> None:
        cost = run_sample_cost(spec(RENTED, 9.0, role()), sample(THOUSAND, THOUSAND), 2)
        assert cost == pytest.approx(36.0 / 3600 / 2 + 0.015)

    @pytest.mark.parametrize(
        ("graded", "cost"),
        [(spec(OWN, 0.01, role()), None), (spec(OWN, 0.01, role(None)), None), (spec(None, None, role()), None)],
    )
    def test_what_is_not_known_is_never_zero(self, graded: RunSpec, cost: None) -> None:
        assert run_sample_cost(graded, sample(THOUSAND, None, silent=1), 1) is cost

    def test_a_grader_without_usage_hides_nothing_that_the_answer_cost(self) -> None:
        """The budget counts what is known, and the silent call at its upper bound besides."""
        graded, silent = spec(OWN, 0.01, role()), sample(THOUSAND, None, silent=1)
        assert known_sample_cost(graded, silent, 1) == pytest.approx(0.0014)
        closing = close_attempt(graded, ("a",), [silent], "finished", in_flight_known=True)
        assert (closing.spent_usd, closing.lost_usd) == (pytest.approx(0.0014), pytest.approx(0.02))
        impossible = replace(silent, usage_problem="input -5")
        assert known_sample_cost(graded, impossible, 1) == 0.0

    def test_only_paid_models_must_state_usage(self) -> None:
        silent = sample(THOUSAND, None, silent=2)
        assert unstated_calls(spec(OWN, 0.01, role()), silent) == 2
        assert unstated_calls(spec(OWN, 0.01, role(FREE)), silent) == 0
        paid = item_verdict(spec(OWN, 0.01, role()), silent)
        assert (paid.state, paid.error and paid.error.type) == ("failed", "MissingUsage")
        assert item_verdict(spec(OWN, 0.01, role(FREE)), silent).state == "complete"


def request(number: int, role: str | None, **parameters: object) -> WireRequest:
    model = "judge" if role else "answerer"
    return WireRequest(
        number, 1, "", "http", "/v1/chat/completions", "a", number, model, parameters, {"messages": "0" * 64}, role=role
    )  # type: ignore[arg-type]


def reply(number: int, model: str) -> WireReply:
    return WireReply(number, 1, "", 200, model, 0.1)


class TestWire:
    GRADED = spec(OWN, 0.01, role())

    def test_each_request_is_compared_with_its_own_plan(self) -> None:
        requests = [request(1, None, max_tokens=100), request(2, "grader", max_tokens=50)]
        replies = [reply(1, "answerer"), reply(2, "judge")]
        calls = ModelCalls({"a": 1}, {}, {"grader": {"a": 1}})
        checked = check_wire(self.GRADED, requests, replies, calls)
        assert (checked.differences, checked.requests, checked.served) == ((), 2, {"answerer": 1, "judge": 1})
        swapped = [replace(requests[0], role="grader"), replace(requests[1], role=None)]
        found = {(one.kind, one.name) for one in check_wire(self.GRADED, swapped, replies, calls).differences}
        assert found == {
            ("sent otherwise", "model"),
            ("sent otherwise", "max_tokens"),
            ("sent otherwise", "grader: model"),
            ("sent otherwise", "grader: max_tokens"),
        }

    def test_answers_of_a_grader_without_a_request_are_told(self) -> None:
        calls = ModelCalls({}, {}, {"grader": {"a": 1}})
        found = check_wire(self.GRADED, [], [], calls).differences
        assert [(one.kind, one.name, one.requests) for one in found] == [("unseen", "grader: answers", 1)]

    def test_a_recorded_run_with_a_live_grader_is_checked_for_the_grader_alone(self) -> None:
        recorded = replace(self.GRADED, provider="replay")
        calls = ModelCalls({"a": 1}, {"openai/third": 2}, {"grader": {"a": 1}})
        checked = check_wire(recorded, [request(1, "grader", max_tokens=50)], [reply(1, "judge")], calls)
        assert [str(one) for one in checked.differences] == [
            "model openai/third was called, which the plan does not name (2 requests)"
        ]

    def test_an_unanswered_request_of_a_grader_is_lost_once_at_the_dearest_call(self) -> None:
        requests = [request(1, None), request(2, "grader")]
        replies, calls = [reply(1, "answerer")], ModelCalls({"a": 1}, {}, {"grader": {}})
        own, graders = unanswered_calls(requests, replies, calls), unanswered_role_calls(requests, replies, calls)
        assert (own, graders) == ({"a": 0}, {"a": 1})
        cut = replace(sample(THOUSAND, None), in_flight=True)
        closing = close_attempt(self.GRADED, ("a",), [cut], "died", True, 1.0, own, graders)
        assert (closing.calls_lost, closing.lost_usd, closing.used) == (1, 0.02, ("a",))


def test_every_model_is_seen_as_a_run_of_its_own() -> None:
    graded = spec(OWN, 0.01, role())
    own, grader = models_of(graded)
    assert (own.model, own.roles, grader.model, grader.parameters, grader.concurrency) == (
        "answerer",
        (),
        "judge",
        {"max_tokens": 50},
        1,
    )
    assert (grader.run_id, grader.items, grader.exposure_usd(1)) == (graded.run_id, graded.items, 0.27)
    stated = replace(graded, options={"model_args": {"a": 1}, "tags": ["x"]})
    assert as_run(stated, role()).options == {"tags": ["x"]}
