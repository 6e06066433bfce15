"""Sandboxes that a manifest or a task module names: their images are seen, their files are those of the copy."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tamesu.base.canonical import Json
from tamesu.base.errors import Refused
from tamesu.edge.backends.inspect.sandbox_option import chosen_sandbox
from tamesu.edge.documents.eval_reader import ReadEval, read_eval
from tamesu.edge.store.paths import Project
from tests.projects import EVAL, EXPERIMENT, ShapesProject

PIN = "python@sha256:" + "a" * 64
INSPECT = EXPERIMENT / "inspect"
TASK = (INSPECT / "task.py").as_posix()
MANIFEST = (EVAL / "eval.yml").as_posix()


def read(project: ShapesProject) -> ReadEval:
    (ref,) = Project(project.root).refs()
    return read_eval(Project(project.root), ref)


def told(project: ShapesProject) -> set[tuple[str, str]]:
    return {(one.file, one.rule) for one in read(project).findings if not one.rule.startswith(("support", "parameter"))}


def option(project: ShapesProject, written: str) -> None:
    project.edit_eval("  limits: {cost", f"  inspect: {{sandbox: {written}}}\n  limits: {{cost")


def in_task(project: ShapesProject, written: str) -> None:
    project.edit(TASK, "solver=[generate()],", f"solver=[generate()],\n        sandbox={written},")


def declare(project: ShapesProject, name: str, text: str) -> None:
    project.path(INSPECT / name).write_text(text)
    project.edit_eval("generation: [", f"generation: [../../inspect/{name}, ")


@pytest.mark.parametrize("written", ["docker", "[docker]", "{type: docker}"])
def test_the_default_image_of_inspect_is_not_pinned(written: str, shapes: ShapesProject) -> None:
    option(shapes, written)
    (found,) = (one for one in read(shapes).findings if one.rule == "image/not-pinned")
    lines = shapes.manifest.read_text().splitlines()
    assert (found.file, lines[found.line - 1].strip()) == (MANIFEST, f"inspect: {{sandbox: {written}}}")
    assert found.column == lines[found.line - 1].index("sandbox") + 1
    assert "Inspect's own default image has no digest" in found.message


def test_the_default_image_in_the_task_module(shapes: ShapesProject) -> None:
    in_task(shapes, '"docker"')
    (found,) = (one for one in read(shapes).findings if one.rule == "image/not-pinned")
    line = shapes.path(TASK).read_text().splitlines()[found.line - 1]
    assert (found.file, line[found.column - 1 :]) == (TASK, '"docker",')


def test_mutable_images_may_be_the_default_one(shapes: ShapesProject) -> None:
    option(shapes, "docker")
    shapes.edit_eval("  limits: {cost", "  allow_mutable_images: true\n  limits: {cost")
    assert told(shapes) == set()


@pytest.mark.parametrize("written", ["local", "k8s", "podman"])
def test_other_known_types_have_no_such_image(written: str, shapes: ShapesProject) -> None:
    option(shapes, written)
    assert told(shapes) == set()


def test_a_compose_file_beside_the_task_is_what_runs(shapes: ShapesProject) -> None:
    option(shapes, "docker")
    declare(shapes, "compose.yaml", f"services: {{default: {{image: '{PIN}'}}}}\n")
    assert told(shapes) == set()


def test_a_bare_type_in_the_manifest_keeps_the_file_of_the_task(shapes: ShapesProject) -> None:
    option(shapes, "docker")
    in_task(shapes, '("docker", "images.cfg")')
    declare(shapes, "images.cfg", f"services: {{default: {{image: '{PIN}'}}}}\n")
    found = read(shapes)
    assert told(shapes) == set()
    assert found.matrix is not None
    assert [image.reference for image in found.matrix.runs[0].images] == [PIN]


@pytest.mark.parametrize("name", ["images.cfg", "compose.json"])
def test_the_file_of_a_sandbox_is_compose_whatever_it_is_called(name: str, shapes: ShapesProject) -> None:
    option(shapes, f"[docker, ../../inspect/{name}]")
    declare(shapes, name, '{"services": {"default": {"image": "python:3"}}}\n')
    assert told(shapes) == {((INSPECT / name).as_posix(), "image/not-pinned")}


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("[docker, ../../inspect/other.cfg]", "image/undeclared-file"),
        ("[docker, ../../inspect/none.yaml]", "path/missing"),
        ("[docker, /etc/compose.yaml]", "path/form"),
        ("{type: docker, config: /etc/compose.yaml}", "path/form"),
        ("[docker, ../../../../../../../compose.yaml]", "path/escapes"),
        ("[docker, a, b]", "image/compose-shape"),
        ("{docker: compose.yaml}", "image/compose-shape"),
    ],
)
def test_a_file_that_cannot_be_the_executed_one(written: str, rule: str, shapes: ShapesProject) -> None:
    shapes.path(INSPECT / "other.cfg").write_text(f"services: {{default: {{image: '{PIN}'}}}}\n")
    option(shapes, written)
    assert told(shapes) == {(MANIFEST, rule)}


@pytest.mark.parametrize(
    ("written", "rule"),
    [('("docker", "other.cfg")', "image/undeclared-file"), ('("docker", "/compose.yaml")', "path/form")],
)
def test_a_file_that_the_task_module_names(written: str, rule: str, shapes: ShapesProject) -> None:
    shapes.path(INSPECT / "other.cfg").write_text("services: {}\n")
    in_task(shapes, written)
    assert told(shapes) == {(TASK, rule)}


def test_a_misspelt_type_is_a_warning(shapes: ShapesProject) -> None:
    """The rule is task/sandbox; plug-ins may bring types that are not known here."""
    option(shapes, "dcoker")
    (found,) = (one for one in read(shapes).findings if one.rule == "task/sandbox")
    assert (found.file, found.severity, found.fix) == (MANIFEST, "warning", "did you mean docker?")


@pytest.mark.parametrize(
    "text",
    [
        f"services: {{default: {{image: '{PIN}', volumes: [{{type: image, source: 'data:1', target: /d}}]}}}}\n",
        f"services: {{default: {{image: '{PIN}'}}}}\nmodels: {{llm: {{model: 'data:1'}}}}\n",
    ],
    ids=["volume", "model"],
)
def test_images_of_volumes_and_models_count(text: str, shapes: ShapesProject) -> None:
    declare(shapes, "compose.yaml", text)
    (found,) = (one for one in read(shapes).findings if one.rule == "image/not-pinned")
    assert found.message == "image 'data:1' is not pinned"


def test_a_containerfile_is_a_dockerfile(shapes: ShapesProject) -> None:
    declare(shapes, "Containerfile", "FROM python:3\n")
    assert told(shapes) == {((INSPECT / "Containerfile").as_posix(), "image/not-pinned")}


@pytest.mark.parametrize(
    "written", ["[docker, ../../inspect/images.cfg]", "{config: ../../inspect/images.cfg, type: docker}"]
)
def test_the_executed_copy_configures_the_sandbox(written: str, shapes: ShapesProject, tmp_path: Path) -> None:
    """Inspect takes a list for no sandbox at all, and a relative path from the task's folder."""
    option(shapes, written)
    declare(shapes, "images.cfg", f"services: {{default: {{image: '{PIN}'}}}}\n")
    found = read(shapes)
    assert found.matrix is not None
    spec = found.matrix.runs[0]
    assert chosen_sandbox(spec, tmp_path / "sources") == ("docker", str(tmp_path / "sources/images.cfg"))


