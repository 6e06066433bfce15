"""`tamesu preflight` and `run --dry-run` against servers on the loopback address; probe and import are stood in for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tamesu.cli.preflighting
from tamesu.base.model.endpoint import ImportFinding, ProbeFinding
from tamesu.base.model.evidence import Usage
from tamesu.base.model.plan import RunSpec
from tamesu.core.preflight.lines import TITLES
from tamesu.stages.preflight import Hands, Wish
from tamesu.workflow_files import workflow_folder
from tests.cli.calling import Caller, one_line
from tests.live import LiveProject, Model, make
from tests.projects import Done, ShapesProject
from tests.servers import ModelServer
from tests.servers.model_server import Received

SCHEMA = json.loads((workflow_folder() / "schemas" / "output" / "preflight.schema.json").read_text(encoding="utf-8"))
VERSION = {"/version": (200, {}, b'{"version": "0.11.0"}')}
IDLE = 'vllm:num_requests_running{model_name="m"} 0.0\nvllm:num_requests_waiting{model_name="m"} 0.0\n'
BUSY = IDLE.replace("0.0", "2.0", 1)
OWN = "{provider: vllm, owner: us, shared: false, replicas: 1, requests_per_replica: 8}"
FULL: Mapping[str, object] = {"temperature": 1.0, "top_p": 0.9, "top_k": 50}
MODEL = Model("vllm", "m", FULL)
GOOD = ProbeFinding(True, "a" * 64, 0.2, Usage(input=9, output=1, total=10), 0.00001, (), "http")


@dataclass
class Stand:
    """Hands that count what they are asked; time passes only when it is waited for."""

    probes: list[ProbeFinding] = field(default_factory=lambda: [GOOD])
    samples: list[ProbeFinding] = field(default_factory=list)
    importing: ImportFinding = field(default_factory=lambda: ImportFinding(True))
    probed: list[RunSpec] = field(default_factory=list)
    imported: list[RunSpec] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def hands(self, _project: object, _ref: object, _wish: Wish) -> Hands:
        return Hands(self.probe, self.import_task, self.sample, lambda: sum(self.waits), self.waits.append)

    def probe(self, spec: RunSpec) -> ProbeFinding:
        self.probed.append(spec)
        return self.probes[0]

    def sample(self, _: RunSpec) -> ProbeFinding:
        return self.samples.pop(0)

    def import_task(self, spec: RunSpec) -> ImportFinding:
        self.imported.append(spec)
        return self.importing


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    made = Stand()
    monkeypatch.setattr(tamesu.cli.preflighting, "hands_of", made.hands)
    return made


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LiveProject]:
    """Make a project whose only model is `vllm/m` (or another) at a server, and its environment this process's."""

    def build(server: ModelServer, model: Model = MODEL, endpoint: str = OWN) -> LiveProject:
        project = make(tmp_path / "p", server.url, [model])
        if endpoint:
            with (project.root / "config/config.yaml").open("a") as config:
                config.write(f"endpoints:\n  - {endpoint}\n")
        for name, value in project.env.items():
            monkeypatch.setenv(name, value)
        return project

    return build


def checks(call: Caller, project: ShapesProject, *arguments: str, code: int) -> dict[str, dict[str, Any]]:
    """Return the lines of the first run by name."""
    done = call(project, "preflight", "--json", *arguments)
    assert done.code == code, done.out + done.err
    views = json.loads(done.out)
    Draft202012Validator(SCHEMA).validate(views)
    found = {check["name"]: check for check in views[0]["runs"][0]["checks"]}
    assert list(found) == list(TITLES)
    return found


def states(found: Mapping[str, Mapping[str, Any]], *wanted: str) -> set[str]:
    return {name for name, check in found.items() if check["state"] in wanted}


