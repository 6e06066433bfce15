"""Every default and behaviour of Inspect that Tamesu relies on, so that an upgrade fails loudly in one place."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai import Task, task_with
from inspect_ai.dataset import MemoryDataset, Sample, json_dataset
from inspect_ai.log import (
    EvalConfig,
    EvalLog,
    EvalSpec,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples_by_id,
    recover_eval_log,
)
from inspect_ai.model import (
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    _assistant_internal,
    get_model,
    get_model_info,
)
from inspect_ai.model._model import compute_model_cost
from inspect_ai.scorer import Score, mean, scorer, value_to_float
from inspect_ai.solver import generate
from inspect_ai.util._sandbox.docker.docker import DockerSandboxEnvironment
from inspect_ai.util._sandbox.environment import resolve_sandbox_environment

from tamesu.base.model.plan import Price, PriceTier
from tamesu.core.parameters import CONFIG_FIELDS, OWN, REFUSED, split_parameters
from tamesu.edge.backends.inspect.logs import score_number
from tamesu.edge.documents.sandboxes import FOUND_BY_INSPECT
from tamesu.edge.providers.isolation import kept_environment
from tamesu.edge.providers.models import register_price
from tamesu.edge.providers.provider_state import CLIENTS
from tests.factories import make_spec
from tests.ingest.lab import lab, log_path, run_yml, turn
from tests.projects import ROOT


def test_the_installed_version_is_the_pinned_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pin,) = [name for name in project["dependencies"] if name.startswith("inspect-ai")]
    assert pin == f"inspect-ai=={version('inspect_ai')}"
    assert inspect_ai.__version__ == version("inspect_ai")


class TestParameters:
    def test_every_field_of_a_call_is_allowed_or_refused(self) -> None:
        assert set(GenerateConfig.model_fields) == CONFIG_FIELDS | set(REFUSED)
        assert not CONFIG_FIELDS & set(REFUSED)
        assert not OWN & (CONFIG_FIELDS | set(REFUSED))

    def test_nothing_is_set_by_default(self) -> None:
        assert GenerateConfig().model_dump(exclude_none=True) == {}

    def test_unknown_names_ride_in_extra_body(self) -> None:
        split = split_parameters(
            {"temperature": 0.5, "min_p": 0.1, "extra_body": {"min_p": 0.2, "a": 1}, "recordings": "x"}
        )
        assert split.config == {"temperature": 0.5}
        assert split.extra_body == {"min_p": 0.1, "a": 1}


class TestTasks:
    def test_task_with_keeps_name_model_and_limits(self) -> None:
        task = task_with(
            Task(dataset=[Sample(input="x")]),
            name="run-1",
            model="mockllm/model",
            cost_limit=0.5,
            time_limit=60,
            token_limit=70,
            turn_limit=8,
            working_limit=90,
            message_limit=10,
            metadata={"a": 1},
        )
        assert (task.name, str(task.model)) == ("run-1", "mockllm/model")
        assert (task.cost_limit, task.time_limit, task.token_limit) == (0.5, 60, 70)
        assert (task.turn_limit, task.working_limit, task.message_limit) == (8, 90, 10)
        assert task.metadata == {"a": 1}

    def test_a_bare_task_decides_nothing(self) -> None:
        task = Task(dataset=[Sample(input="x")])
        assert task.config == GenerateConfig()
        assert [task.model, task.cost_limit, task.time_limit, task.token_limit, task.turn_limit] == [None] * 5
        assert [task.working_limit, task.message_limit] == [None, None]
        assert task.epochs in {None, 1}

    def test_a_wrapped_scorer_keeps_its_registry_name_and_metrics(self) -> None:
        from inspect_ai._util.registry import registry_info

        @scorer(metrics=[mean()], name="probe_scorer")
        def probe() -> Any:
            async def score(state: Any, target: Any) -> Score:
                return Score(value=1)

            return score

        original = probe()

        @functools.wraps(original)
        async def wrapped(state: Any, target: Any) -> Any:
            return await original(state, target)

        assert registry_info(wrapped) == registry_info(original)
        assert registry_info(wrapped).name.endswith("probe_scorer")

    def test_eval_takes_every_setting_that_is_passed(self) -> None:
        names = set(inspect.signature(inspect_ai.eval).parameters)
        wanted = {
            "log_dir", "log_format", "log_level", "display", "max_tasks", "max_samples", "fail_on_error",
            "continue_on_fail", "score_on_error", "log_samples", "log_realtime", "log_buffer", "log_model_api",
            "log_refusals", "score_display", "ctl_server", "acp_server", "tags", "max_subprocesses",
            "max_sandboxes", "log_images", "sandbox_prebuilt", "approval", "sandbox",
        }  # fmt: skip
        assert wanted <= names

    def test_a_sandbox_is_a_tuple_and_a_list_or_mapping_is_passed_over(self) -> None:
        spec = resolve_sandbox_environment(("docker", "/copy/compose.yaml"))
        assert spec is not None
        assert (spec.type, spec.config) == ("docker", "/copy/compose.yaml")
        for ignored in (["docker", "compose.yaml"], {"type": "docker", "config": "compose.yaml"}):
            assert resolve_sandbox_environment(ignored) is None  # type: ignore[arg-type]

    def test_docker_looks_for_these_files_beside_the_task(self) -> None:
        assert set(DockerSandboxEnvironment.config_files()) == set(FOUND_BY_INSPECT)

    def test_limits_in_the_log_have_the_names_that_are_checked(self) -> None:
        limits = {"cost_limit", "time_limit", "token_limit", "turn_limit", "working_limit", "message_limit", "epochs"}
        assert limits <= set(EvalConfig.model_fields)
        fields = {"task", "task_registry_name", "task_args_passed", "model", "model_base_url", "packages", "metadata"}
        assert fields | {"dataset", "config", "model_generate_config"} <= set(EvalSpec.model_fields)


class TestScores:
    @pytest.mark.parametrize(
        ("value", "number"),
        [
            ("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), ("yes", 1.0), ("No", 0.0), ("TRUE", 1.0), ("false", 0.0),
            ("0.25", 0.25), ("-1", -1.0), (True, 1.0), (False, 0.0), (3, 3.0), (0.5, 0.5),
        ],
    )  # fmt: skip
    def test_what_value_to_float_converts(self, value: Any, number: float) -> None:
        assert value_to_float()(value) == number
        assert score_number(value) == number

    @pytest.mark.parametrize("value", ["blurry", "", "c", "1.0.0"])
    def test_it_takes_other_texts_for_zero_and_we_do_not(self, value: str) -> None:
        assert value_to_float()(value) == 0.0
        assert score_number(value) is None

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "nan", "inf", [1], {"a": 1}, None])
    def test_what_is_no_number(self, value: Any) -> None:
        assert score_number(value) is None


class TestOutputs:
    def test_stop_reason_of_no_choice_raises(self) -> None:
        empty = ModelOutput(model="m", choices=[])
        assert (empty.empty, empty.completion) == (True, "")
        with pytest.raises(IndexError):
            _ = empty.stop_reason

    def test_usage_has_the_fields_that_are_summed(self) -> None:
        usage = {"input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read"}
        assert usage | {"input_tokens_cache_write", "reasoning_tokens"} <= set(ModelUsage.model_fields)


class TestDatasets:
    def test_a_frozen_line_becomes_its_sample(self, tmp_path: Path) -> None:
        messages = [
            {"role": "system", "content": "a\u2028b", "metadata": {"dropped": True}},
            {"role": "user", "content": "c"},
        ]
        lines = [
            {"id": "01", "input": messages, "target": ["x", "y"], "metadata": {"level": 1}},
            {"id": "1", "input": messages, "target": "", "metadata": {}},
        ]
        path = tmp_path / "input.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        first, second = json_dataset(str(path))
        assert (first.id, second.id) == ("01", "1")
        assert first.target == ["x", "y"]
        assert first.metadata == {"level": 1}
        assert [(message.role, message.text) for message in first.input] == [("system", "a\u2028b"), ("user", "c")]
        # message metadata does not survive, so replay cannot find its answer by a marker there
        assert [message.metadata for message in first.input] == [None, None]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a small evaluation of two samples."""
    folder = tmp_path_factory.mktemp("log")
    output = ModelOutput(
        model="m",
        choices=[{"message": ChatMessageAssistant(content="hi"), "stop_reason": "stop"}],  # type: ignore[list-item]
        usage=ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2),
    )
    model = get_model("mockllm/model", custom_outputs=[output] * 2)
    task = Task(
        dataset=MemoryDataset([Sample(id=name, input=name) for name in ("01", "1")]),
        solver=[generate()],
        metadata={"tamesu": {"generation": {"a": [1, None, 0.5, "x\u2028"]}, "attempt": 1}},
    )
    inspect_ai.eval(
        task,
        model=model,
        log_dir=str(folder),
        display="none",
        log_format="eval",
        log_model_api=False,
        log_level="error",
    )
    (path,) = folder.glob("*.eval")
    return path