def test_a_file_outside_the_copy_is_refused(shapes: ShapesProject, tmp_path: Path) -> None:
    found = read(shapes)
    assert found.matrix is not None
    spec = found.matrix.runs[0]
    assert chosen_sandbox(spec, tmp_path) is None
    spec = dataclasses.replace(spec, options={"sandbox": ["docker", "../../inspect/none.yaml"]})
    with pytest.raises(Refused, match="no declared source"):
        chosen_sandbox(spec, tmp_path)


@pytest.mark.parametrize(
    ("text", "rule", "at"),
    [
        ("services: {default: {image: 'python:3'}}\n", "image/not-pinned", "image"),
        ("services: {default: {build: ../elsewhere}}\n", "image/undeclared-context", "build"),
        ("services: {default: {tty: true}}\n", "image/compose-shape", "default"),
        ("services: {default: {extends: {service: a, file: b.yml}}}\n", "image/undeclared-file", "file"),
    ],
)
def test_what_is_wrong_in_a_compose_file_has_its_column(text: str, rule: str, at: str, shapes: ShapesProject) -> None:
    declare(shapes, "compose.yaml", text)
    places = {(one.line, one.column) for one in read(shapes).findings if one.rule == rule}
    assert places == {(1, text.index(at) + 1)}


# --- sandboxes of plug-ins -------------------------------------------------------------------------------

