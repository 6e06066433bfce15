"""`tamesu lint`: every rule at its place, everything at once, and nothing of a project executed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.projects import DATASET, EVAL, EXPERIMENT, Done, ShapesProject

LINE = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning) "
    r"(?P<rule>[a-z]+/[A-Za-z-]+) (?P<message>.+); (?P<fix>.+)"
)
MANIFEST = EVAL / "eval.yml"
CASE = Path("cases/shape-drawing/case.yml")
TASK = EXPERIMENT / "inspect/task.py"
RUBRIC = EXPERIMENT / "rubrics/drawing.yml"
SYSTEM = EXPERIMENT / "prompts/system.md"
ITEMS = DATASET.parent / "items.jsonl"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
DOCKERFILE = EXPERIMENT / "inspect/Dockerfile"
CONFIG = Path("config/config.yaml")
PRICES = Path("config/models.yml")
PINNED = "python@sha256:" + "a" * 64
ONE_TASK = "generation: [../../inspect/task.py]"
RECORDINGS = "recordings: ../../recordings/answers.jsonl"
DATASET_LINE = "dataset: ../../../../datasets/scenes-v1/dataset.yml"

Edit = Callable[[ShapesProject], None]


@dataclass(frozen=True)
class Found:
    """A finding as read back from its line."""

    file: str
    line: int
    severity: str
    rule: str
    message: str


@dataclass(frozen=True)
class Case:
    """A project with mistakes, and where one of them must be told.

    `at` begins the line, `nth` counts the lines that begin so; an empty `at` is line 1.
    """

    rule: str
    edits: tuple[Edit, ...]
    at: str = ""
    file: Path = MANIFEST
    says: str = ""
    name: str = ""
    nth: int = 1


def swap(old: str, new: str, file: Path = MANIFEST) -> Edit:
    return lambda project: project.edit(file, old, new)


def write(file: Path, text: str | bytes) -> Edit:
    def edit(project: ShapesProject) -> None:
        target = project.path(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    return edit


def remove(file: Path) -> Edit:
    return lambda project: project.path(file).unlink()


def folder(file: Path) -> Edit:
    def edit(project: ShapesProject) -> None:
        project.path(file).unlink(missing_ok=True)
        project.path(file).mkdir()

    return edit


def source(file: Path, text: str) -> tuple[Edit, ...]:
    """Add a file beside the task and declare it."""
    return write(file, text), swap(ONE_TASK, f"{ONE_TASK[:-1]}, ../../inspect/{file.name}]")


def items_file(text: str) -> tuple[Edit, ...]:
    return write(DATASET, f"name: scenes\nitems_from: {ITEMS.name}\n"), write(ITEMS, text)


def findings(text: str) -> list[Found]:
    """Read every line of lint's output back; each must have the documented form."""
    found = []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        assert match is not None, line
        found.append(Found(match["file"], int(match["line"]), match["severity"], match["rule"], match["message"]))
    return found


def line_number(project: ShapesProject, case: Case) -> int:
    if not case.at:
        return 1
    lines = project.path(case.file).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.lstrip().startswith(case.at)][case.nth - 1]


