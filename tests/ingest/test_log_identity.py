"""The identity of a log is computed again from its own fields and the sealed files beside it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from tamesu.base.errors import LogRefused
from tamesu.core.identity import partition_digest
from tamesu.edge.backends.inspect.log_identity import check_identity, generation_from_log
from tamesu.edge.backends.protocol import AttemptRequest
from tamesu.edge.providers.settings import METADATA_KEY
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.attempts import make_request
from tamesu.stages.freeze import read_spec
from tests.ingest.lab import EXPERIMENT, TASK, attempt, lab, log_path, the_run, turn, work_off
from tests.ingest.rewriting import pin, rewrite_log
from tests.projects import ShapesProject

ITEMS = {"a": turn(), "b": turn("C")}
SCORER = "def unused_by_the_model():\n    return 1\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    """A run with a limit of every kind, task arguments and a scoring source."""
    project = lab(
        tmp_path_factory.mktemp("made") / "lab",
        ITEMS,
        paid=True,
        task=TASK.replace("def probe(dataset, **settings)", "def probe(dataset, flavour, **settings)"),
        changes={
            "execution": {
                "task_args": {"flavour": "sweet"},
                "limits": {"token_limit": 9000, "message_limit": 8, "turn_limit": 7, "working_limit": 50},
                "sources": {"generation": ["../../inspect/task.py"], "scoring": ["../../inspect/judge.py"]},
            },
            "defaults": {"parameters": {"temperature": 0.7, "min_p": 0.1}, "retries": 1},
        },
    )
    (project.path(EXPERIMENT) / "inspect" / "judge.py").write_text(SCORER)
    assert work_off(project).error is None
    assert project.states() == {"banked": 1}
    return project


@pytest.fixture
def copied(made: ShapesProject, tmp_path: Path) -> ShapesProject:
    shutil.copytree(made.root, tmp_path / "lab", symlinks=True)
    return ShapesProject(tmp_path / "lab")


def request_of(project: ShapesProject) -> AttemptRequest:
    found = Project(project.root)
    spec = read_spec(RunPaths(the_run(project)))
    return make_request(found, spec, 1, attempt(project)["asked"])


def check(project: ShapesProject) -> None:
    check_identity(log_path(project), request_of(project))


def test_the_log_yields_the_planned_map(made: ShapesProject) -> None:
    request = request_of(made)
    header = read_eval_log(str(log_path(made)), header_only=True).eval
    claims = dict((header.metadata or {})[METADATA_KEY])
    planned = dict(request.spec.identity.generation)
    assert generation_from_log(header, claims, request) == planned
    assert partition_digest(planned) == request.spec.identity.generation_digest
    assert planned["limit/token_limit"] == 9000
    assert planned["task_arg/flavour"] == "sweet"
    check(made)


NATIVE = (
    "adapter_version", "model_uri", "provider", "base_url_origin", "task_function", "inspect_version", "retries",
    "timeout_seconds", "dataset", "limit/cost_limit", "limit/time_limit", "limit/token_limit", "limit/turn_limit",
    "limit/working_limit", "task_arg/flavour", "source/task.py", "recordings",
)  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
def test_fields_that_stand_in_the_log_natively_are_not_taken_from_its_claims(made: ShapesProject, name: str) -> None:
    request = request_of(made)
    header = read_eval_log(str(log_path(made)), header_only=True).eval
    planned = dict(request.spec.identity.generation)
    claims = {"generation": {**planned, name: "claimed"}}
    assert generation_from_log(header, claims, request)[name] == planned[name]


def claim(log: EvalLog) -> dict[str, Any]:
    return (log.eval.metadata or {})[METADATA_KEY]


def spec_field(name: str, value: object) -> Callable[[EvalLog], None]:
    return lambda log: setattr(log.eval, name, value)


def limit(name: str, value: object) -> Callable[[EvalLog], None]:
    return lambda log: setattr(log.eval.config, name, value)


def config(name: str, value: object) -> Callable[[EvalLog], None]:
    return lambda log: setattr(log.eval.model_generate_config, name, value)


def claimed(name: str, value: object) -> Callable[[EvalLog], None]:
    return lambda log: claim(log)["generation"].update({name: value})


ALTERED: dict[str, Callable[[EvalLog], None]] = {
    "model": spec_field("model", "replay/other"),
    "provider": spec_field("model", "openai/echo"),
    "base-url": spec_field("model_base_url", "https://elsewhere.example.org"),
    "task": spec_field("task", "another-run"),
    "task-function": spec_field("task_registry_name", "other"),
    "task-args": spec_field("task_args_passed", {"dataset": "x", "flavour": "sour"}),
    "task-args-more": spec_field("task_args_passed", {"dataset": "x", "flavour": "sweet", "extra": 1}),
    "task-args-fewer": spec_field("task_args_passed", {"dataset": "x"}),
    "inspect-version": spec_field("packages", {"inspect_ai": "0.3.284"}),
    "inspect-version-absent": spec_field("packages", {}),
    "sample-ids-fewer": lambda log: setattr(log.eval.dataset, "sample_ids", ["a"]),
    "sample-ids-other": lambda log: setattr(log.eval.dataset, "sample_ids", ["a", "c"]),
    "sample-ids-order": lambda log: setattr(log.eval.dataset, "sample_ids", ["b", "a"]),
    "sample-ids-absent": lambda log: setattr(log.eval.dataset, "sample_ids", None),
    "temperature": config("temperature", 0.8),
    "temperature-absent": config("temperature", None),
    "max-tokens": config("max_tokens", 801),
    "extra-body": config("extra_body", {"min_p": 0.2}),
    "top-p": config("top_p", 0.9),
    "retries": config("max_retries", 2),
    "timeout": config("attempt_timeout", 31),
    "adaptive": config("adaptive_connections", True),
    "cost-limit": limit("cost_limit", 1.0),
    "time-limit": limit("time_limit", 61),
    "token-limit": limit("token_limit", 9001),
    "turn-limit": limit("turn_limit", 8),
    "working-limit": limit("working_limit", 51),
    "message-limit": limit("message_limit", 9),
    "cost-limit-absent": limit("cost_limit", None),
    "time-limit-absent": limit("time_limit", None),
    "token-limit-absent": limit("token_limit", None),
    "epochs": limit("epochs", 2),
    "claim-absent": spec_field("metadata", {}),
    "claim-run": lambda log: claim(log).update(run_id="another-run"),
    "claim-attempt": lambda log: claim(log).update(attempt=2),
    "claim-no-map": lambda log: claim(log).update(generation="x"),
    "claim-more": claimed("parameter/seed", 1),
    "claim-parameter": claimed("parameter/temperature", 0.8),
    "claim-repetition": claimed("repetition", 2),
    "claim-images": claimed("images", [{"file": "x", "reference": "y"}]),
    "claim-limit": claimed("limit/message_limit", 9),
    "claim-source": claimed("source/other.py", "1" * 64),
}


@pytest.mark.parametrize("name", sorted(ALTERED))
def test_one_altered_field_is_refused(copied: ShapesProject, name: str) -> None:
    rewrite_log(log_path(copied), ALTERED[name])
    with pytest.raises(LogRefused, match=r"attempt-01\.eval: "):
        check(copied)


def test_a_log_that_was_only_written_again_is_accepted(copied: ShapesProject) -> None:
    rewrite_log(log_path(copied), lambda _log: None)
    check(copied)


def _append(path: Path, content: bytes) -> None:
    path.write_bytes(path.read_bytes() + content)


SEALED = {
    "source": lambda run: _append(run.sources / "task.py", b"#\n"),
    "scoring-source": lambda run: _append(run.sources / "judge.py", b"#\n"),
    "dataset": lambda run: run.dataset.write_bytes(run.dataset.read_bytes().replace(b"ask a", b"ask A")),
    "dataset-target": lambda run: run.dataset.write_bytes(
        run.dataset.read_bytes().replace(b'"target":""', b'"target":"x"')
    ),
    "dataset-shorter": lambda run: run.dataset.write_bytes(run.dataset.read_bytes().split(b"\n")[0] + b"\n"),
    "dataset-order": lambda run: run.dataset.write_bytes(
        b"\n".join(reversed(run.dataset.read_bytes().splitlines())) + b"\n"
    ),
    "recordings": lambda run: _append(run.recordings, b"\n"),
}


@pytest.mark.parametrize("name", sorted(SEALED))
def test_an_altered_sealed_file_is_refused(copied: ShapesProject, name: str) -> None:
    SEALED[name](RunPaths(the_run(copied)))
    with pytest.raises(LogRefused):
        check(copied)


class TestRescore:
    def test_ingesting_again_changes_no_byte(self, copied: ShapesProject) -> None:
        before = evidence(copied)
        done = copied.tamesu("rescore")
        assert done.code == 0, done.err
        assert "complete, 2/2" in done.out
        assert evidence(copied) == before

    def test_what_was_lost_is_made_again(self, copied: ShapesProject) -> None:
        before = evidence(copied)
        (the_run(copied) / "items" / "a" / "result.yml").unlink()
        (the_run(copied) / "run.yml").unlink()
        assert copied.tamesu("rescore").code == 0
        assert evidence(copied) == before
        assert copied.states() == {"banked": 1}

    def test_a_tampered_log_is_refused_and_nothing_written(self, copied: ShapesProject) -> None:
        (the_run(copied) / "items" / "a" / "result.yml").unlink()
        _append(log_path(copied), b"\0")
        before = everything(copied)
        done = copied.tamesu("rescore")
        assert done.code == 2, done.out + done.err
        (line,) = [line for line in done.err.splitlines() if line]
        assert "attempt-01.eval: was altered after attempt 1 recorded it" in line
        assert everything(copied) == before

    def test_a_log_whose_record_was_adjusted_is_refused_too(self, copied: ShapesProject) -> None:
        rewrite_log(log_path(copied), spec_field("model", "replay/other"))
        pin(the_run(copied))
        before = everything(copied)
        done = copied.tamesu("rescore")
        assert done.code == 2, done.out + done.err
        assert everything(copied) == before

    def test_a_log_of_another_run_is_refused(self, tmp_path: Path) -> None:
        project = lab(tmp_path / "lab", ITEMS, changes={"defaults": {"repetitions": 2}})
        assert work_off(project).error is None
        first, second = sorted(path for path in (project.eval / "runs").glob("echo--*"))
        shutil.copyfile(second / "inspect" / "attempt-01.eval", first / "inspect" / "attempt-01.eval")
        pin(first)
        before = everything(project)
        done = project.tamesu("rescore")
        assert done.code == 2, done.out + done.err
        assert "belongs to another run" in done.err
        assert everything(project) == before


def evidence(project: ShapesProject) -> dict[str, bytes]:
    """run.yml and all results, artifacts and attempts."""
    run = the_run(project)
    names = ("run.yml", "items/*/result.yml", "items/*/artifacts/**/*", "attempts/*.yml", "inspect/*.eval")
    files = [path for name in names for path in run.glob(name) if path.is_file()]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in files}


def everything(project: ShapesProject) -> dict[str, bytes]:
    """Every file of the project but Tamesu's own state."""
    files = [path for path in project.root.rglob("*") if path.is_file()]
    names = {path.relative_to(project.root): path for path in files}
    return {name.as_posix(): path.read_bytes() for name, path in names.items() if name.parts[0] != ".tamesu"}


def refuse_every_log() -> None:
    import tamesu.edge.backends.inspect.adapter

    def check(*_arguments: object) -> None:
        raise LogRefused("x.eval: was altered")

    tamesu.edge.backends.inspect.adapter.InspectBackend.check_identity = check  # type: ignore[assignment]


def test_a_log_that_is_refused_at_once_is_told_by_the_job_that_ingests(tmp_path: Path) -> None:
    """The process that executed a run ingests it; what that refuses ends no other run, and is told once."""
    project = lab(tmp_path / "lab", ITEMS)
    assert work_off(project, "freeze").error is None
    worked = work_off(project, before=refuse_every_log)
    assert worked.error == "LogRefused: x.eval: was altered"
    assert "attempt 1 finished, 2/2 items good" in worked.told
    assert attempt(project)["state"] == "finished"
    assert not (the_run(project) / "run.yml").exists()
    assert work_off(project).error is None
    assert project.states() == {"banked": 1}
