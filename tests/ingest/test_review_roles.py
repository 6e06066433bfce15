"""From what a scorer stages to what people review: several roles of any kind, and archives that stay bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.lab import lab, result, the_run, turn, work_off
from tests.projects import ShapesProject

TASK = '''\
"""The answer names what is staged; everything is made here, so that no file of the test is needed."""

import io
import tarfile
import zipfile

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate
from PIL import Image

from tamesu.inspect_support import stager


def picture():
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3), (200, 30, 30)).save(buffer, "PNG")
    return buffer.getvalue()


def hostile_tar():
    """A symbolic link, a hard link through it, and a file through it; names that lead out; twice the same name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, target in (
            ("d", tarfile.SYMTYPE, "/tmp/out"),
            ("h", tarfile.LNKTYPE, "d/x"),
            ("d/x", tarfile.REGTYPE, ""),
            ("../evil", tarfile.REGTYPE, ""),
            ("pipe", tarfile.FIFOTYPE, ""),
            ("a", tarfile.REGTYPE, ""),
            ("a", tarfile.REGTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return buffer.getvalue()


def hostile_zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../evil", "x")
    return buffer.getvalue()


@task
def probe(dataset):
    return Task(dataset=json_dataset(dataset), solver=[generate()], scorer=[rate()])


@scorer(metrics=[mean()])
def rate():
    async def score(state, target):
        asked = state.output.choices[0].message.text.split()
        stage = stager(state.sample_id)
        if "text" in asked:
            stage.add("answer", "answer.md", "# caf\\u00e9", "text/markdown")
        if "no-text" in asked:
            stage.add("answer", "answer.md", b"caf\\xe9", "text/markdown")
        if "sound" in asked:
            stage.add("speech", "speech.wav", b"RIFF\\x24\\0\\0\\0WAVEfmt ", "audio/wav")
        if "picture" in asked:
            stage.add("render", "render.png", picture(), "image/png")
        if "archives" in asked:
            stage.add("work", "work.tar", hostile_tar(), "application/x-tar")
            stage.add("work", "work.zip", hostile_zip(), "application/zip")
        return Score(value=1.0)

    return score
'''
ROLES = ["answer", "speech", "render"]


def reviewed(target: Path, items: dict[str, Any], review: object) -> ShapesProject:
    artifacts = {"required": ["answer"], "allowed": ["speech", "render", "work"], "review": review}
    return lab(
        target,
        items,
        task=TASK,
        changes={"execution": {"artifacts": artifacts}, "metrics": {"primary": "render_rate"}},
    )


def test_every_role_must_be_there_and_fit(tmp_path: Path) -> None:
    """What is invalid stays in the denominator of every rate."""
    items = {
        "whole": turn("text sound picture"),
        "silent": turn("text picture"),
        "garbled": turn("no-text sound picture"),
        "empty": turn("nothing"),
    }
    project = reviewed(tmp_path / "lab", items, ROLES)
    assert work_off(project).error is None
    outcomes = {name: result(project, name)["outcome"] for name in items}
    assert outcomes == {
        "whole": {"status": "generated", "reason": None},
        "silent": {"status": "invalid_artifact", "reason": "missing_review_artifact"},
        "garbled": {"status": "invalid_artifact", "reason": "undecodable_text"},
        "empty": {"status": "invalid_artifact", "reason": "missing_review_artifact"},
    }
    output = result(project, "whole")["output"]
    assert [(one["role"], one["path"], one["reason"]) for one in output] == [
        ("answer", "artifacts/answer.md", None),
        ("speech", "artifacts/speech.wav", None),
        ("render", "artifacts/render.png", None),
    ]
    folder = the_run(project) / "items" / "whole"
    for one in output:
        content = (folder / one["path"]).read_bytes()
        assert (one["sha256"], one["size"]) == (hashlib.sha256(content).hexdigest(), len(content))
    assert [one["reason"] for one in result(project, "garbled")["output"]] == ["undecodable_text", None, None]
    assert result(project, "empty")["output"] is None
    done = project.tamesu("report", "replayed")
    assert done.code == 0, done.err
    leaderboard = (project.eval / "leaderboard.md").read_text()
    assert "render_rate" in leaderboard
    assert "0.250" in leaderboard
    page = (project.root / "build/shape-drawing/prompt-wording/replayed.html").read_text()
    assert page.count("data:image/png;base64,") == 1, "the one item that is fit shows its picture"
    assert page.count("># caf\u00e9</pre>") == 1
    assert page.count("<audio controls") == page.count("data:audio/wav;base64,") == 1


@pytest.mark.parametrize(
    ("review", "asked", "status", "reason"),
    [
        ("render", "picture", "generated", None),
        ("answer", "text", "invalid_artifact", "review_artifact_not_an_image"),
        (["answer"], "text", "generated", None),
    ],
    ids=["a picture", "a text by its name", "a text in a list"],
)
def test_one_role_has_an_output_of_one(
    review: object, asked: str, status: str, reason: str | None, tmp_path: Path
) -> None:
    project = reviewed(tmp_path / "lab", {"a": turn(asked)}, review)
    assert work_off(project).error is None
    assert result(project, "a")["outcome"] == {"status": status, "reason": reason}
    assert set(result(project, "a")["output"]) == {"path", "sha256", "size"}


def test_c48_a_staged_archive_is_kept_as_bytes_and_never_extracted(tmp_path: Path) -> None:
    project = reviewed(tmp_path / "lab", {"a": turn("text archives")}, ["answer"])
    assert work_off(project).error is None
    found = result(project, "a")
    assert (found["state"], found["rejected_artifacts"]) == ("complete", [])
    folder = the_run(project) / "items" / "a"
    files = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()
    }
    assert files == {"result.yml", "artifacts/answer.md", "artifacts/work.tar", "artifacts/work.zip"}
    assert not any(path.is_symlink() for path in project.root.rglob("*"))
    kept = {one["path"]: one["sha256"] for one in found["artifacts"] if one["role"] == "work"}
    assert kept == {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest()
        for path in ("artifacts/work.tar", "artifacts/work.zip")
    }
    assert list(project.root.rglob("evil")) == []
    assert not Path("/tmp/out").exists()