CASES = [
    Case("path/url", (swap(RECORDINGS, 'recordings: "https://example.org/a.jsonl"'),), "parameters:"),
    Case("path/form", (swap(RECORDINGS, "recordings: /etc/hosts"),), "parameters:", name="absolute"),
    Case("path/form", (swap(RECORDINGS, r"recordings: ..\a.jsonl"),), "parameters:", name="backslash"),
    Case("path/escapes", (swap(DATASET_LINE, "dataset: " + "../" * 7 + "outside.yml"),), "dataset:"),
    Case("path/missing", (swap("scenes-v1", "scenes-v2"),), "dataset:", says="scenes-v2"),
    Case("path/missing", (remove(EXPERIMENT / "recordings/answers.jsonl"),), "parameters:", name="recordings"),
    Case("path/missing", (remove(TASK),), "file:", name="task"),
    Case("path/missing", (swap("drawing.md", "drawn.md", RUBRIC),), "rationale:", RUBRIC, name="rationale"),
    Case(
        "path/missing",
        (swap("items:\n", "shared_assets: [none.png]\nitems:\n", DATASET),),
        "shared_assets:",
        DATASET,
        name="asset",
    ),
    Case("sources/omits-task", (swap(ONE_TASK, "generation: []"),), "sources:", says="task.py"),
    Case(
        "sources/undeclared",
        (write(EXPERIMENT / "inspect/helper.py", "x = 1\n"),),
        "sources:",
        says="helper.py",
        name="python",
    ),
    Case(
        "sources/undeclared", (write(EXPERIMENT / "inspect/run.sh", "true\n"),), "sources:", says="run.sh", name="shell"
    ),
    Case(
        "sources/undeclared", (write(DOCKERFILE, "FROM scratch\n"),), "sources:", says="Dockerfile", name="dockerfile"
    ),
    Case(
        "sources/undeclared",
        (write(EXPERIMENT / "inspect/requirements.txt", "x\n"),),
        "sources:",
        says="requirements.txt",
        name="requirements",
    ),
    Case(
        "sources/undeclared",
        (write(EXPERIMENT / "inspect/deep/down/data.yaml", "a: 1\n"),),
        "sources:",
        says="deep/down/data.yaml",
        name="yaml-below",
    ),
    Case(
        "sources/scoring-imported",
        source(EXPERIMENT / "inspect/tools.py", "from drawing import coverage\n"),
        "generation:",
        says="tools.py imports the scoring source drawing.py",
        name="from",
    ),
    Case(
        "sources/scoring-imported",
        source(EXPERIMENT / "inspect/tools.py", "def f():\n    import drawing\n"),
        "generation:",
        says="drawing.py",
        name="inside-a-function",
    ),
    Case(
        "image/not-pinned",
        source(COMPOSE, "services:\n  default:\n    image: python:3.12\n"),
        "image:",
        COMPOSE,
        says="python:3.12",
        name="tag",
    ),
    Case(
        "image/not-pinned",
        source(COMPOSE, "services:\n  default:\n    image: python@sha256:abc\n"),
        "image:",
        COMPOSE,
        name="short-digest",
    ),
    Case(
        "image/not-pinned",
        source(COMPOSE, "x-b: &b {image: 'python:3'}\nservices:\n  default:\n    <<: *b\n"),
        "x-b:",
        COMPOSE,
        says="python:3",
        name="merge",
    ),
    Case(
        "image/not-pinned",
        source(DOCKERFILE, f"FROM {PINNED} AS base\nFROM base\nfrom debian:12\n"),
        "from debian",
        DOCKERFILE,
        says="debian:12",
        name="dockerfile",
    ),
    Case(
        "image/not-pinned",
        source(COMPOSE, "services:\n  default:\n    image: ${IMAGE}\n"),
        "image:",
        COMPOSE,
        says="the variable 'IMAGE' has no value",
        name="variable",
    ),
    Case(
        "image/not-pinned",
        source(COMPOSE, "services:\n  default:\n    image: ${IMAGE:-python:3}\n"),
        "image:",
        COMPOSE,
        says="image 'python:3' is not pinned",
        name="variable-default",
    ),
    Case(
        "image/undeclared-context",
        (
            *source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\n    build: ctx\n"),
            write(EXPERIMENT / "inspect/ctx/data.bin", "x"),
        ),
        "build:",
        COMPOSE,
        name="build",
    ),
    Case(
        "image/compose-shape",
        source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\n    extends: {{service: a}}\n"),
        "extends:",
        COMPOSE,
        name="extends",
    ),
    Case(
        "image/undeclared-file",
        source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\ninclude: [b.yml]\n"),
        "include:",
        COMPOSE,
        name="include",
    ),
    Case("image/compose-shape", source(COMPOSE, "version: '3'\n"), "", COMPOSE, name="no-services"),
    Case("image/not-pinned", source(DOCKERFILE, "ARG BASE\nFROM $BASE\n"), "FROM", DOCKERFILE, name="dockerfile-arg"),
    Case("task/unknown", (swap("task: artifact_bundle", "task: structured_text"),), "task: structured_text"),
    Case("task/backend", (swap("backend: inspect", "backend: native"),), "backend:"),
    Case("id/repeated", (swap("id: worked-example", "id: terse"),), "- id: terse", says="terse", name="arm"),
    Case(
        "id/repeated",
        (swap("- id: three-stripes", "- id: red-sun", DATASET),),
        "- id: red-sun",
        DATASET,
        nth=2,
        name="item",
    ),
    Case(
        "id/repeated",
        items_file('{"id": "a", "input": "b"}\n{"id": "a", "input": "c"}\n'),
        '{"id": "a"',
        ITEMS,
        nth=2,
        name="item-of-one-letter",
    ),
    Case(
        "id/repeated",
        items_file('{"id": "a-1", "input": "b"}\n{"id": "a-01", "input": "c"}\n'),
        '{"id": "a-01"',
        ITEMS,
        name="leading-zero",
    ),
    Case("name/folder", (swap("name: replayed", "name: other"),), "name:", says="replayed"),
    Case(
        "run/unknown-arm",
        (swap("arms: [terse, worked-example]", "arms: [terse, worked-exampl]"),),
        "arms: [",
        says="worked-exampl",
    ),
    Case(
        "run/repeated",
        (swap("model: sketcher-large", "model: sketcher-small"),),
        "- provider:",
        says="sketcher-small",
        nth=2,
    ),
    Case("provider/no-route", (swap("provider: replay", "provider: abacus"),), "- provider:", says="abacus"),
    Case(
        "parameter/refused",
        (swap("max_tokens: 800", "max_tokens: 800, max_retries: 3"),),
        "parameters:",
        says="max_retries",
    ),
    Case(
        "parameter/refused",
        (swap("    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {cache: true}\n"),),
        "parameters: {cache",
        says="cache",
        name="run",
    ),
    Case("replay/no-recordings", (swap(f", {RECORDINGS}", ""),), "- provider:"),
    Case(
        "scorer/repeated",
        (swap("- scene_coverage: {pass_at: 0.8}", "- valid_program"),),
        "mechanical:",
        says="valid_program",
    ),
    Case("acceptance/no-review", (swap("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", ""),), "requires:"),
    Case(
        "acceptance/ignores-review", (swap("requires: [mechanical, human]", "requires: [mechanical]"),), "acceptance:"
    ),
    Case("review/no-role", (swap("    review: render\n", ""),), "human_review:"),
    Case("metric/not-produced", (swap("[render_rate,", "[render_rat,"),), "secondary:", says="'render_rat'"),
    Case(
        "metric/not-produced", (swap('"mean_score:scene_coverage"', '"mean_score:scene"'),), "primary:", name="primary"
    ),
    Case(
        "price/repeated",
        (
            write(
                PRICES, "models:\n  - {provider: a, model: b, free: true}\n  - {provider: a, model: b, free: false}\n"
            ),
        ),
        "- {provider: a, model: b, free: f",
        PRICES,
        says="a/b",
    ),
    Case("rubric/reserved-code", (swap("object-missing", "none", RUBRIC),), "reason_codes: [none", RUBRIC),
    Case(
        "dataset/not-renderable",
        (swap("item.input.scene", "item.input.nothing", EXPERIMENT / "prompts/terse.md.j2"),),
        "",
        EXPERIMENT / "prompts/terse.md.j2",
        says="cannot be rendered",
        name="undefined",
    ),
    Case(
        "dataset/not-renderable",
        (swap("{{ item", "{% item", EXPERIMENT / "prompts/terse.md.j2"),),
        "",
        EXPERIMENT / "prompts/terse.md.j2",
        says="cannot be rendered",
        name="syntax",
    ),
    Case(
        "dataset/not-renderable",
        (swap("ids: [red-sun", "ids: [red-son"),),
        "",
        DATASET,
        says="red-son",
        name="unknown-item",
    ),
    Case("file/encoding", (write(SYSTEM, b"\xff\xfe\x00"),), "", SYSTEM),
    Case("file/unreadable", (remove(CASE),), "", CASE, name="missing"),
    Case("file/unreadable", (folder(MANIFEST),), "", MANIFEST, name="a-folder"),
    Case("yaml/syntax", (swap("question: ", "question: [ "),), "description:"),
    Case("yaml/tab", (swap("  items:", "\titems:"),), "items:"),
    Case("yaml/depth", (swap("max_tokens: 800", "max_tokens: 800, x: " + "[" * 200 + "]" * 200),), "parameters:"),
    Case("yaml/encoding", (write(CASE, b"name: \xff\n"),), "", CASE, name="not-utf-8"),
    Case("yaml/encoding", (write(CASE, b"name: a\x07\n"),), "", CASE, name="control"),
    Case("yaml/size", (write(CASE, b"name: a\n#" + b"a" * (8 * 1024 * 1024)),), "", CASE),
    Case("yaml/duplicate-key", (swap("name: replayed\n", "name: replayed\nname: replayed\n"),), "name:", nth=2),
    Case(
        "schema/additionalProperties",
        (swap("repetitions: 2", "repetitons: 2"),),
        "repetitons:",
        says="unknown field 'repetitons'",
    ),
    Case("schema/additionalProperties", (write(CASE, "name: a\nowner: b\n"),), "owner:", CASE, name="case"),
    Case(
        "schema/required",
        (swap("    description: The scene and", "    descriptio: The scene and"), swap(DATASET_LINE + "\n", "")),
        "",
        says="'dataset'",
    ),
    Case("schema/enum", (swap("status: active", "status: actve"),), "status:"),
    Case("schema/type", (swap("repetitions: 2", 'repetitions: "2"'),), "repetitions:"),
    Case("schema/type", (write(CONFIG, "inspect_version: 3\n"),), "inspect_version:", CONFIG, name="config"),
    Case("schema/pattern", (swap(DATASET_LINE, "dataset: https://example.org/dataset.yml"),), "dataset:"),
    Case("schema/exclusiveMinimum", (swap("cost_limit: 0.05", "cost_limit: 0"),), "limits:"),
    Case("schema/minItems", (swap("    arms: [terse, worked-example]", "    arms: []"),), "arms: []"),
    Case("schema/const", (swap("name: replayed\n", "name: replayed\nschema_version: 2\n"),), "schema_version:"),
    Case("jsonl/syntax", items_file('{"id": "a", "input": "b"}\n{"id": \n'), '{"id": ', ITEMS, nth=2),
    Case("jsonl/duplicate-key", items_file('{"id": "a", "id": "b", "input": "c"}\n'), "", ITEMS),
    Case(
        "jsonl/depth",
        items_file('{"id": "a", "input": "b"}\n{"id": "c", "input": ' + "[" * 150 + "]" * 150 + "}\n"),
        '{"id": "c"',
        ITEMS,
    ),
    Case("jsonl/encoding", items_file('{"id": "a", "input": "b\\u0000"}\n'), "", ITEMS),
    Case("jsonl/number", items_file('{"id": "a", "input": 1e999}\n'), "", ITEMS),
]


