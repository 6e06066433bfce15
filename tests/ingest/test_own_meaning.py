"""Structured text through Inspect: a task file brings solver and scorers, the output and its checks stay Tamesu's."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai.log import EvalLog, read_eval_log

from tamesu.base.errors import LogRefused
from tamesu.edge.backends.inspect.log_identity import check_identity
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.attempts import make_request
from tamesu.stages.freeze import read_spec
from tests.ingest.lab import asked, attempt, lab, log_path, result, run_yml, the_run, turn, work_off
from tests.ingest.rewriting import rewrite_log
from tests.pictures.drawn import BROKEN, drawn
from tests.projects import EVAL, EXPERIMENT, ShapesProject

TOOLS = '''\
"""Looks prices up, and says how often it did; its scorers try to replace what the model said."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

from tamesu.inspect_support import stager


@task
def probe(dataset):
    return Task(dataset=json_dataset(dataset), solver=[use_tools(price()), generate()], scorer=[SCORER()])


@tool
def price():
    async def execute(name: str) -> str:
        """Return the price of a thing.

        Args:
            name: What it is.
        """
        return "12"

    return execute


@scorer(metrics=[])
def SCORER():
    async def score(state, target):
        stage = stager(state.sample_id)
        stage.add("output", "output.txt", "replaced", "text/plain")
        stage.add("notes", "notes.txt", "a role of nobody", "text/plain")
        state.output.completion = "replaced too"
        return Score(value=sum(message.role == "tool" for message in state.messages))

    return score
