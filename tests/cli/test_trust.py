"""A case that came from elsewhere: refused with one line until it is reviewed, or run on a word that is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tamesu.core.planning import Grouping, Retries
from tamesu.edge.store.paths import Project
from tamesu.stages.lock import lock_missing
from tamesu.stages.plan_file import save_plan
from tamesu.stages.trust import give_word
from tamesu.stages.workflow import make_workflow_plan
from tests.cli.calling import Caller, one_line
from tests.fake_docker import FakeDocker
from tests.projects import EXPERIMENT, Done, ShapesProject

MARKER = "cases/shape-drawing/.untrusted-origin"
TASK = f"{EXPERIMENT}/inspect/task.py"
CONTENT = "b5db5d66aa259840819fa6c443a67b360d68cac1b75526ccb1045e70d8f09a0a"
WELL_FORMED = f"""\
schema_version: 1
content_digest: {CONTENT}
source: acme-shapes-1.0.0.tamesu.tar.gz
unpacked_at: "2026-01-31T12:00:00Z"
"""
STORY = "acme-shapes-1.0.0.tamesu.tar.gz, unpacked 2026-01-31T12:00:00Z"
REFUSAL = (
    f"{MARKER}: this case came from elsewhere ({STORY}), and running it runs its code; review {TASK} and 1 more "
    "source, then delete this file or give --trust-code"
)


def mark(project: ShapesProject, content: str = WELL_FORMED) -> Path:
    marker = project.path(MARKER)
    marker.write_text(content)
    return marker


def attempts(project: ShapesProject) -> list[dict[str, object]]:
    return [yaml.safe_load(path.read_text()) for path in sorted(project.eval.glob("runs/*/attempts/*.yml"))]


def run_records(project: ShapesProject) -> list[dict[str, object]]:
    return [yaml.safe_load(path.read_text()) for path in sorted(project.eval.glob("runs/*/run.yml"))]


class TestRefused:
    @pytest.mark.parametrize(
        "command", [("run",), ("run", "replayed"), ("resume",), ("resume", "--again")], ids=" ".join
    )
    def test_by_every_command_that_would_execute(
        self, command: tuple[str, ...], shapes: ShapesProject, call: Caller
    ) -> None:
        mark(shapes)
        assert one_line(call(shapes, *command), 2) == REFUSAL
        assert shapes.calls() == []
        assert shapes.ledger() == []

    @pytest.mark.parametrize("command", ["preflight", "run --dry-run"])
    def test_by_what_checks_before_paying(self, command: str, shapes: ShapesProject, call: Caller) -> None:
        mark(shapes)
        assert one_line(call(shapes, *command.split()), 2) == REFUSAL

    def test_until_the_marker_is_deleted(self, one_run: ShapesProject, call: Caller) -> None:
        marker = mark(one_run)
        assert call(one_run, "run").code == 2
        marker.unlink()
        assert call(one_run, "run").code == 0
        assert [attempt["trusted_code"] for attempt in attempts(one_run)] == [[]]
        assert [record["execution"]["trusted_code"] for record in run_records(one_run)] == [[]]  # type: ignore[index]

    def test_by_a_job_of_a_plan_that_was_made_before(self, one_run: ShapesProject, call: Caller) -> None:
        project = Project(one_run.root)
        plan = make_workflow_plan(project, project.refs(), Grouping.BATCHED, Retries.BOUNDED, 1.0)
        (launch,) = plan.launches
        jobs = [(launch.id, "--plan", str(save_plan(project, plan)), "--receipt", str(project.receipts / "x"))]
        assert call(one_run, "freeze", *jobs[0]).code == 0
        mark(one_run)
        assert one_line(call(one_run, "execute", *jobs[0]), 2).startswith(f"{MARKER}: this case came from elsewhere")
        assert one_run.calls() == []

    def test_when_the_marker_is_another_one_than_the_word_was_given_for(
        self, one_run: ShapesProject, call: Caller
    ) -> None:
        mark(one_run)
        project = Project(one_run.root)
        words = give_word(project)
        plan = make_workflow_plan(project, project.refs(), Grouping.BATCHED, Retries.BOUNDED, 1.0, words)
        (launch,) = plan.launches
        assert launch.allowed
        job = (launch.id, "--plan", str(save_plan(project, plan)), "--receipt", str(project.receipts / "x"))
        assert call(one_run, "freeze", *job).code == 0
        mark(one_run, WELL_FORMED.replace("1.0.0", "1.0.1"))
        assert "acme-shapes-1.0.1" in one_line(call(one_run, "execute", *job), 2)
        assert one_run.calls() == []

    def test_by_bare_snakemake_which_takes_no_word(self, one_run: ShapesProject) -> None:
        mark(one_run)
        done = one_run.snakemake()
        assert done.code == 1
        own = [line for line in done.err.splitlines() if line.startswith("tamesu: ")]
        assert own == [f"tamesu: {REFUSAL}"]
        done = one_run.snakemake("--config", "trust_code=true")
        own = [line for line in done.err.splitlines() if line.startswith("tamesu: ")]
        assert (done.code, own) == (
            1,
            [
                "tamesu: --config trust_code: is no setting; review the code, then `tamesu run EVAL --trust-code`",
            ],
        )
        assert one_run.calls() == []

    def test_when_the_task_lies_in_another_case(self, one_run: ShapesProject, call: Caller) -> None:
        """An eval of one's own may name a task of a case that came from elsewhere."""
        own = one_run.path("cases/own")
        shutil.copytree(one_run.path("cases/shape-drawing"), own)
        shutil.rmtree(own / "experiments/prompt-wording/inspect")
        manifest = own / "experiments/prompt-wording/evals/replayed/eval.yml"
        foreign = f"../../../../../../{EXPERIMENT}/inspect/"
        manifest.write_text(manifest.read_text().replace("../../inspect/", foreign))
        mark(one_run)
        line = one_line(call(one_run, "run", "own/prompt-wording/replayed"), 2)
        assert line.startswith(f"{MARKER}: this case came from elsewhere")
        assert f"review {TASK}" in line
        assert one_run.calls() == []

    def test_when_the_task_is_a_link_into_another_case(self, one_run: ShapesProject, call: Caller) -> None:
        own = one_run.path("cases/own")
        shutil.copytree(one_run.path("cases/shape-drawing"), own)
        task = own / "experiments/prompt-wording/inspect/task.py"
        task.unlink()
        task.symlink_to(one_run.path(TASK))
        mark(one_run)
        line = one_line(call(one_run, "run", "own/prompt-wording/replayed"), 2)
        assert line.startswith(f"{MARKER}: this case came from elsewhere")

    def test_before_an_image_is_asked_for(
        self, shapes: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        docker = FakeDocker.install(tmp_path / "docker", monkeypatch)
        docker.holds("remote", "python:3.12", "a", "python@sha256:" + "1" * 64)
        shapes.path(EXPERIMENT / "inspect/compose.yaml").write_text("services: {a: {image: 'python:3.12'}}\n")
        shapes.edit_eval("generation: [", "generation: [../../inspect/compose.yaml, ")
        shapes.edit_eval("  artifacts:\n", "  allow_mutable_images: true\n  artifacts:\n")
        mark(shapes)
        for command in ("run", "resume", "preflight"):
            assert "and 2 more sources" in one_line(call(shapes, command), 2)
        assert docker.calls() == []
        shapes.path(MARKER).unlink()
        assert shapes.tamesu("preflight").code == 1, "the image is not locked"
        assert any(called.startswith("compose ") for called in docker.calls())
        project = Project(shapes.root)
        lock_missing(project, project.refs(), lambda _line: None)
        assert "pull --quiet python:3.12" in docker.calls()


DAMAGED = {
    "empty": "",
    "of another shape": "[]",
    "with an unknown field": WELL_FORMED + "reviewed: true\n",
    "without a digest": "source: x\nunpacked_at: '2026-01-31T12:00:00Z'\n",
    "of a later version": WELL_FORMED.replace("schema_version: 1", "schema_version: 2"),
    "with a digest that is none": WELL_FORMED.replace(CONTENT, CONTENT.upper()),
    "with a tag": WELL_FORMED.replace("acme", "!!python/object/apply:os.system [acme"),
    "cut": WELL_FORMED[:40],
}


class TestWhateverLiesThere:
    @pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
    def test_a_damaged_marker_marks_as_well(self, content: str, shapes: ShapesProject, call: Caller) -> None:
        mark(shapes, content)
        line = one_line(call(shapes, "run"), 2)
        assert line.startswith(f"{MARKER}: this case came from elsewhere (the marker is damaged: ")
        assert line.endswith("then delete this file or give --trust-code")

    @pytest.mark.parametrize("kind", ["dangling link", "link", "folder", "pipe", "too large"])
    def test_no_word_can_be_given_for_what_has_no_content(
        self, kind: str, shapes: ShapesProject, call: Caller, tmp_path: Path
    ) -> None:
        marker = shapes.path(MARKER)
        made: dict[str, Callable[[], object]] = {
            "dangling link": lambda: marker.symlink_to(tmp_path / "nowhere"),
            "link": lambda: marker.symlink_to(mark_elsewhere(tmp_path)),
            "folder": marker.mkdir,
            "pipe": lambda: os.mkfifo(marker),
            "too large": lambda: marker.write_text(WELL_FORMED + "#" * 70_000),
        }
        made[kind]()
        for command in (("run",), ("run", "replayed", "--trust-code")):
            line = one_line(call(shapes, *command), 2)
            assert line.startswith(f"{MARKER}: this case came from elsewhere (the marker cannot be read: ")
            assert line.endswith(f"review {TASK} and 1 more source, then delete this file")
        assert shapes.calls() == []

    def test_what_a_marker_says_is_shown_on_one_line(self, shapes: ShapesProject, call: Caller) -> None:
        mark(shapes, WELL_FORMED.replace("source: acme-shapes-1.0.0.tamesu.tar.gz", f"source: '\u202e{'x' * 450}'"))
        line = one_line(call(shapes, "run"), 2)
        assert "\u202e" not in line
        assert "\\u202e" + "x" * 199 + "," in line


def mark_elsewhere(folder: Path) -> Path:
    path = folder / "marker.yml"
    path.write_text(WELL_FORMED)
    return path


class TestOnAWord:
    def test_it_runs_and_every_record_says_so(self, one_run: ShapesProject, call: Caller) -> None:
        """The word reaches the Snakemake jobs through the plan; nobody types it elsewhere."""
        mark(one_run)
        done = call(one_run, "run", "replayed", "--trust-code")
        assert done.code == 0, done.out + done.err
        assert len(one_run.calls()) == 1
        (attempt,), (record,) = attempts(one_run), run_records(one_run)
        (word,) = attempt["trusted_code"]  # type: ignore[misc]
        assert word == {
            "marker": MARKER,
            "marker_sha256": hashlib.sha256(WELL_FORMED.encode()).hexdigest(),
            "content_digest": CONTENT,
            "trusted_at": word["trusted_at"],
        }
        assert word["trusted_at"] <= str(attempt["started"])
        assert record["execution"]["trusted_code"] == [word]  # type: ignore[index]
        sentence = (
            f"code from elsewhere (cases/shape-drawing, content {CONTENT[:12]}) ran in 1 run(s) on a person's word"
        )
        assert sentence in (one_run.eval / "evaluation-report.md").read_text()
        assert call(one_run, "lint").code == 0

    def test_the_word_holds_for_its_invocation_only(self, one_run: ShapesProject, call: Caller) -> None:
        mark(one_run)
        assert call(one_run, "run", "replayed", "--trust-code").code == 0
        assert call(one_run, "run").code == 0, "nothing is owed, so nothing would be executed"
        one_run.edit_eval("temperature: 0.7", "temperature: 0.6")
        assert one_line(call(one_run, "run"), 2).startswith(MARKER)
        assert call(one_run, "resume", "replayed", "--trust-code").code == 0
        assert len(attempts(one_run)) == 2

    def test_it_is_kept_when_another_process_closes_the_attempt(self, one_run: ShapesProject, call: Caller) -> None:
        marker = mark(one_run)
        assert call(one_run, "run", "replayed", "--trust-code").code == 0
        (word,) = attempts(one_run)[0]["trusted_code"]  # type: ignore[misc]
        marker.unlink()
        for path in (*one_run.eval.glob("runs/*/attempts/01.yml"), *one_run.eval.glob("runs/*/run.yml")):
            path.unlink()
        assert call(one_run, "run").code == 0
        (attempt,) = attempts(one_run)
        assert str(attempt["adopted"]).startswith("process ")
        assert attempt["trusted_code"] == [word]
        assert len(one_run.calls()) == 1

    def test_a_damaged_marker_is_bound_by_its_bytes(self, one_run: ShapesProject, call: Caller) -> None:
        mark(one_run, "")
        assert call(one_run, "run", "replayed", "--trust-code").code == 0
        (word,) = attempts(one_run)[0]["trusted_code"]  # type: ignore[misc]
        assert (word["marker_sha256"], word["content_digest"]) == (hashlib.sha256(b"").hexdigest(), None)
        assert "(cases/shape-drawing, a damaged marker)" in (one_run.eval / "evaluation-report.md").read_text()

    def test_preflight_imports_the_task_and_keeps_the_word(self, one_run: ShapesProject) -> None:
        mark(one_run)
        done: Done = one_run.tamesu("preflight", "replayed", "--trust-code", "--json")
        assert done.code == 0, done.out + done.err
        ((run,),) = [view["runs"] for view in json.loads(done.out)]
        assert {check["name"]: check["state"] for check in run["checks"]}["import"] == "pass"
        assert [word["content_digest"] for word in run["trusted_code"]] == [CONTENT]

    def test_it_names_the_eval_whose_code_was_reviewed(self, shapes: ShapesProject, call: Caller) -> None:
        mark(shapes)
        for command in ("run", "resume", "preflight"):
            line = one_line(call(shapes, command, "--trust-code"), 2)
            assert line == "--trust-code: is a word for the code of one eval; name the eval whose code you reviewed"
        assert shapes.calls() == []

    def test_without_a_marker_it_changes_nothing(self, one_run: ShapesProject, call: Caller) -> None:
        assert call(one_run, "run", "replayed", "--trust-code").code == 0
        assert [attempt["trusted_code"] for attempt in attempts(one_run)] == [[]]