def case_id(case: Case) -> str:
    return f"{case.rule}:{case.name}" if case.name else case.rule


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_mistake_is_one_line_at_its_place(case: Case, shapes: ShapesProject, call: Caller) -> None:
    for edit in case.edits:
        edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    found = [one for one in findings(done.out) if one.rule == case.rule and case.says in one.message]
    places = {(one.file, one.severity, one.line) for one in found}
    assert (case.file.as_posix(), "error", line_number(shapes, case)) in places


def test_a_clean_project_passes(shapes: ShapesProject, call: Caller) -> None:
    assert call(shapes, "lint") == Done(0, "1 eval(s): no errors\n", "")
    assert call(shapes, "lint", "replayed").code == 0


def test_lint_of_one_eval_leaves_the_others_alone(shapes: ShapesProject, call: Caller) -> None:
    shutil.copytree(shapes.eval, shapes.eval.parent / "second")
    assert call(shapes, "lint", "replayed").code == 0
    done = call(shapes, "lint", "second")
    assert done.code == 1
    assert [one.rule for one in findings(done.out)] == ["name/folder"]
    assert call(shapes, "lint").code == 1


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\n"), id="compose-pinned"),
        pytest.param(source(DOCKERFILE, f"FROM {PINNED} AS base\nFROM base\nFROM scratch\n"), id="dockerfile-pinned"),
        pytest.param(
            (
                *source(COMPOSE, "services:\n  default:\n    image: python:3.12\n"),
                swap("  artifacts:\n", "  allow_mutable_images: true\n  artifacts:\n"),
            ),
            id="mutable-images-allowed",
        ),
        pytest.param(source(EXPERIMENT / "inspect/tools.py", "import json\n"), id="declared-helper"),
        pytest.param(
            (write(EXPERIMENT / "inspect/__pycache__/old.py", "x\n"), write(EXPERIMENT / "inspect/notes.md", "x\n")),
            id="caches-and-prose-beside-the-task",
        ),
        pytest.param(
            (
                swap(
                    "  sources:\n    generation: [../../inspect/task.py]\n    scoring: [../../inspect/drawing.py]\n", ""
                ),
            ),
            id="sources-left-out",
        ),
        pytest.param((swap("    arms: [terse, worked-example]\n", ""),), id="runs-without-arms-take-all"),
    ],
)
def test_what_is_allowed_is_no_finding(edits: tuple[Edit, ...], shapes: ShapesProject, call: Caller) -> None:
    for edit in edits:
        edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.out) == (0, "1 eval(s): no errors\n")


