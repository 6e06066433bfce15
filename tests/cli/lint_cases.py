"""Projects with one mistake each, and the finding that must name it; reading findings back from their lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject

LINE = re.compile(
    r"(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning) "
    r"(?P<rule>[a-z-]+/[A-Za-z-]+) (?P<message>.+); (?P<fix>.+)"
)
MANIFEST = EVAL / "eval.yml"
CASE = Path("cases/shape-drawing/case.yml")
TASK = EXPERIMENT / "inspect/task.py"
RUBRIC = EXPERIMENT / "rubrics/drawing.yml"
SYSTEM = EXPERIMENT / "prompts/system.md"
TERSE = EXPERIMENT / "prompts/terse.md.j2"
ITEMS = DATASET.parent / "items.jsonl"
CSV = DATASET.parent / "items.csv"
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"
SCHEMA = EXPERIMENT / "schemas/out.json"
COMPOSE = EXPERIMENT / "inspect/compose.yaml"
LOCK = EXPERIMENT / "inspect/compose.lock.yml"
DOCKERFILE = EXPERIMENT / "inspect/Dockerfile"
CONFIG = Path("config/config.yaml")
PRICES = Path("config/models.yml")
EFFORTS = """\
models:
  - {provider: replay, model: sketcher-small, effort_values: [low, high]}
  - {provider: replay, model: sketcher-large, effort_values: [low]}
"""
TWO_DIMENSIONS = """\
name: two
dimensions:
  - {id: a, question: One, reason_codes: [x, z, x]}
  - {id: a, question: Two, reason_codes: []}
