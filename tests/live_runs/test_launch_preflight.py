"""Every launch of a live model is checked first; what fails costs nothing of the dataset."""

from __future__ import annotations

import json
from pathlib import Path

from tests import live
from tests.live_runs.attempt_lab import attempt, attempted
from tests.servers import Asked, ModelServer, Reply
from tests.servers.model_server import Received

MODEL = live.Model("vllm", "base", {"temperature": 1.0, "top_k": 4})
IDLE = 'vllm:num_requests_running{model_name="base"} 0.0\nvllm:num_requests_waiting{model_name="base"} 0.0\n'


def record(project: live.LiveProject) -> dict[str, dict[str, object]]:
    """Return the checks of the only preflight.json, by name."""
    (path,) = (project.eval / "runs").glob("*/inspect/preflight.json")
    return {check["name"]: check for check in json.loads(path.read_text())["checks"]}


def states(project: live.LiveProject) -> dict[str, str]:
    return {name: str(check["state"]) for name, check in record(project).items()}


def test_a_launch_is_probed_once_and_the_probe_is_in_the_ledger_and_in_no_result(tmp_path: Path) -> None:
    """The probe carries the declared fields and a few tokens; it is charged like a call and counted nowhere else."""
    with ModelServer(models=("base",), metrics=IDLE) as server:
        project = attempted(tmp_path / "p", server, [MODEL])
        (probe,) = server.probes
        assert (probe.body["temperature"], probe.body["top_k"], probe.body["max_tokens"]) == (1.0, 4, 16)
        assert len(server.asked) == 3
    told = states(project)
    assert {told[name] for name in ("idle", "models", "import", "probe", "sampling", "validator")} == {"pass"}
    assert record(project)["idle"]["figure"] == "0 running, 0 waiting"
    settled = [entry for entry in project.ledger() if entry["event"] == "settled"]
    assert [(entry["attempt"], entry["spent_usd"]) for entry in settled] == [(-1, 3e-05), (1, 9e-05)]
    assert {line["attempt"] for line in project.wire()} == {1}
    assert len(project.results()) == 3


def test_a_field_that_does_not_reach_the_wire_is_refused_before_money_is_spent(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = live.make(tmp_path / "p", server.url, [live.Model("anthropic", "claude-sonnet-4-5", {"seed": 3})])
        worked = attempt(project)
        assert server.asked == []
        assert len(server.probes) == 1
    assert "preflight failed: sampling values read back" in worked.told
    assert "seed was declared and not sent" in worked.told
    assert states(project)["sampling"] == "fail"
    assert project.attempts() == []


def test_c34_a_model_that_the_server_does_not_list_is_refused_unasked(tmp_path: Path) -> None:
    with ModelServer(models=("base",), metrics=IDLE) as server:
        project = live.make(tmp_path / "p", server.url, [live.Model("vllm", "base-ft2")])
        worked = attempt(project)
        assert (server.asked, server.probes) == ([], [])
    assert "lists 1 model, not 'base-ft2'; near: base" in worked.told


def test_c34_a_400_while_warming_up_is_waited_for_and_no_result_of_an_item(tmp_path: Path) -> None:
    def probe(asked: Asked) -> Reply:
        cold = Reply(status=400, body=b'{"error": {"message": "model is not ready yet"}}')
        return cold if asked.number == 1 else Reply()

    with ModelServer(models=("base",), metrics=IDLE, probe=probe) as server:
        project = attempted(tmp_path / "p", server, [MODEL])
        assert len(server.probes) == 2
    assert {result["state"] for result in project.results().values()} == {"complete"}
    assert [entry["lost_usd"] for entry in project.ledger() if entry["event"] == "settled"] == [0, 0, 0]


def test_an_endpoint_that_takes_no_connection_is_waited_for_aloud(tmp_path: Path) -> None:
    """Ten minutes of silence look like a hang; what is waited for is told at once, as a line and as an event."""
    with ModelServer(models=("base",)) as server:
        project = live.make(tmp_path / "p", server.url, [MODEL])
        url = server.url
    worked = attempt(project)
    assert f"base x plain rep 1: waiting up to 5 s for {url}, which is not ready or idle" in worked.told
    assert worked.told.index("waiting up to 5 s") < worked.told.index("preflight failed: endpoint answers")
    assert project.attempts() == []


def test_a_missing_import_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    task = "import a_package_that_is_not_here\n" + live.TASK
    with ModelServer(models=("base",), metrics=IDLE) as server:
        project = live.make(tmp_path / "p", server.url, [MODEL], task=task)
        worked = attempt(project)
        assert (server.asked, server.probes) == ([], [])
    assert "ModuleNotFoundError: No module named 'a_package_that_is_not_here'" in worked.told
    assert project.attempts() == []


def test_what_the_task_reads_outside_its_copy_is_named(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("read me")
    task = f"open({str(outside)!r}).read()\n" + live.TASK
    with ModelServer(models=("base",), metrics=IDLE) as server:
        project = attempted(tmp_path / "p", server, [MODEL], task=task)
    check = record(project)["import"]
    assert (check["state"], check["data"]) == ("unknown", {"outside_reads": [str(outside)]})


def test_the_key_of_config_dir_opens_the_endpoint(tmp_path: Path) -> None:
    """Credentials are read by name from the process, then from the folder of --config-dir, then from .env."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with ModelServer() as server:
        project = live.make(tmp_path / "p", server.url, [live.Model("openai", "gpt-4o-mini")])
        key = project.env["OPENAI_API_KEY"]
        (folder / ".env").write_text(f"OPENAI_API_KEY={key}\n")
        (project.root / ".env").write_text(f"OPENAI_API_KEY=not-{key}\nOPENAI_BASE_URL={server.url}/v1\n")
        bare = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
        done = project.live("preflight", "--config-dir", str(folder), env=bare)
        (probe,) = server.probes
    assert (done.code, probe.headers["authorization"]) == (0, f"Bearer {key}")
    assert key not in done.out + done.err


def test_a_launch_says_that_it_waits_for_a_cold_endpoint(tmp_path: Path) -> None:
    cold = iter([True, False])

    def other(received: Received) -> tuple[int, dict[str, str], bytes] | None:
        warming = received.path == "/v1/models" and next(cold, False)
        return (503, {"content-type": "text/plain"}, b"starting up") if warming else None

    with ModelServer(models=("base",), metrics=IDLE, other=other) as server:
        project = live.make(tmp_path / "p", server.url, [MODEL])
        worked = attempt(project)
        assert worked.error is None, worked
        assert len(server.asked) == 3
    waiting = [line for line in worked.told.splitlines() if "waiting up to 5 s for" in line]
    assert len(waiting) == 1, worked.told