def test_repeated_violations_of_a_kind_are_all_told(shapes: ShapesProject, call: Caller) -> None:
    for name in ("b.py", "a.py"):
        write(EXPERIMENT / "inspect" / name, "x = 1\n")(shapes)
    swap("system: ../../prompts/system.md", "system: ../../prompts/none.md")(shapes)
    swap("items:\n", "owner: me\nitems:\n", DATASET)(shapes)
    remove(CASE)(shapes)
    rules = [one.rule for one in findings(call(shapes, "lint").out)]
    assert sorted(rules) == [
        "file/unreadable",
        "path/missing",
        "path/missing",
        "schema/additionalProperties",
        "sources/undeclared",
        "sources/undeclared",
    ]


def test_mistakes_of_different_kinds_are_told_at_once(shapes: ShapesProject, call: Caller) -> None:
    """A missing file must not hide names that do not agree: one round of corrections, not three."""
    swap("name: replayed", "name: other")(shapes)
    swap("prompts/terse.md.j2", "prompts/none.md.j2")(shapes)
    swap('"mean_score:scene_coverage"', '"mean_score:scene"')(shapes)
    rules = {one.rule for one in findings(call(shapes, "lint").out)}
    assert rules == {"path/missing", "name/folder", "metric/not-produced"}


def test_findings_are_told_in_the_order_of_the_files(shapes: ShapesProject, call: Caller) -> None:
    swap("name: replayed", "name: other")(shapes)
    swap("provider: replay", "provider: abacus")(shapes)
    lines = [one.line for one in findings(call(shapes, "lint").out)]
    assert lines == sorted(lines)
    assert len(lines) >= 3


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(swap("file: ../../inspect/task.py", "file: ../../inspect"), id="task-file-is-a-folder"),
        pytest.param(swap(RECORDINGS, "recordings: ../../recordings"), id="recordings-are-a-folder"),
        pytest.param(
            lambda project: (items_file("")[0](project), project.path(ITEMS).mkdir()), id="items-file-is-a-folder"
        ),
        pytest.param(folder(RUBRIC), id="rubric-is-a-folder"),
        pytest.param(folder(SYSTEM), id="prompt-is-a-folder"),
        pytest.param(folder(CONFIG), id="config-is-a-folder"),
        pytest.param(folder(PRICES), id="prices-are-a-folder"),
        pytest.param(folder(TASK), id="task-is-a-folder"),
    ],
)
def test_a_folder_in_the_place_of_a_file_is_a_finding(edit: Edit, shapes: ShapesProject, call: Caller) -> None:
    edit(shapes)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert {one.severity for one in findings(done.out)} == {"error"}