"""
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


def rename(folder: Path, name: str) -> Edit:
    return lambda project: project.path(folder).rename(project.path(folder).with_name(name))


def source(file: Path, text: str) -> tuple[Edit, ...]:
    """Add a file beside the task and declare it."""
    return write(file, text), swap(ONE_TASK, f"{ONE_TASK[:-1]}, ../../inspect/{file.name}]")


def items_file(text: str) -> tuple[Edit, ...]:
    return write(DATASET, f"name: scenes\nitems_from: {ITEMS.name}\n"), write(ITEMS, text)


def csv_file(text: str) -> tuple[Edit, ...]:
    return write(DATASET, f"name: scenes\nitems_from: {CSV.name}\n"), write(CSV, text)


def judges(role: str) -> tuple[Edit, ...]:
    """Declare one more model judge."""
    judge = f"    - {{id: strict, provider: openai, model: judging, role: {role}}}\n"

    def edit(project: ShapesProject) -> None:
        text = project.manifest.read_text()
        head = "  model_judges:\n"
        new = (
            text.replace(head, head + judge)
            if head in text
            else text.replace("  acceptance:\n", f"{head}{judge}  acceptance:\n")
        )
        project.manifest.write_text(new)

    return (edit,)


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
    Case("image/compose-shape", source(COMPOSE, "services: {}\n"), "services:", COMPOSE, name="no-service"),
    Case("image/not-pinned", source(DOCKERFILE, "ARG BASE\nFROM $BASE\n"), "FROM", DOCKERFILE, name="dockerfile-arg"),
    Case(
        "image/lock",
        (
            *source(COMPOSE, "services: {default: {image: 'python:3'}}\n"),
            write(LOCK, f"images:\n- reference: python:3\n  locked: evil@sha256:{'a' * 64}\n"),
        ),
        "locked:",
        LOCK,
        says="another repository",
        name="foreign",
    ),
    Case(
        "image/lock",
        (
            *source(COMPOSE, "services: {default: {image: 'python:3'}}\n"),
            write(LOCK, "images:\n" + f"- reference: python:3\n  locked: {PINNED}\n" * 2),
        ),
        "- reference:",
        LOCK,
        says="locked twice",
        name="twice",
        nth=2,
    ),
    Case("task/unknown", (swap("task: draw_scene", "task: draw_scen"),), "task: draw_scen", says="no 'draw_scen'"),
    Case("task/unknown", (swap("def draw_scene(", "def draw_other(", TASK),), "task: draw_scene", name="renamed"),
    Case("task/unknown", (swap("@task\ndef", "def", TASK),), "task: draw_scene", says="carries no @task", name="bare"),
    Case("task/not-python", (swap("def draw_scene(", "def draw_scene(((", TASK),), "def draw_scene(", TASK),
    Case("review/unlisted-role", (swap("review: render", "review: rendr"),), "review: rendr", says="rendr"),
    Case(
        "review/unlisted-role",
        (swap("review: render", "review: [render, respons]"),),
        "review: [",
        says="respons",
        name="in a list",
    ),
    Case(
        "id/repeated",
        (swap("review: render", "review: [response, render, response]"),),
        "review: [",
        says="'response' is reviewed twice",
        name="reviewed twice",
    ),
    Case(
        "path/missing",
        items_file('{"id": "red-sun", "input": "x"}\n{"id": "blue-sun", "input": "x", "assets": ["no.png"]}\n'),
        '{"id": "blue-sun"',
        ITEMS,
        says="'no.png' does not exist",
        name="asset-of-a-line",
    ),
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
        "id/leading-zeros",
        items_file('{"id": "a-1", "input": "b"}\n{"id": "a-01", "input": "c"}\n'),
        '{"id": "a-01"',
        ITEMS,
        says="'a-1' and 'a-01'",
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
    Case(
        "provider/no-route",
        (write(PRICES, "models:\n  - {provider: replya, model: b, free: true}\n"),),
        "- {provider",
        PRICES,
        says="'replya'",
        name="in-the-prices",
    ),
    Case(
        "provider/no-route",
        (write(CONFIG, "endpoints:\n  - {provider: vlm, owner: us}\n"),),
        "- {provider",
        CONFIG,
        says="'vlm'",
        name="in-the-endpoints",
    ),
    Case(
        "endpoint/repeated",
        (write(CONFIG, "endpoints:\n  - {provider: gemini}\n  - {provider: google, shared: true}\n"),),
        "- {provider: google",
        CONFIG,
        says="'google'",
    ),
    *(
        Case(
            "endpoint/base-url",
            (write(CONFIG, f"endpoints:\n  - provider: {provider}\n    base_url: {url}\n"),),
            "base_url:",
            CONFIG,
            says=says,
            name=name,
        )
        for name, provider, url, says in (
            ("scheme", "vllm", "ftp://gpu-1/v1", "no http(s) URL"),
            ("query", "vllm", "http://gpu-1/v1?a=b", "no http(s) URL"),
            ("fragment", "vllm", "'http://gpu-1/v1#a'", "no http(s) URL"),
            ("user", "vllm", "http://someone@gpu-1/v1", "holds a user or a password"),
            ("replay", "replay", "http://gpu-1/v1", "calls no HTTP endpoint"),
        )
    ),
    Case("run/too-many", (swap("repetitions: 2", "repetitions: 1000000"),), "repetitions:", says="4000000 runs"),
    Case(
        "run/too-many",
        (swap("    model: sketcher-large\n", "    model: sketcher-large\n    repetitions: 5000\n"),),
        "repetitions: 5000",
        says="10004 runs",
        name="of-one-model",
    ),
    Case("dataset/empty", items_file(""), "", ITEMS, name="jsonl"),
    Case("dataset/empty", csv_file("id,input,expected\n"), "", CSV, name="csv"),
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
        "items:",
        says="holds no item 'red-son'",
        name="unknown-item",
    ),
    Case(
        "dataset/not-renderable",
        (swap("items: {ids: [red-sun, three-stripes, crossed-lines]}", "items: {first: 13}"),),
        "items:",
        says="holds 12 items, and 13 are selected",
        name="too-many-items",
    ),
    *(
        Case("file/misnamed", (write(path, ""),), "", path, name=path.name)
        for path in (
            EVAL / "eval.yaml",
            EVAL / "Eval.yml",
            EXPERIMENT / "evals/other/eval.yaml",
            CONFIG.with_name("config.yml"),
            CONFIG.with_name("models.yaml"),
            CASE.with_name("case.yaml"),
            DATASET.with_name("dataset.yaml"),
        )
    ),
    *(
        Case("file/misnamed", (folder(path),), "", path, name=path.name)
        for path in (CASE.with_name("experiment"), CASE.with_name("dataset"), EXPERIMENT / "eval")
    ),
    *(
        Case(rule, (rename(path, name),), "", path.with_name(name), says=f"'{name}' cannot name", name=name)
        for rule, path, name in (
            ("id/form", EVAL, "My Eval"),
            ("id/form", EVAL, "a{b}"),
            ("id/form", EXPERIMENT, "wording_2"),
            ("id/form", CASE.parent, "Shapes"),
            ("id/reserved", EVAL, "con"),
            ("id/reserved", CASE.parent, "aux"),
        )
    ),
    Case(
        "id/repeated",
        (swap("[red-sun, three-stripes, crossed-lines]", "[red-sun, three-stripes, red-sun]"),),
        "items:",
        says="item 'red-sun' is listed twice",
        name="selected-item",
    ),
    Case(
        "id/repeated",
        (swap("required: [response,", "required: [render, response,"),),
        "required:",
        says="role 'render' is listed twice",
        name="role",
    ),
    Case(
        "id/repeated",
        (swap("requires: [mechanical, human]", "requires: [human, mechanical, human]"),),
        "requires:",
        says="verdict 'human' is listed twice",
        name="verdict",
    ),
    Case(
        "id/repeated",
        (swap("arms: [terse, worked-example]", "arms: [terse, terse]"),),
        "arms: [terse",
        says="arm 'terse' is listed twice",
        name="arm-of-a-run",
    ),
    Case(
        "id/repeated",
        (write(RUBRIC, TWO_DIMENSIONS),),
        "- {id: a, question: Two",
        RUBRIC,
        says="dimension 'a' appears twice",
        name="dimension",
    ),
    Case(
        "id/repeated",
        (write(RUBRIC, TWO_DIMENSIONS),),
        "- {id: a, question: One",
        RUBRIC,
        says="reason code 'x' is listed twice",
        name="reason-code",
    ),
    Case("rubric/no-code", (write(RUBRIC, TWO_DIMENSIONS),), "- {id: a, question: Two", RUBRIC, says="'a'"),
    Case("prompt/empty", (write(SYSTEM, ""),), "", SYSTEM, name="system"),
    Case("prompt/empty", (write(TERSE, " \n\t\n"),), "", TERSE, name="white-space"),
    Case(
        "prompt/empty",
        (write(TERSE, "{% if item.id != 'red-sun' %}Draw.{% endif %}\n"),),
        "- id: terse",
        says="the user message of item 'red-sun' is empty",
        name="of-one-item",
    ),
    Case(
        "dataset/not-renderable",
        (
            *items_file('{"id": "a", "input": {"x": 1, "scene": null}}\n'),
            swap("items: {ids: [red-sun, three-stripes, crossed-lines]}", "items: all"),
        ),
        "",
        TERSE,
        says="item 'a': input.scene is null",
        name="null",
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
    Case("csv/header", csv_file("id,expected\na,b\n"), "", CSV),
    Case("csv/cells", csv_file("id,input\na,b\nc,d,e\n"), "c,d,e", CSV),
    Case("csv/syntax", csv_file('id,input\na,b\nc,"d"e\n'), "c,", CSV),
    Case("csv/encoding", csv_file("id,input\na,b\0\n"), "a,b", CSV),
    Case("path/not-a-file", (swap("file: ../../inspect/task.py", "file: ../../inspect"),), "file:"),
    Case(
        "eval/missing-field", (swap("default_task: artifact_bundle\n", "", CASE), swap("task: artifact_bundle\n", ""))
    ),
    Case("id/reserved", (swap("id: terse", "id: nul"), swap("[terse, ", "[nul, ")), "- id: nul", name="arm"),
    Case("id/reserved", (swap("- id: red-sun", "- id: con", DATASET),), "- id: con", DATASET, name="item"),
    Case("task/args", (swap("  task: draw_scene\n", "  task: draw_scene\n  task_args: {dataset: x}\n"),), "task_args:"),
    Case(
        "replay/recordings",
        (write(ANSWERS, '{"tamesu_recording": 1, "label": "x"}\n{"item": 1}\n'),),
        '{"item": 1}',
        ANSWERS,
    ),
    Case(
        "price/unknown",
        (swap("provider: replay\n    model: sketcher-small", "provider: vllm\n    model: nobody"),),
        "model: nobody",
    ),
    Case(
        "acceptance/no-evidence",
        (swap("[mechanical, human]\n", "[mechanical, human, luck]\n"),),
        "requires:",
        says="luck",
    ),
    Case(
        "acceptance/no-scorer",
        (swap("  mechanical:\n    - valid_program: {pass_at: 1.0}\n    - scene_coverage: {pass_at: 0.8}\n", ""),),
        "requires:",
    ),
    Case(
        "acceptance/screening-judge",
        (*judges("screen"), swap("[mechanical, human]", "[mechanical, human, strict]")),
        "requires:",
    ),
    Case("id/repeated", (*judges("gate"), *judges("gate")), "- {id: strict", says="judge", name="judge"),
    Case("output-schema/invalid", (swap("arms:\n", "output_schema: {type: 7}\narms:\n"),), "output_schema:"),
    Case(
        "output-schema/invalid",
        (swap("arms:\n", "output_schema: ../../schemas/out.json\narms:\n"), write(SCHEMA, '{"type": "objekt"}')),
        "",
        SCHEMA,
        name="file",
    ),
    Case(
        "price/contradiction",
        (write(PRICES, "models:\n  - provider: a\n    model: b\n    free: true\n    usd_per_hour: 2\n"),),
        "usd_per_hour:",
        PRICES,
        says="'free' and 'usd_per_hour'",
        name="free-and-rented",
    ),
    Case(
        "price/contradiction",
        (
            write(
                PRICES,
                "models:\n  - provider: a\n    model: b\n    free: true\n    usd_per_million: {input: 1, output: 2}\n",
            ),
        ),
        "usd_per_million:",
        PRICES,
        says="'free' and 'usd_per_million'",
        name="free-and-paid",
    ),
    Case(
        "price/contradiction",
        (write(PRICES, "models:\n  - provider: a\n    model: b\n    replicas: 2\n"),),
        "replicas:",
        PRICES,
        says="replicas but no rent",
        name="replicas-of-nothing",
    ),
    Case(
        "price/repeated",
        (write(PRICES, "models:\n  - {provider: google, model: b}\n  - {provider: gemini, model: b}\n"),),
        "- {provider: gemini",
        PRICES,
        says="google/b",
        name="by-another-name",
    ),
    Case(
        "parameter/effort",
        (
            write(PRICES, EFFORTS),
            swap("max_tokens: 800", "max_tokens: 800, effort: middling"),
            swap("    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {effort: low}\n"),
        ),
        "parameters: {max_tokens",
        says="replay/sketcher-small takes no effort 'middling'",
        name="defaults",
    ),
    Case(
        "parameter/effort",
        (
            write(PRICES, EFFORTS),
            swap(
                "    model: sketcher-large\n", "    model: sketcher-large\n    parameters: {reasoning_effort: [low]}\n"
            ),
        ),
        "parameters: {reasoning_effort",
        says="replay/sketcher-large takes no reasoning_effort",
        name="run",
    ),
    Case("parameter/value", (swap("max_tokens: 800", "max_tokens: -100000"),), "parameters:", name="negative"),
    Case("parameter/value", (swap("max_tokens: 800", "max_tokens: '800'"),), "parameters:", name="text"),
    Case("parameter/value", (swap("temperature: 0.7", "temperature: hot"),), "parameters:", name="word"),
    Case("parameter/value", (swap("temperature: 0.7", "top_p: 1.5"),), "parameters:", name="beyond"),
    Case("parameter/value", (swap("temperature: 0.7", "logprobs: 1"),), "parameters:", name="flag"),
    Case("parameter/refused", (swap("temperature: 0.7", "model: gpt-5"),), "parameters:", name="overriding"),
    Case(
        "parameter/refused",
        (swap("temperature: 0.7", "extra_body: {max_tokens: 99999}"),),
        "parameters:",
        says="max_tokens",
        name="in-the-body",
    ),
]


def case_id(case: Case) -> str:
    return f"{case.rule}:{case.name}" if case.name else case.rule