class TestLogs:
    def test_metadata_comes_back_as_written(self, log: Path) -> None:
        header: EvalLog = read_eval_log(str(log), header_only=True)
        assert header.status == "success"
        assert (header.eval.metadata or {})["tamesu"] == {
            "generation": {"a": [1, None, 0.5, "x\u2028"]},
            "attempt": 1,
        }
        assert [str(name) for name in header.eval.dataset.sample_ids or []] == ["01", "1"]
        assert header.eval.packages["inspect_ai"] == version("inspect_ai")

    def test_samples_are_read_by_pairs_of_id_and_epoch(self, log: Path) -> None:
        keys = [(summary.id, summary.epoch) for summary in read_eval_log_sample_summaries(str(log))]
        assert sorted(keys) == [("01", 1), ("1", 1)]
        found = list(read_eval_log_samples_by_id(str(log), [("1", 1)]))
        assert [(sample.id, sample.epoch) for sample in found] == [("1", 1)]

    def test_calls_are_left_out_of_the_log(self, log: Path) -> None:
        sample = next(iter(read_eval_log_samples_by_id(str(log), [("1", 1)])))
        events = [event for event in sample.events if event.event == "model"]
        assert len(events) == 1
        assert events[0].call is None
        assert sample.completed_at is not None


STUCK = """
import os, sys
import anyio
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver

@solver
def stuck():
    async def solve(state, generate):
        if state.sample_id == "stuck":
            print("in flight", flush=True)
            await anyio.sleep(600)
        return state
    return solve

task = Task(dataset=[Sample(id="quick", input="x"), Sample(id="stuck", input="y")], solver=[stuck()])
eval(task, model="mockllm/model", log_dir=sys.argv[1], display="none", log_format="eval",
     log_buffer=1, log_realtime=True, max_samples=1, log_level="error", ctl_server=False, acp_server=False)
"""


