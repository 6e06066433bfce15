"""The tool-agent example for real: several turns, a sandbox that holds, a grader by role, an approval policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.event import ApprovalEvent, ModelEvent, ToolEvent
from inspect_ai.log import EvalSample, read_eval_log

from tests.agents import PRICES, AgentProject, agent_project, call, turn
from tests.docker.engine import projects_below

pytestmark = pytest.mark.docker

# Tokens that the recordings of the example state: of the agent, and of its grader.
TOKENS = {
    "cache-pool": ((770, 120), (240, 30)),
    "full-disk": ((1280, 150), (250, 30)),
    "stale-lock": ((1180, 145), (230, 30)),
    "too-long": ((1980, 120), (200, 20)),  # a limit of turns is looked at after a call, so there are six
}


def cost(item: str) -> float:
    """Return what an item costs by the recordings, in US dollars."""
    pairs = zip(TOKENS[item], PRICES, strict=True)
    return round(sum(i * price["input"] + o * price["output"] for (i, o), price in pairs) / 1e6, 9)


def samples(project: AgentProject) -> dict[str, EvalSample]:
    log = read_eval_log(str(project.run / "inspect/attempt-01.eval"))
    return {str(sample.id): sample for sample in log.samples or ()}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, image: str) -> AgentProject:
    """The example, run once with prices."""
    project = agent_project(tmp_path_factory.mktemp("agent") / "project", image)
    project.pay()
    ended = project.tamesu("run")
    assert ended.code == 0, ended.out + ended.err
    assert projects_below(project.root) == set()
    return project


def test_scores_of_both_scorers_and_the_limit_of_turns(done: AgentProject) -> None:
    results = done.results()
    told = {
        name: (result["state"], *(result["scores"][s]["value"] for s in ("first_failure", "model_graded_qa")))
        for name, result in results.items()
    }
    assert told == {
        "cache-pool": ("complete", 1.0, 1.0),
        "full-disk": ("complete", 1.0, 1.0),
        "stale-lock": ("complete", 0.0, 0.0),
        "too-long": ("complete", 0.0, 0.0),
    }
    assert {name: result["limit"] for name, result in results.items()} == {
        "cache-pool": None,
        "full-disk": None,
        "stale-lock": None,
        "too-long": "turn",
    }
    assert done.record()["state"] == "complete"


def test_usage_and_cost_are_those_of_all_turns_and_of_the_grader(done: AgentProject) -> None:
    results = done.results()
    for name, (agent, grader) in TOKENS.items():
        usage = results[name]["usage"]
        assert (usage["input"], usage["output"]) == (agent[0] + grader[0], agent[1] + grader[1]), name
        assert results[name]["cost_usd"] == pytest.approx(cost(name), abs=1e-12), name
    total = sum(map(cost, TOKENS))
    assert done.record()["spent_usd"] == pytest.approx(total)
    assert done.spent() == pytest.approx(total)
    assert done.attempt()["role_prices"]["grader"]["output"] == 15.0
    assert done.record()["execution"]["roles"]["grader"]["model_uri"] == "replay/careful-grader"


def test_the_transcript_holds_every_call_with_what_came_back(done: AgentProject) -> None:
    commands = (done.run / "items/stale-lock/artifacts/commands.txt").read_text()
    assert "Tool count_errors not found" in commands
    assert "2 worker" in commands
    assert "the runbook knows no service 'cron'" in commands
    sample = samples(done)["stale-lock"]
    assert [event.function for event in sample.events if isinstance(event, ToolEvent)] == [
        "count_errors",
        "bash",
        "runbook",
        "submit",
    ]
    roles = [event.role for event in sample.events if isinstance(event, ModelEvent)]
    assert roles == [None, None, None, None, "grader"]


def test_a_rejected_call_is_visible_and_fails_nothing(done: AgentProject) -> None:
    results = done.results()
    assert {name: result["rejected_calls"] for name, result in results.items()} == {
        "cache-pool": 0,
        "full-disk": 1,
        "stale-lock": 0,
        "too-long": 0,
    }
    commands = (done.run / "items/full-disk/artifacts/commands.txt").read_text()
    assert "triage only reads" in commands
    decisions = [event.decision for event in samples(done)["full-disk"].events if isinstance(event, ApprovalEvent)]
    assert decisions.count("reject") == 1


def test_what_an_agent_can_do_in_its_sandbox(tmp_path: Path, image: str) -> None:
    project = agent_project(tmp_path / "agent", image)
    looks = [
        "id -u; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ls /sys/class/net",
        "touch /etc/passwd-copy",
        "cp /bin/true ./true; ./true && echo ran",
        "getent hosts example.org || cat /etc/resolv.conf | head -c 0; exec 3<>/dev/tcp/10.0.0.1/80",
        "cd /sys/fs/cgroup; cat pids.max pids/pids.max memory.max memory/memory.limit_in_bytes 2>/dev/null",
    ]
    turns = [turn(call("bash", command=command)) for command in looks[:4]]
    project.say({"cache-pool": [*turns, turn(call("bash", command=looks[4]), call("submit", answer="cache: seen"))]})
    project.edit(Path("cases/log-triage/experiments/shell-first/inspect/task.py"), '"tee ", "chmod ", ">"', '"tee "')
    ended = project.tamesu("run")
    assert ended.code == 0, ended.out + ended.err
    said = (project.run / "items/cache-pool/artifacts/commands.txt").read_text()
    assert "1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nlo\n" in said
    assert "touch: cannot touch '/etc/passwd-copy': Read-only file system" in said
    assert "ran" in said
    assert "Network is unreachable" in said
    assert "64\n268435456" in said


def test_a_command_beyond_its_timeout_is_told_to_the_agent(tmp_path: Path, image: str) -> None:
    project = agent_project(tmp_path / "agent", image)
    project.edit(Path("cases/log-triage/experiments/shell-first/inspect/task.py"), "timeout=20", "timeout=1")
    slow = turn(call("bash", command="sleep 30"))
    project.say({"cache-pool": [slow, turn(call("submit", answer="cache: it hung"))]})
    ended = project.tamesu("run")
    assert ended.code == 0, ended.out + ended.err
    (result,) = project.results().values()
    assert (result["state"], result["scores"]["first_failure"]["value"], result["limit"]) == ("complete", 1.0, None)
    assert "timed out" in (project.run / "items/cache-pool/artifacts/commands.txt").read_text().lower()
