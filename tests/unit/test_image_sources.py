"""Images as part of a whole eval: which files are copied, what counts for a run ID, what lint says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamesu.core.image_lock import LockedImage
from tamesu.edge.documents.eval_reader import ReadEval, read_eval
from tamesu.edge.documents.images.lock_file import lock_bytes
from tamesu.edge.store.paths import Project
from tests.projects import EXPERIMENT, ShapesProject

PIN = "python@sha256:" + "a" * 64
INSPECT = EXPERIMENT / "inspect"


def read(project: ShapesProject) -> ReadEval:
    (ref,) = Project(project.root).refs()
    return read_eval(Project(project.root), ref)


def run_ids(project: ShapesProject) -> set[str]:
    found = read(project)
    assert found.matrix is not None, [str(finding) for finding in found.findings]
    return {spec.run_id for spec in found.matrix.runs}


def copied(project: ShapesProject) -> set[str]:
    found = read(project)
    assert found.matrix is not None
    return {source.target for source in found.matrix.runs[0].executed}


def write(project: ShapesProject, name: str, text: str) -> None:
    path = project.path(INSPECT / name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def built(shapes: ShapesProject) -> ShapesProject:
    """A project whose compose file builds from a declared folder with an ignore file."""
    write(shapes, "compose.yaml", "services: {default: {build: {context: ./box}}}\n")
    write(shapes, "box/Dockerfile", f"FROM {PIN}\nCOPY . /box\n")
    write(shapes, "box/.dockerignore", "**/*.log\nlocal.py\nDockerfile\n.dockerignore\n")
    write(shapes, "box/data.bin", "data\n")
    write(shapes, "box/deep/noise.log", "noise\n")
    write(shapes, "box/local.py", "x = 1\n")
    shapes.edit_eval("generation: [", "generation: [../../inspect/compose.yaml, ../../inspect/box, ")
    return shapes


def test_a_build_context_is_copied_less_what_is_ignored(built: ShapesProject) -> None:
    assert {name for name in copied(built) if name.startswith("box/")} == {
        "box/Dockerfile",
        "box/.dockerignore",
        "box/data.bin",
    }
    assert [str(one) for one in read(built).findings if one.severity == "error"] == []


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("box/data.bin", True),
        ("box/new.bin", True),
        ("box/Dockerfile", True),
        ("box/.dockerignore", True),
        ("box/deep/noise.log", False),
        ("box/deep/new.log", False),
        ("box/local.py", False),
    ],
)
def test_a_context_counts_whole_less_what_is_ignored(built: ShapesProject, name: str, counts: bool) -> None:
    before = run_ids(built)
    path = built.path(INSPECT / name)
    path.write_text((path.read_text() if path.exists() else "") + "# changed\n")
    assert (run_ids(built) != before) is counts


def test_an_ignored_file_that_is_declared_by_name_counts(built: ShapesProject) -> None:
    built.edit_eval("generation: [", "generation: [../../inspect/box/deep/noise.log, ")
    assert "box/deep/noise.log" in copied(built)


def test_code_beside_the_task_counts_although_the_build_ignores_it(shapes: ShapesProject) -> None:
    write(shapes, "compose.yaml", "services: {default: {build: .}}\n")
    write(shapes, "Dockerfile", f"FROM {PIN}\n")
    write(shapes, ".dockerignore", "*\n")
    write(shapes, "helper.py", "x = 1\n")
    write(shapes, "notes.txt", "x\n")
    shapes.edit_eval("generation: [../../inspect/task.py]", "generation: [../../inspect]")
    assert {"helper.py", "task.py", "Dockerfile", ".dockerignore", "compose.yaml"} <= copied(shapes)
    assert "notes.txt" not in copied(shapes)


def test_a_lock_is_a_source_without_being_declared(shapes: ShapesProject) -> None:
    write(shapes, "Dockerfile", "FROM python:3\n")
    shapes.edit_eval("generation: [", "generation: [../../inspect/Dockerfile, ")
    assert {"image/not-pinned"} == {one.rule for one in read(shapes).findings}
    write(shapes, "Dockerfile.lock.yml", lock_bytes({"python:3": LockedImage(PIN)}).decode())
    assert read(shapes).findings == ()
    assert "Dockerfile.lock.yml" in copied(shapes)
    before = run_ids(shapes)
    write(shapes, "Dockerfile.lock.yml", lock_bytes({"python:3": LockedImage("sha256:" + "b" * 64)}).decode())
    assert not before & run_ids(shapes)


def test_a_lock_of_a_scoring_source_counts_for_scoring(shapes: ShapesProject) -> None:
    write(shapes, "Dockerfile", "FROM python:3\n")
    write(shapes, "Dockerfile.lock.yml", lock_bytes({"python:3": LockedImage(PIN)}).decode())
    shapes.edit_eval("scoring: [", "scoring: [../../inspect/Dockerfile, ")
    before = read(shapes).matrix
    write(shapes, "Dockerfile.lock.yml", lock_bytes({"python:3": LockedImage("sha256:" + "b" * 64)}).decode())
    after = read(shapes).matrix
    assert before is not None
    assert after is not None
    old, new = before.runs[0].identity, after.runs[0].identity
    assert old.generation_digest == new.generation_digest
    assert old.scoring_digest != new.scoring_digest


def test_a_syntax_image_is_a_warning(shapes: ShapesProject) -> None:
    write(shapes, "Dockerfile", f"# syntax=docker/dockerfile:1\nFROM {PIN}\n")
    shapes.edit_eval("generation: [", "generation: [../../inspect/Dockerfile, ")
    (found,) = read(shapes).findings
    assert (found.rule, found.severity, found.line) == ("image/not-pinned", "warning", 1)


def test_a_lock_that_leads_out_of_the_project_is_none(shapes: ShapesProject, tmp_path: Path) -> None:
    (tmp_path / "outside.yml").write_bytes(lock_bytes({"python:3": LockedImage(PIN)}))
    write(shapes, "Dockerfile", "FROM python:3\n")
    shapes.path(INSPECT / "Dockerfile.lock.yml").symlink_to(tmp_path / "outside.yml")
    shapes.edit_eval("generation: [", "generation: [../../inspect/Dockerfile, ")
    assert "image/not-pinned" in {one.rule for one in read(shapes).findings}


@pytest.mark.parametrize("name", ["dockerfile.py", "dockerfile_notes.md"])
def test_a_file_that_only_begins_like_a_dockerfile_is_none(shapes: ShapesProject, name: str) -> None:
    write(shapes, name, "from os import path\n")
    shapes.edit_eval("generation: [", f"generation: [../../inspect/{name}, ")
    assert read(shapes).findings == ()


def test_a_link_in_a_declared_folder_may_not_lead_out_of_the_project(built: ShapesProject, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    built.path(INSPECT / "box/link.bin").symlink_to(tmp_path / "secret")
    (found,) = (one for one in read(built).findings if one.severity == "error")
    assert (found.rule, found.line) == ("path/escapes", 13)
    assert "box/link.bin" in found.message


def test_a_name_that_is_too_long_for_the_disk_is_a_finding(shapes: ShapesProject) -> None:
    write(shapes, "compose.yaml", f"services: {{default: {{build: {'x' * 300}}}}}\n")
    shapes.edit_eval("generation: [", "generation: [../../inspect/compose.yaml, ")
    assert {"image/undeclared-context", "image/undeclared-file"} == {one.rule for one in read(shapes).findings}
