"""A config is not what was sent: what tasks, clients and endpoints do otherwise is drift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tamesu.base.errors import EvidenceError
from tamesu.edge.store.wire import read_wire
from tests.live import Model, item, make, task_with
from tests.live_runs.attempt_lab import attempt, attempted, by_item, differences, states, the_attempt
from tests.servers import ModelServer, Reply

GPT = Model("openai", "gpt-4o", {"temperature": 0.2})


def own(call: str) -> str:
    return task_with(f"""
        @solver
        def own():
            return generate({call})
    """)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("temperature=0.9", [("sent otherwise", "temperature", 2)]),
        ("seed=7", [("not declared", "seed", 2)]),
        ("extra_body={'min_p': 0.3, 'deep': {'k': 1}}", [("not declared", "min_p", 2), ("not declared", "deep.k", 2)]),
        ("extra_body={'temperature': 0.7}", [("sent otherwise", "temperature", 2)]),
    ],
)
def test_a_solver_that_sends_other_parameters_makes_the_run_drift(
    tmp_path: Path, call: str, expected: list[tuple[str, str, int]]
) -> None:
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [GPT], items=2, task=own(call))
        assert differences(the_attempt(project)) == expected
        assert states(project) == {"gpt-4o": "drifted"}
        assert len(server.asked) == 2


def test_a_drifted_run_is_kept_and_told_and_not_banked(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [GPT], items=1, task=own("temperature=0.9"))
        assert attempt(project).error is None
        assert len(server.asked) == 1, "what drifted is not paid for again by itself"
    (found,) = the_attempt(project)["wire"]["differences"]
    assert found["detail"] == "was sent as temperature 0.9, planned was temperature 0.2"
    assert found["example"] == item(1)
    assert project.results()[item(1)]["scores"]["includes"]["value"] == 1.0


@pytest.mark.parametrize(
    ("model", "dropped"),
    [
        (Model("anthropic", "claude-sonnet-4-5", {"seed": 3, "temperature": 0.3}), ["seed"]),
        (Model("openai", "gpt-5-mini", {"top_k": 3, "seed": 4, "stop_seqs": ["x"]}), ["seed", "stop_seqs", "top_k"]),
        (Model("mistral", "mistral-large-latest", {"top_k": 3, "seed": 4}), ["top_k"]),
        (Model("google", "gemini-2.5-flash", {"seed": 3, "top_k": 4}), ["seed"]),
    ],
    ids=lambda value: value.name if isinstance(value, Model) else None,
)
def test_what_a_client_drops_is_named(tmp_path: Path, model: Model, dropped: list[str]) -> None:
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [model], checked=False, items=1)
    assert sorted(differences(the_attempt(project))) == [("not sent", name, 1) for name in dropped]


def test_served_by_another_model_and_by_two(tmp_path: Path) -> None:
    snapshots = {1: Reply(model="gpt-4o-2024-08-06"), 2: Reply(model="gpt-4o-2024-11-20")}
    with ModelServer(by_item({1: Reply(model="gpt-4o-mini")}, Reply(model="gpt-4o-mini"))) as server:
        other = attempted(tmp_path / "other", server, [GPT], items=1)
    with ModelServer(Reply(model="gpt-4o-2024-08-06")) as server:
        dated = attempted(tmp_path / "dated", server, [GPT], items=1)
    with ModelServer(by_item(snapshots)) as server:
        two = attempted(tmp_path / "two", server, [GPT], items=2)
    assert differences(the_attempt(other)) == [("served by another model", "model", 1)]
    assert the_attempt(other)["wire"]["served"] == {"gpt-4o-mini": 1}
    assert differences(the_attempt(dated)) == [] and states(dated) == {"gpt-4o": "banked"}
    assert differences(the_attempt(two)) == [("served by another model", "model", 1)]
    assert "gpt-4o-2024-08-06 and gpt-4o-2024-11-20" in the_attempt(two)["wire"]["differences"][0]["detail"]


def test_a_model_of_the_tasks_own_is_drift_whether_it_answers_or_not(tmp_path: Path) -> None:
    task = task_with("""
        import asyncio

        @solver
        def own():
            async def solve(state, generate):
                other = get_model(
                    "openai/gpt-4o-mini", base_url=state.metadata.get("url", "URL"), api_key="of-its-own",
                    config=GenerateConfig(max_retries=0),
                )
                try:
                    await other.generate(state.input_text)
                except Exception:
                    pass
                return await generate(state)
            return solve
    """)
    with ModelServer() as server:
        answers = attempted(tmp_path / "a", server, [GPT], items=1, task=task.replace("URL", f"{server.url}/v1"))
        assert len(server.asked) == 2
        dead = attempted(tmp_path / "b", server, [GPT], items=1, task=task.replace("URL", "http://127.0.0.1:9/v1"))
    for project in (answers, dead):
        assert ("not declared", "model", 1) in differences(the_attempt(project))
        assert "openai/gpt-4o-mini was called" in str(the_attempt(project)["wire"]["differences"])


def test_a_call_beside_the_plans_client_is_unseen(tmp_path: Path) -> None:
    task = task_with("""
        @solver
        def own():
            async def solve(state, generate):
                twin = get_model("openai/gpt-4o", base_url="URL", api_key="of-its-own")
                state.output = await twin.generate(state.input_text)
                return state
            return solve
    """)
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [GPT], items=2, task=task.replace("URL", f"{server.url}/v1"))
    assert differences(the_attempt(project)) == [("unseen", "answers", 2)]


def test_the_unlogged_probe_of_reasoning_summaries_is_never_sent(tmp_path: Path) -> None:
    task = task_with("""
        @solver
        def own():
            async def solve(state, generate):
                state.output = await get_model().generate(state.input_text)
                return state
            return solve
    """)
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [Model("openai", "gpt-5-mini")], items=2, task=task)
        assert [request.path for request in server.calls] == ["/v1/responses"] * 2
    assert differences(the_attempt(project)) == []


def test_provider_default_leaves_a_field_out_and_undeclared_names_ride_along(tmp_path: Path) -> None:
    models = [
        Model("openai", "gpt-4o", {"temperature": "provider-default"}),
        Model("vllm", "base", {"min_p": 0.1, "chat_template_kwargs": {"enable_thinking": False}}),
    ]
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, models, items=1)
        bodies = {asked.model: asked.body for asked in server.asked}
    assert "temperature" not in bodies["gpt-4o"]
    assert bodies["base"]["min_p"] == 0.1 and bodies["base"]["chat_template_kwargs"] == {"enable_thinking": False}
    assert [differences(record) for record in project.attempts()] == [[], []]


def test_the_record_of_what_left_holds_no_text_and_no_header(tmp_path: Path) -> None:
    task = own("extra_body={'suffix': 'a private suffix', 'metadata': {'who': 'somebody'}}")
    with ModelServer(Reply(text="a private answer 4", headers={"x-request-id": "r-1"})) as server:
        project = attempted(tmp_path / "p", server, [GPT], items=2, task=task)
        assert all(request.headers["authorization"] == f"Bearer {project.key}" for request in server.calls)
    lines = project.wire()
    text = json.dumps(lines)
    for private in ("what is 2", "private", "somebody", project.key, "Bearer", "authorization"):
        assert private.lower() not in text.lower(), private
    sent = [line for line in lines if line["event"] == "sent"]
    assert [line["parameters"]["temperature"] for line in sent] == [0.2, 0.2]
    assert {line["item"] for line in sent} == {item(1), item(2)}
    assert [line["request_id"] for line in lines if line["event"] == "answered"] == ["r-1", "r-1"]


def test_a_torn_last_line_is_read_past(tmp_path: Path) -> None:
    with ModelServer(by_item({1: [Reply(status=500, body=b"{}"), Reply()]})) as server:
        project = make(tmp_path / "p", server.url, [GPT], items=2)
        assert attempt(project).error is None
        (wire,) = project.eval.glob("runs/*/wire.jsonl")
        whole = wire.read_bytes()
        wire.write_bytes(whole + b'{"id": 9, "attempt": 2, "ti')
        assert attempt(project).error is None
        assert states(project) == {"gpt-4o": "banked"}
        assert [len(record["asked"]) for record in project.attempts()] == [2, 1]
        assert project.attempts()[1]["wire"]["requests"] == 1


def test_requests_that_were_altered_afterwards_make_no_evidence(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [GPT], items=2)
    assert states(project) == {"gpt-4o": "banked"}
    (wire,) = project.eval.glob("runs/*/wire.jsonl")
    whole = wire.read_bytes()
    assert whole.count(b'"temperature":0.2') == 2
    wire.write_bytes(whole.replace(b'"temperature":0.2', b'"temperature":0.3', 1))
    done = project.live("status", "--check")
    assert done.code == 1
    assert "wire.jsonl: differs from what attempt 1 recorded; restore it from version control" in done.out
    assert states(project)["gpt-4o"] != "banked"
    wire.unlink()
    assert states(project) == {"gpt-4o": "banked"}, "a package leaves it out"
    wire.write_bytes(whole)
    assert states(project) == {"gpt-4o": "banked"}


def test_an_altered_line_is_refused(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = attempted(tmp_path / "p", server, [GPT], items=2)
    (wire,) = project.eval.glob("runs/*/wire.jsonl")
    assert len(read_wire(wire, 1).requests) == 2
    assert read_wire(wire, 1).sha256 == the_attempt(project)["wire"]["sha256"]
    first, _, rest = wire.read_bytes().partition(b"\n")
    wire.write_bytes(first.replace(b'"id":1', b'"id":"one"') + b"\n" + rest)
    with pytest.raises(EvidenceError, match=r"wire\.jsonl:1: .*restore it"):
        read_wire(wire, 1)