@pytest.mark.parametrize(
    ("missing", "field"), [("task: artifact_bundle\n", "task"), ("execution", "execution"), ("runs", "runs")]
)
def test_a_block_left_out_is_a_finding(missing: str, field: str, shapes: ShapesProject, call: Caller) -> None:
    """`task` left out is the case's default; without one, and without the other blocks, lint says what to add."""
    text = shapes.manifest.read_text()
    if missing.endswith("\n"):
        text = text.replace(missing, "")
        swap("default_task: artifact_bundle\n", "", CASE)(shapes)
    else:
        text = re.sub(rf"^{missing}:\n(?:[ ].*\n|\n)+", "", text, flags=re.MULTILINE)
    shapes.manifest.write_text(text)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert any(f"'{field}'" in one.message for one in findings(done.out))


def test_the_task_of_the_case_is_the_default(shapes: ShapesProject, call: Caller) -> None:
    swap("task: artifact_bundle\n", "")(shapes)
    assert call(shapes, "lint").code == 0


def test_recordings_are_checked_before_anything_runs(shapes: ShapesProject, call: Caller) -> None:
    """A mistake in them is the user's, at a line of the user's file, not of a copy made for a run."""
    write(EXPERIMENT / "recordings/answers.jsonl", '{"tamesu_recording": 1, "label": "x"}\n{"item": 1}\n')(shapes)
    done = call(shapes, "lint")
    assert done.code == 1
    assert [(one.file.rpartition("/")[2], one.line) for one in findings(done.out)] == [("answers.jsonl", 2)]