'''
SCHEMA = {"type": "object", "properties": {"price": {"type": "integer"}}}
CHECKS = ["valid_json", "exact_match"]
FINAL = '{"price": 12}'
LOOKED_UP = [turn("", tool_calls=[{"function": "price", "arguments": {"name": "tea"}}]), turn(FINAL)]


def text(checks: list[Any], **execution: Any) -> dict[str, Any]:
    """Return the changes that make a text eval of the laboratory's."""
    return {
        "task": "structured_text",
        "output_schema": SCHEMA,
        "execution": execution,
        "evaluation": {"mechanical": checks},
        "metrics": {"primary": "exact_match_rate"},
    }


def built_in(target: Path, items: Mapping[str, Any], **defaults: Any) -> ShapesProject:
    """Return a text eval on Inspect that names no task file."""
    project = lab(target, items, changes={**text(CHECKS), "defaults": defaults})
    manifest = project.path(EVAL / "eval.yml")
    value = yaml.safe_load(manifest.read_text())
    for name in ("file", "task", "sources"):
        del value["execution"][name]
    manifest.write_text(yaml.safe_dump(value, sort_keys=False))
    return project


@pytest.fixture(scope="module")
def looked_up(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    project = lab(
        tmp_path_factory.mktemp("tools") / "lab",
        {"a": LOOKED_UP, "b": turn("I do not know")},
        task=TOOLS.replace("SCORER", "calls"),
        changes=text([*CHECKS, {"calls": {"pass_at": 1}}]),
    )
    assert work_off(project).error is None
    return project


STAGED = '''\
"""Its scorer stages under the roles of Tamesu's own, after the reply was kept."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, scorer
from inspect_ai.solver import generate

from tamesu.inspect_support import stager


@task
def probe(dataset):
    return Task(dataset=json_dataset(dataset), solver=[generate()], scorer=[staging()])


@scorer(metrics=[])
def staging():
    async def score(state, target):
        stage = stager(state.sample_id)
        for role, path, body, media_type in FILES:
            stage.add(role, path, body, media_type)
        return Score(value=1)

    return score
'''
PICTURE = drawn(size=(9, 9))  # what the scorer stages
PICTURES_STAGED = [
    ("output", "output-0001.png", PICTURE, "image/png"),
    ("further", "output-0002.png", PICTURE, "image/png"),
    ("words", "words.txt", "said by nobody", "text/plain"),
    ("notes", "notes.txt", "a role of nobody", "text/plain"),
]
DRAWN = {"short": drawn(), "broken": BROKEN}


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    """A picture eval whose scorer stages a picture, one more and words, whatever the reply was."""
    shown = {
        name: {"file": f"pictures/{name}.png", "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in DRAWN.items()
    }
    items = {
        "filtered": turn("", stop_reason="content_filter"),
        "refused": turn("I cannot draw that.", stop_reason="content_filter"),
        "words": turn("A mug, imagined."),
        **{name: turn("", pictures=[picture]) for name, picture in shown.items()},
    }
    project = lab(
        tmp_path_factory.mktemp("pictured") / "lab",
        items,
        task=STAGED.replace("FILES", repr(PICTURES_STAGED)),
        changes={
            "task": "image_generation",
            "evaluation": {"mechanical": [{"decodable_image": {"prerequisite": True}}, "non_uniform"]},
            "metrics": {"primary": "generation_success_rate"},
        },
    )
    for name, content in DRAWN.items():
        path = project.path(EXPERIMENT / "recordings" / "pictures" / f"{name}.png")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert work_off(project).error is None
    return project


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    """A text eval whose scorer stages a value beside an answer that is none."""
    project = lab(
        tmp_path_factory.mktemp("parsed") / "lab",
        {"a": turn("NaN")},
        task=STAGED.replace("FILES", repr([("parsed", "output.json", FINAL, "application/json")])),
        changes=text(CHECKS),
    )
    assert work_off(project).error is None
    return project


def kept(project: ShapesProject, item: str) -> dict[str, bytes]:
    """Return the artifacts of an item by name, as they lie there."""
    return {path.name: path.read_bytes() for path in (the_run(project) / "items" / item).glob("artifacts/*")}


def refusals(project: ShapesProject, item: str) -> list[tuple[str, str]]:
    return [(one["role"], one["reason"]) for one in result(project, item)["rejected_artifacts"]]


def killed_while_b_is_kept() -> None:
    """Let the process die when the answer of item b is half staged."""
    from tamesu.inspect_support import Stager

    add = Stager.add

    def dying(self: Stager, role: str, path: str, body: bytes | str, media_type: str) -> None:
        add(self, role, path, body, media_type)
        if self._binding.sample == "b":
            os.kill(os.getpid(), signal.SIGKILL)

    Stager.add = dying  # type: ignore[method-assign]


class TestTaskFile:
    def test_the_final_completion_is_the_output_and_nothing_of_the_task_replaces_it(
        self, looked_up: ShapesProject
    ) -> None:
        artifacts = the_run(looked_up) / "items" / "a" / "artifacts"
        assert {path.name: path.read_text() for path in artifacts.iterdir()} == {
            "output.txt": FINAL,
            "output.json": '{\n  "price": 12\n}\n',
        }
        rejected = result(looked_up, "a")["rejected_artifacts"]
        assert [(one["path"], one["reason"]) for one in rejected] == [
            ("output.txt", "duplicate_path"),
            ("notes.txt", "undeclared_role"),
        ]

    def test_own_scorers_count_beside_the_checks(self, looked_up: ShapesProject) -> None:
        scores = {item: result(looked_up, item)["scores"] for item in ("a", "b")}
        told = {item: {name: one["value"] for name, one in found.items()} for item, found in scores.items()}
        assert told["a"] == {"calls": 1.0, "valid_json": 1.0, "schema_valid": 1.0, "exact_match": 0.0}
        assert told["b"] == {"calls": 0.0, "valid_json": 0.0, "schema_valid": 0.0, "exact_match": 0.0}
        assert [scores[item]["calls"]["passed"] for item in ("a", "b")] == [True, False]
        assert run_yml(looked_up)["state"] == "complete"

    def test_a_scorer_that_is_called_like_a_check_is_refused_before_anything_is_asked(self, tmp_path: Path) -> None:
        project = lab(
            tmp_path / "lab",
            {"a": LOOKED_UP},
            task=TOOLS.replace("SCORER", "exact_match"),
            changes=text(CHECKS),
        )
        refused = work_off(project)
        assert refused.error == (
            "Refused: task.py: the scorer 'exact_match' is called like a check that Tamesu makes; rename it"
        )
        assert project.calls() == []

    def test_a_listed_scorer_that_the_task_lacks_is_missing(self, tmp_path: Path) -> None:
        project = lab(
            tmp_path / "lab",
            {"a": LOOKED_UP},
            task=TOOLS.replace("SCORER", "calls"),
            changes=text([*CHECKS, "beauty"]),
        )
        assert work_off(project).error is None
        found = result(project, "a")
        assert found["error"] == {"type": "MissingScore", "message": "no numeric score from beauty"}


ALL_REFUSED = [
    ("output", "not_of_the_reply"),
    ("further", "not_of_the_reply"),
    ("words", "not_of_the_reply"),
    ("notes", "undeclared_role"),
]


class TestStagedBesideTheReply:
    """A scorer of the task's stages under roles that are Tamesu's: it is refused, and the outcome is the reply's."""

    @pytest.mark.parametrize(
        ("item", "outcome", "found", "refused"),
        [
            ("filtered", ("safety_filtered", "content_filter"), {}, ALL_REFUSED),
            (
                "refused",
                ("safety_filtered", "content_filter"),
                {"words.txt": b"I cannot draw that."},
                [*ALL_REFUSED[:2], ("words", "duplicate_path"), ALL_REFUSED[3]],
            ),
            (
                "words",
                ("invalid_artifact", "missing_review_artifact"),
                {"words.txt": b"A mug, imagined."},
                [*ALL_REFUSED[:2], ("words", "duplicate_path"), ALL_REFUSED[3]],
            ),
            ("broken", ("invalid_artifact", "undecodable_image"), {"invalid-0001.bin": BROKEN}, ALL_REFUSED),
            (
                "short",
                ("generated", None),
                {"output-0001.png": DRAWN["short"]},
                [("output", "duplicate_path"), *ALL_REFUSED[1:]],
            ),
        ],
    )
    def test_a_picture_that_a_scorer_staged_is_none_of_the_reply(
        self,
        pictured: ShapesProject,
        item: str,
        outcome: tuple[str, str | None],
        found: dict[str, bytes],
        refused: list[tuple[str, str]],
    ) -> None:
        told = result(pictured, item)
        assert (told["outcome"]["status"], told["outcome"]["reason"]) == outcome
        assert kept(pictured, item) == found
        assert refusals(pictured, item) == refused
        assert told["scores"]["decodable_image"]["value"] == float(item == "short")

    def test_a_value_that_a_scorer_staged_is_none_of_an_answer_that_is_no_json(self, parsed: ShapesProject) -> None:
        told = result(parsed, "a")
        assert kept(parsed, "a") == {"output.txt": b"NaN"}
        assert refusals(parsed, "a") == [("parsed", "not_of_the_reply")]
        assert (told["state"], told["scores"]["valid_json"]["value"]) == ("complete", 0.0)

    def test_without_the_list_of_what_was_kept_an_answer_is_lost_and_no_wrong_one(
        self, parsed: ShapesProject, tmp_path: Path
    ) -> None:
        shutil.copytree(parsed.root, tmp_path / "lab", symlinks=True)
        lost = ShapesProject(tmp_path / "lab")
        (RunPaths(the_run(lost)).staging(1) / "a" / "kept.jsonl").unlink()
        (the_run(lost) / "run.yml").unlink()
        assert work_off(lost, "ingest", again=True).error is None
        told = result(lost, "a")
        assert (told["state"], told["error"]["type"], told["scores"].get("valid_json")) == (
            "failed",
            "MissingOutput",
            None,
        )
        assert {reason for _, reason in refusals(lost, "a")} == {"not_of_the_reply"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ShapesProject:
    """A run of Tamesu's own task, executed and not ingested."""
    project = built_in(tmp_path_factory.mktemp("built-in") / "lab", {"a": turn(FINAL), "b": turn("no")})
    assert work_off(project, "freeze", "execute").error is None
    return project


class TestBuiltInTask:
    @pytest.fixture
    def executed(self, made: ShapesProject, tmp_path: Path) -> ShapesProject:
        shutil.copytree(made.root, tmp_path / "lab", symlinks=True)
        return ShapesProject(tmp_path / "lab")

    def test_the_log_says_which_task_it_is_of(self, executed: ShapesProject) -> None:
        header = read_eval_log(str(log_path(executed)), header_only=True).eval
        assert (header.task_registry_name, header.task_version) == (None, 1)
        planned = read_spec(RunPaths(the_run(executed))).identity.generation
        assert planned["built_in_task"] == 1
        assert "task_function" not in planned

    def test_a_log_of_another_version_of_the_task_is_refused(self, executed: ShapesProject) -> None:
        def change(log: EvalLog) -> None:
            log.eval.task_version = 2

        rewrite_log(log_path(executed), change)
        spec = read_spec(RunPaths(the_run(executed)))
        request = make_request(Project(executed.root), spec, 1, attempt(executed)["asked"])
        with pytest.raises(LogRefused, match="its fields yield another identity"):
            check_identity(log_path(executed), request)

    def test_an_answer_of_which_nothing_is_left_is_no_wrong_answer(self, executed: ShapesProject) -> None:
        shutil.rmtree(RunPaths(the_run(executed)).staging(1) / "a")
        assert work_off(executed, "ingest").error is None
        lost, kept = result(executed, "a"), result(executed, "b")
        assert (lost["state"], lost["retryable"], lost["scores"]) == ("failed", True, {})
        assert lost["error"]["type"] == "MissingOutput"
        assert (kept["state"], kept["scores"]["valid_json"]["value"]) == ("complete", 0.0)
        assert executed.states() == {"partial": 1}
        assert work_off(executed).error is None
        assert [call["item"] for call in executed.calls()].count("a") == 2
        assert result(executed, "a")["scores"]["schema_valid"]["value"] == 1.0
        assert executed.states() == {"banked": 1}

    def test_a_kill_while_an_answer_is_kept_asks_that_item_again_and_no_other(self, tmp_path: Path) -> None:
        project = built_in(tmp_path / "lab", {"a": turn(FINAL), "b": turn(FINAL)}, concurrency=1)
        with pytest.raises(AssertionError, match="ended with -9"):
            work_off(project, before=killed_while_b_is_kept)
        assert asked(project) == ["a", "b"]
        assert work_off(project).error is None
        assert asked(project) == ["a", "b", "b"]
        artifacts = [result(project, item)["artifacts"] for item in ("a", "b")]
        assert [[one["path"] for one in found] for found in artifacts] == [
            ["artifacts/output.txt", "artifacts/output.json"]
        ] * 2
        assert project.states() == {"banked": 1}