def test_a_good_endpoint_passes_every_line(live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
    stand.samples = [replace(GOOD, text_sha256=text * 64) for text in "ab"]
    with ModelServer(models=("m",), metrics=IDLE, other=lambda r: VERSION.get(r.path)) as server:
        project = live(server)
        found = checks(call, project, "--probes", "2", code=0)
        assert states(found, "fail", "unknown") == set()
        assert found["models"]["figure"] == "lists 1 model, this one among them"
        assert found["server"]["data"]["version"] == "0.11.0"
        assert found["credentials"]["figure"] == "VLLM_API_KEY is set"
        assert server.asked == []
    assert project.ledger() == []


def test_nothing_of_the_dataset_is_asked_and_the_record_is_kept(
    live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    with ModelServer(models=("m",), metrics=IDLE) as server:
        project = live(server, Model("vllm", "m", FULL, 3))
        done = call(project, "run", "--dry-run")
        assert done.code == 0, done.out + done.err
        assert server.asked == []
        assert [r.path for r in server.requests] == ["/metrics", "/v1/models", "/version"]
    records = [json.loads(path.read_text()) for path in sorted(project.eval.glob("runs/*/inspect/preflight.json"))]
    assert [record["run_id"] for record in records] == sorted(record["run_id"] for record in records)
    assert len({record["run_id"] for record in records}) == 3
    assert {len(record["checks"]) for record in records} == {len(TITLES)}
    assert (len(stand.probed), len(stand.imported)) == (1, 1)  # runs that ask the same share the answer
    assert not (project.eval / "ledger.jsonl").exists()
    assert project.states() == {"owed": 3}


def test_lines_fit_80_columns_and_runs_alike_are_told_once(
    live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    with ModelServer(models=("m",), metrics=BUSY) as server:
        done = call(live(server, Model("vllm", "m", FULL, 3)), "preflight", columns=80)
    assert done.code == 1
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].endswith("3 runs")
    assert [line.split()[0] for line in lines[1:-1] if not line.startswith(" ")].count("fail") == 2
    assert lines[-1].startswith("not ready: ")


def test_a_busy_engine_stops_before_anything_paid(live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
    with ModelServer(models=("m",), metrics=BUSY) as server:
        found = checks(call, live(server), code=1)
    assert states(found, "fail") == {"idle", "orphans"}
    assert found["idle"]["figure"] == "2 running, 0 waiting"
    assert found["probe"]["figure"] == "not checked, since 'engine is idle' failed"
    assert stand.probed == []


def test_wait_idle_waits_until_the_engine_is(live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
    left = [BUSY] * 3

    def other(received: Received) -> tuple[int, Mapping[str, str], bytes] | None:
        return (200, {}, left.pop().encode()) if received.path == "/metrics" and left else None

    with ModelServer(models=("m",), metrics=IDLE, other=other) as server:
        project = live(server)
        found = checks(call, project, "--wait-idle", "60", code=0)
    assert found["idle"]["figure"] == "0 running, 0 waiting after 7 s"
    assert stand.waits == [1, 2, 4]


class TestC34:
    """A server that is up before it serves, and one that serves another model."""

    def test_another_model_is_refused(self, live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
        with ModelServer(models=("base",), metrics=IDLE) as server:
            found = checks(call, live(server, Model("vllm", "base-ft2", FULL)), code=1)
        assert found["models"]["figure"] == "lists 1 model, not 'base-ft2'; near: base"
        assert stand.probed == []

    def test_a_probe_without_answer_is_refused(
        self, live: Callable[..., LiveProject], call: Caller, stand: Stand
    ) -> None:
        stand.probes = [replace(GOOD, answered=False, error="400: Model is not ready yet")]
        with ModelServer(models=("m",), metrics=IDLE) as server:
            found = checks(call, live(server), code=1)
        assert found["probe"]["figure"] == "400: Model is not ready yet"
        assert found["probe"]["fix"] == "correct what the reply names; it waited up to 120 s"

    def test_a_listing_that_is_not_ready_is_asked_again(
        self, live: Callable[..., LiveProject], call: Caller, stand: Stand
    ) -> None:
        left = [b"not ready"] * 2

        def other(received: Received) -> tuple[int, Mapping[str, str], bytes] | None:
            return (400, {}, left.pop()) if received.path == "/v1/models" and left else None

        with ModelServer(models=("m",), metrics=IDLE, other=other) as server:
            done = call(live(server), "preflight")
        assert "this one among them after 3 s" in " ".join(done.out.split())
        assert done.err == "tamesu: waiting for the endpoint\n"


def test_c33_identical_outputs_at_temperature_1(live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
    stand.samples = [GOOD] * 5
    with ModelServer(models=("m",), metrics=IDLE) as server:
        found = checks(call, live(server, Model("vllm", "m", {"temperature": 1.0})), "--probes", "5", code=1)
    assert found["variety"]["figure"] == "identical outputs at temperature 1.0 (5 of 5)"
    assert found["server"]["data"]["left_to_server"] == ["top_p", "top_k"]


def test_a_field_that_does_not_reach_the_wire_is_refused(
    live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    stand.probes = [replace(GOOD, problems=("top_k was declared and not sent (1 request)",))]
    with ModelServer(models=("m",), metrics=IDLE) as server:
        found = checks(call, live(server), "--probes", "5", code=1)
    assert states(found, "fail") == {"sampling"}
    assert found["variety"]["figure"].startswith("not checked")


def test_an_endpoint_of_someone_else_with_one_replica_is_told(
    live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    shared = "{provider: vllm, owner: the vision group, shared: true, replicas: 1, requests_per_replica: 1}"
    with ModelServer(models=("m",), metrics=IDLE) as server:
        found = checks(call, live(server, endpoint=shared), code=0)
    assert found["ownership"]["state"] == "unknown"
    assert found["ownership"]["figure"].startswith("run by the vision group, shared, 1 replica, 1 request each")
    assert "1 served at once, 2 sent; 1 wait in front of it and behind others'" in found["ownership"]["figure"]


def test_the_base_url_of_the_configuration_is_asked_where_the_environment_names_none(
    live: Callable[..., LiveProject], call: Caller, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(models=("m",), metrics=IDLE) as server:
        project = live(server, endpoint=f"{{provider: vllm, base_url: '{server.url}/v1'}}")
        monkeypatch.delenv("VLLM_BASE_URL")
        done = call(project, "preflight", "--json")
        assert done.code == 0, done.out + done.err
        assert json.loads(done.out)[0]["runs"][0]["origin"] == server.url
        assert "/v1/models" in [r.path for r in server.requests]


def test_without_credentials_the_endpoint_is_not_asked(
    live: Callable[..., LiveProject], call: Caller, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(models=("m",)) as server:
        project = live(server, Model("openai-api/local", "m"), endpoint="")
        monkeypatch.delenv("LOCAL_API_KEY")
        found = checks(call, project, code=1)
        assert server.requests == []
    assert found["credentials"]["figure"] == "LOCAL_API_KEY is not set"
    assert found["models"]["figure"].startswith("not checked")


def test_what_may_not_run_is_not_imported(live: Callable[..., LiveProject], call: Caller, stand: Stand) -> None:
    with ModelServer(models=("m",), metrics=IDLE) as server:
        project = live(server)
        (project.root / "cases/arithmetic/.untrusted-origin").write_text("")
        found = checks(call, project, code=2)
    assert states(found, "fail") == {"allowed"}
    for name in ("import", "compose", "images"):
        assert found[name]["figure"] == "not checked, since 'nothing forbids the run' failed"
    assert (stand.imported, stand.probed) == ([], [])


def test_a_task_that_does_not_import_stops_before_the_probe(
    live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    stand.importing = ImportFinding(False, "task.py:1: No module named 'helper'")
    with ModelServer(models=("m",), metrics=IDLE) as server:
        found = checks(call, live(server), code=1)
    assert states(found, "fail") == {"import"}
    assert stand.probed == []


def _texts(project: LiveProject) -> Sequence[str]:
    return [path.read_text(errors="replace") for path in project.root.rglob("*") if path.is_file()]


@pytest.mark.parametrize("fault", ["none", "elsewhere", "loop", "refused", "echo"])
def test_the_key_is_in_no_output_and_in_no_file(
    fault: str, live: Callable[..., LiveProject], call: Caller, stand: Stand
) -> None:
    stranger = ModelServer(models=("m",))

    def other(received: Received) -> tuple[int, Mapping[str, str], bytes] | None:
        if received.path != "/v1/models":
            return None
        key = received.headers["authorization"]
        return {
            "elsewhere": (303, {"location": f"{stranger.url}/v1/models"}, b""),
            "loop": (303, {"location": "/v1/models"}, b""),
            "refused": (401, {}, f"bad key {key}".encode()),
            "echo": (200, {}, json.dumps({"data": [{"id": "m", "key": key}]}).encode()),
        }.get(fault)

    with stranger, ModelServer(models=("m",), metrics=IDLE, other=other) as server:
        project = live(server)
        done: Done = call(project, "preflight", "--json")
        assert any(project.key in r.headers.get("authorization", "") for r in server.requests)
        assert stranger.requests == []
    assert done.code == (0 if fault in {"none", "echo"} else 1)
    assert project.key not in done.out + done.err
    assert not any(project.key in text for text in _texts(project))


def test_recorded_answers_ask_nobody(shapes: ShapesProject, call: Caller, stand: Stand) -> None:
    found = checks(call, shapes, code=0)
    assert states(found, "fail") == set()
    assert found["models"]["figure"] == "recorded answers: no endpoint is called"
    assert stand.probed == []
    assert len(stand.imported) == 1


def test_nothing_owed_is_said(shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tamesu.cli.preflighting, "preflight_eval", lambda *_: ())
    done = call(shapes, "preflight")
    assert (done.code, done.err) == (0, "")
    assert done.out == "shape-drawing/prompt-wording/replayed: nothing is owed\n"


def test_an_eval_with_errors_is_refused_in_one_line(shapes: ShapesProject, call: Caller, stand: Stand) -> None:
    shapes.edit_eval("model: sketcher-large", "model: 3")
    assert "eval.yml" in one_line(call(shapes, "preflight"), 1)


def test_the_schema_describes_every_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def undescribed(schema: Any, name: str) -> list[str]:
        found = [] if "description" in schema else [name]
        for key, field_schema in schema.get("properties", {}).items():
            found += undescribed(field_schema, f"{name}.{key}")
        return found + (undescribed(schema["items"], f"{name}[]") if "items" in schema else [])

    assert undescribed(SCHEMA, "") == []