def _stuck(tmp_path: Path) -> subprocess.Popen[str]:
    """A process whose first sample is finished and whose second one never will be."""
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-c", STUCK, str(tmp_path / "logs")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "in flight\n"
    return process


class TestPrices:
    def test_scoring_gets_half_of_the_time_limit_again(self) -> None:
        """The bound of what an endpoint may be rented for counts it."""
        source = (Path(inspect_ai.__file__).parent / "_eval" / "task" / "run.py").read_text()
        assert "scoring_time_limit = time_limit / 2 if time_limit else None" in source

    @pytest.mark.parametrize(
        ("token_limit", "sent", "received"), [(1000, 2.0, 8.0), (1001, 4.0, 12.0), (None, 4.0, 12.0)]
    )
    def test_inspect_enforces_the_dearest_rates_within_the_token_limit(
        self, token_limit: int | None, sent: float, received: float
    ) -> None:
        tiers = (PriceTier(1000, 4.0, 12.0, 0.4, 4.0),)
        price = Price(2.0, 8.0, 0.2, 2.0, tiers=tiers)
        spec = replace(make_spec(["x"], model=f"tiered-{token_limit}"), price=price)
        register_price(replace(spec, limits=replace(spec.limits, token_limit=token_limit)))
        info = get_model_info(spec.model_uri)
        assert info is not None
        assert info.cost is not None
        assert (info.cost.input, info.cost.output) == (sent, received)
        usage = ModelUsage(input_tokens=1000, output_tokens=500, input_tokens_cache_read=1000)
        expected = (sent + received / 2 + info.cost.input_cache_read) / 1000
        assert compute_model_cost(info.cost, usage) == pytest.approx(expected)