def test_task_args_may_not_hold_the_dataset(shapes: ShapesProject, call: Caller) -> None:
    swap("  task: draw_scene\n", "  task: draw_scene\n  task_args: {dataset: mine.jsonl}\n")(shapes)
    done = call(shapes, "lint")
    assert done.code == 1
    assert "dataset" in findings(done.out)[0].message


@pytest.mark.parametrize("kind", ["file", "folder", "case"])
def test_a_symlink_out_of_the_project_is_refused(kind: str, shapes: ShapesProject, call: Caller) -> None:
    outside = shapes.root.parent / "outside"
    if kind == "case":
        shutil.move(shapes.path("cases/shape-drawing"), outside)
        shapes.path("cases/shape-drawing").symlink_to(outside)
    elif kind == "folder":
        shutil.move(shapes.path(EXPERIMENT / "prompts"), outside)
        shapes.path(EXPERIMENT / "prompts").symlink_to(outside)
    else:
        shutil.move(shapes.path(SYSTEM), outside)
        shapes.path(SYSTEM).symlink_to(outside)
    done = call(shapes, "lint")
    assert done.code == 1
    assert {one.rule for one in findings(done.out)} == {"path/escapes"}


def test_a_symlink_inside_the_project_is_followed(shapes: ShapesProject, call: Caller) -> None:
    shapes.path(SYSTEM).rename(shapes.path(SYSTEM).with_name("other.md"))
    shapes.path(SYSTEM).symlink_to("other.md")
    assert call(shapes, "lint").code == 0


def test_a_symlink_to_itself_is_a_finding(shapes: ShapesProject, call: Caller) -> None:
    shapes.path(SYSTEM).unlink()
    shapes.path(SYSTEM).symlink_to(SYSTEM.name)
    done = call(shapes, "lint")
    assert (done.code, done.err) == (1, "")
    assert {one.line for one in findings(done.out)} == {35, 38}


def test_reading_commands_execute_nothing_of_the_project(shapes: ShapesProject) -> None:
    """Neither import nor network nor Docker: an executed task would leave a file, a connection an error."""
    trap = "import pathlib as _p, sys as _s\n_p.Path({!r}).write_text('ran')\n"
    marker = shapes.root.parent / "executed"
    for name in ("task.py", "drawing.py"):
        path = shapes.path(EXPERIMENT / "inspect" / name)
        path.write_text(path.read_text().replace("import json\n", "import json\n" + trap.format(str(marker)), 1))
    guard = shapes.root.parent / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(*_, **__):\n    raise RuntimeError('the network was used')\n"
        "socket.socket.connect = refuse\nsocket.create_connection = refuse\nsocket.getaddrinfo = refuse\n"
    )
    environment = {"PYTHONPATH": str(guard), "DOCKER_HOST": "tcp://127.0.0.1:1", "PATH": "/nonexistent"}
    for command in ("lint", "plan", "status"):
        done = shapes.tamesu(command, env=environment)
        assert (done.code, done.err) == (0, "")
    assert shapes.jobs()["execute"] == 8
    assert not marker.exists()
    assert shapes.calls() == []
    assert not (shapes.eval / "runs").exists()
    assert not (shapes.eval / "ledger.jsonl").exists()


def test_plan_names_the_first_finding_and_how_many_there_are(shapes: ShapesProject, call: Caller) -> None:
    swap("name: replayed", "name: other")(shapes)
    swap("provider: replay", "provider: abacus")(shapes)
    done = call(shapes, "plan")
    assert done.code == 1
    assert done.err.startswith(f"tamesu: {MANIFEST.as_posix()}:1:1: error name/folder ")
    assert done.err.endswith("(and 2 more; see `tamesu lint`)\n")
    assert done.err.count("\n") == 1