VALUES = f"""\
services:
  default:
    image: {PIN}
    runtimeClassName: gvisor
allowDomains: []
"""


def generation(project: ShapesProject) -> Mapping[str, Json]:
    """Return what is identity of the first run's generation, lint being clean."""
    found = read(project)
    assert told(project) == set()
    assert found.matrix is not None
    return found.matrix.runs[0].identity.generation


@pytest.mark.parametrize("place", ["manifest", "task", "bare"])
def test_the_values_of_a_k8s_sandbox_are_identity_and_lint_wants_no_docker_there(
    place: str, shapes: ShapesProject
) -> None:
    if place == "task":
        in_task(shapes, '("k8s", "values.yaml")')
    else:
        option(shapes, "k8s" if place == "bare" else "[k8s, ../../inspect/values.yaml]")
    declare(shapes, "values.yaml", VALUES)
    before = generation(shapes)
    assert before["source/values.yaml"] == hashlib.sha256(VALUES.encode()).hexdigest()
    assert before.get("images", []) == []
    changed = VALUES.replace("gvisor", "runc")
    shapes.path(INSPECT / "values.yaml").write_text(changed)
    after = generation(shapes)
    assert {name for name in {**before, **after} if before.get(name) != after.get(name)} == {"source/values.yaml"}


@pytest.mark.parametrize("text", ["global: {image: {tag: 1}}\n", "just a word\n", "a: [b\n"])
def test_what_a_plug_in_reads_need_be_no_compose_file(text: str, shapes: ShapesProject) -> None:
    option(shapes, "[proxmox, ../../inspect/values.yaml]")
    declare(shapes, "values.yaml", text)
    assert told(shapes) == set()


def test_an_undeclared_file_of_a_plug_in_is_an_error(shapes: ShapesProject) -> None:
    in_task(shapes, '("k8s", "values.cfg")')
    shapes.path(INSPECT / "values.cfg").write_text(VALUES)
    assert told(shapes) == {(TASK, "image/undeclared-file")}


def test_an_unpinned_image_of_a_plug_in_is_a_warning_at_its_line(shapes: ShapesProject) -> None:
    option(shapes, "[k8s, ../../inspect/values.yaml]")
    declare(shapes, "values.yaml", VALUES.replace(PIN, "python:3.12"))
    (found,) = (one for one in read(shapes).findings if one.rule == "image/not-pinned")
    assert (found.file, found.line, found.column) == ((INSPECT / "values.yaml").as_posix(), 3, 5)
    assert (found.severity, found.message) == ("warning", "image 'python:3.12' is not pinned")


def test_a_compose_file_stays_one_for_every_plug_in(shapes: ShapesProject) -> None:
    option(shapes, "[modal, ../../inspect/my-compose.yaml]")
    declare(shapes, "my-compose.yaml", "services: {default: {image: 'python:3'}}\n")
    (found,) = (one for one in read(shapes).findings if one.rule == "image/not-pinned")
    assert (found.file, found.severity) == ((INSPECT / "my-compose.yaml").as_posix(), "error")