class TestDeaths:
    def test_a_killed_log_is_recovered_with_what_was_in_flight(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = _stuck(tmp_path)
        process.kill()
        process.wait()
        (path,) = (tmp_path / "logs").glob("*.eval")
        assert read_eval_log(str(path), header_only=True).status == "started"
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        recover_eval_log(str(path), output=str(tmp_path / "recovered.eval"), cleanup=False)
        samples = {sample.id: sample for sample in read_eval_log(str(tmp_path / "recovered.eval")).samples or []}
        assert samples["quick"].error is None
        assert samples["quick"].completed_at is not None
        stuck = samples["stuck"]
        assert stuck.completed_at is None
        assert stuck.error is not None
        assert stuck.error.message.startswith("CancelledError(")

    def test_one_interrupt_cancels_what_was_in_flight(self, tmp_path: Path) -> None:
        process = _stuck(tmp_path)
        process.send_signal(signal.SIGINT)
        process.wait()
        (path,) = (tmp_path / "logs").glob("*.eval")
        log = read_eval_log(str(path))
        assert log.status == "cancelled"
        samples = {sample.id: sample for sample in log.samples or []}
        assert samples["quick"].error is None
        stuck = samples["stuck"]
        assert stuck.error is not None
        assert stuck.error.message.startswith("CancelledError(")
        assert stuck.completed_at is not None


READS = """
import os, sys
from pathlib import Path
os.chdir(sys.argv[1])
from inspect_ai._util.dotenv import init_dotenv
init_dotenv()
print(os.environ.get("META_BASE_URL"))
"""


class TestClients:
    """Which provider's client a run imports: the one it needs."""

    PROGRAM = """
import sys
from inspect_ai.model._assistant_internal import init_sample_assistant_internal
from tamesu.edge.providers.provider_state import import_no_idle_client
import_no_idle_client()
init_sample_assistant_internal()
print([name for name in ("openai", "anthropic") if name in sys.modules])
import anthropic
from inspect_ai.model._providers.anthropic import assistant_internal
shared = assistant_internal()
init_sample_assistant_internal()
print(assistant_internal() is shared)
"""

    def test_every_client_has_the_name_that_is_asked(self) -> None:
        assert {name for name in vars(_assistant_internal) if name.startswith("_HAS_")} == set(CLIENTS)

    def test_an_idle_client_is_not_imported_and_one_in_use_has_state_of_its_own_for_each_sample(self) -> None:
        done = subprocess.run([sys.executable, "-c", self.PROGRAM], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["[]", "False"]


class TestEnvironment:
    @pytest.mark.parametrize(("blocked", "seen"), [(False, "http://hostile.example"), (True, "None")])
    def test_an_empty_env_file_ends_the_search_upwards(self, tmp_path: Path, blocked: bool, seen: str) -> None:
        (tmp_path / ".env").write_text("META_BASE_URL=http://hostile.example\n")
        below = tmp_path / "a" / "b"
        below.mkdir(parents=True)
        if blocked:
            (below / ".env").write_text("")
        environment = {name: value for name, value in os.environ.items() if name != "META_BASE_URL"}
        done = subprocess.run(
            [sys.executable, "-c", READS, str(below)], capture_output=True, text=True, env=environment, check=True
        )
        assert done.stdout.strip() == seen

    def test_only_named_variables_are_kept(self) -> None:
        given = {
            "PATH": "p", "HOME": "h", "LC_ALL": "C", "TZ": "UTC", "INSPECT_EVAL_MODEL": "x", "OPENAI_API_KEY": "k",
            "META_BASE_URL": "u", "PYTHONPATH": "q", "ANTHROPIC_AUTH_TOKEN": "t", "LD_PRELOAD": "l",
        }  # fmt: skip
        assert set(kept_environment(given)) == {"PATH", "HOME", "LC_ALL", "TZ"}

    def test_isolation_makes_an_empty_env_file_and_homes_of_its_own(self, tmp_path: Path) -> None:
        code = (
            "import json, os, sys\nfrom pathlib import Path\n"
            "from tamesu.edge.providers.isolation import isolate\n"
            "isolate(Path(sys.argv[1]))\n"
            "print(json.dumps([os.getcwd(), dict(os.environ)]))"
        )
        environment = {**os.environ, "INSPECT_EVAL_MODEL": "openai/x", "OPENAI_API_KEY": "secret", "GIT_DIR": "/x"}
        work = tmp_path / "work"
        done = subprocess.run(
            [sys.executable, "-c", code, str(work)], capture_output=True, text=True, env=environment, check=True
        )
        where, seen = json.loads(done.stdout)
        assert where == str(work)
        assert (work / ".env").read_bytes() == b""
        assert "INSPECT_EVAL_MODEL" not in seen
        assert "OPENAI_API_KEY" not in seen
        assert seen["GIT_DIR"].startswith(str(work))
        assert not Path(seen["GIT_DIR"]).exists()
        assert all(seen[f"XDG_{kind}_HOME"].startswith(str(work)) for kind in ("DATA", "CONFIG", "CACHE", "STATE"))

    @pytest.mark.long
    def test_stray_settings_cannot_change_a_run(self, tmp_path: Path) -> None:
        quiet = lab(tmp_path / "quiet" / "lab", {"a": turn()})
        loud = lab(tmp_path / "loud" / "lab", {"a": turn()})
        hostile = {
            "INSPECT_EVAL_MODEL": "openai/hostile",
            "INSPECT_EVAL_MODEL_ARGS": "temperature=2",
            "INSPECT_EVAL_LOG_MODEL_API": "true",
            "INSPECT_EVAL_TEMPERATURE": "2",
            "INSPECT_EVAL_EPOCHS": "3",
            "INSPECT_EVAL_LOG_FILE_PATTERN": "{task}-{model}",
            "INSPECT_LOG_DIR": str(tmp_path / "hostile-logs"),
            "INSPECT_LOG_FORMAT": "json",
            "INSPECT_DISPLAY": "full",
            "INSPECT_REQUIRED_HOOKS": "hostile/hooks",
            "META_BASE_URL": "http://hostile.example",
        }
        env_file = "".join(f"{name}={value}\n" for name, value in hostile.items())
        (tmp_path / "loud" / ".env").write_text(env_file)
        (loud.root / ".env").write_text(env_file)
        for command in (["init", "-q"], ["remote", "add", "origin", "https://hostile.example/repo.git"]):
            subprocess.run(["git", *command], cwd=loud.root, check=True, capture_output=True)
        assert quiet.tamesu("run").code == 0
        done = loud.tamesu("run", env=hostile)
        assert done.code == 0, done.out + done.err
        assert not (tmp_path / "hostile-logs").exists()
        assert loud.calls() == quiet.calls()
        assert run_yml(loud)["identity"] == run_yml(quiet)["identity"]
        logs = [read_eval_log(str(log_path(project))) for project in (quiet, loud)]
        for log in logs:
            assert log.eval.model == "replay/echo"
            assert log.eval.model_base_url is None
            assert log.eval.revision is None
            assert len(log.samples or []) == 1
            calls = [event.call for event in (log.samples or [])[0].events if event.event == "model"]
            assert calls == [None]
        configs = [log.eval.model_generate_config.model_dump(exclude_none=True) for log in logs]
        assert configs[0] == configs[1]
        assert configs[1]["max_tokens"] == 800
        assert b"hostile" not in json.dumps(logs[1].eval.model_dump(mode="json")).encode()
