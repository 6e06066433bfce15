"""Mistakes in what an eval declares: tasks, runs, parameters, prices, judges, acceptance, metrics, names."""

from __future__ import annotations

from tests.cli.lint_cases import (
    ANSWERS,
    CASE,
    CONFIG,
    ITEMS,
    JUDGE,
    PRICES,
    PROMPTED,
    RECORDINGS,
    RUBRIC,
    TASK,
    TWO_DIMENSIONS,
    Case,
    folder,
    items_file,
    judges,
    rename,
    swap,
    write,
)
from tests.projects import DATASET, EVAL, EXPERIMENT

AS_PICTURES = swap("task: artifact_bundle\n", "task: image_generation\n")
AS_TEXT = swap("task: artifact_bundle\n", "task: structured_text\n")
WITHOUT_FILE = swap("  file: ../../inspect/task.py\n  task: draw_scene\n", "")
WITHOUT_SOURCES = swap(
    "  sources:\n    generation: [../../inspect/task.py]\n    scoring: [../../inspect/drawing.py]\n", ""
)

EVAL_CASES = [
    Case("task/unknown", (swap("task: draw_scene", "task: draw_scen"),), "task: draw_scen", says="no 'draw_scen'"),
    Case("task/unknown", (swap("def draw_scene(", "def draw_other(", TASK),), "task: draw_scene", name="renamed"),
    Case("task/unknown", (swap("@task\ndef", "def", TASK),), "task: draw_scene", says="carries no @task", name="bare"),
    Case("task/not-python", (swap("def draw_scene(", "def draw_scene(((", TASK),), "def draw_scene(", TASK),
    Case("review/unlisted-role", (swap("review: render", "review: rendr"),), "review: rendr", says="rendr"),
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
    Case("provider/no-route", (swap("provider: replay", "provider: abacus"),), "- provider:", says="abacus"),
    Case("replay/no-recordings", (swap(f", {RECORDINGS}", ""),), "- provider:"),
    Case(
        "scorer/repeated",
        (swap("- scene_coverage: {pass_at: 0.8}", "- valid_program"),),
        "mechanical:",
        says="valid_program",
    ),
    Case(
        "check/never-passes",
        (AS_PICTURES, swap("- valid_program: {pass_at: 1.0}", "- format_match: {format: bmp}")),
        "- format_match: {format: bmp}",
        says="'bmp', and no picture is kept in that format",
        name="set",
    ),
    Case(
        "check/never-passes",
        (
            AS_PICTURES,
            swap("- valid_program: {pass_at: 1.0}", "- format_match"),
            swap("parameters: {max_tokens: 800,", "parameters: {image: {output_format: avif}, max_tokens: 800,"),
        ),
        "parameters: {image: {output_format: avif}",
        says="'avif'",
        name="asked-for",
    ),
    Case(
        "check/setting",
        (swap("valid_program: {pass_at: 1.0}", "valid_program: {width: 3}"),),
        "- valid_program: {width: 3}",
        says="'width'",
    ),
    Case(
        "check/unknown",
        (
            swap("task: artifact_bundle\n", "task: structured_text\n"),
            swap("- valid_program: {pass_at: 1.0}", "- valid_jsn"),
        ),
        "- valid_jsn",
        says="'valid_jsn'",
    ),
    Case(
        "check/unknown",
        (AS_TEXT, WITHOUT_FILE, WITHOUT_SOURCES),
        "- valid_program: {pass_at: 1.0}",
        says="'valid_program'",
        name="nobody-brings",
    ),
    Case("task/no-file", (AS_TEXT, WITHOUT_FILE), "sources:", says="'sources'", name="sources"),
    Case(
        "task/no-file",
        (
            AS_TEXT,
            WITHOUT_FILE,
            WITHOUT_SOURCES,
            swap("  artifacts:\n", "  inspect: {sandbox: docker}\n  artifacts:\n"),
        ),
        "inspect: {sandbox: docker}",
        says="'sandbox'",
        name="option",
    ),
    Case("schema/required", (WITHOUT_FILE,), "execution:", says="'file'", name="bundle-without-file"),
    Case(
        "eval/missing-field",
        (swap("task: artifact_bundle\n", ""), WITHOUT_FILE),
        "execution:",
        says="'file'",
        name="bundle-of-the-case",
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
    Case(
        "judge/no-rubric",
        (
            *judges("screen"),
            swap("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", ""),
            swap("[mechanical, human]", "[mechanical]"),
        ),
        "- {id: strict",
        says="'strict' has no rubric",
    ),
    Case(
        "judge/not-blind",
        (*judges("screen", PROMPTED), write(JUDGE, "Judge.\n{{ item.input }}\nBy {{ model }}.\n")),
        "By {{ model",
        JUDGE,
        says="names 'model'",
    ),
    Case(
        "judge/not-blind",
        (*judges("screen", PROMPTED), write(JUDGE, "Judge.\n{{ item.expected }}\n")),
        "{{ item.expected",
        JUDGE,
        says="names 'item.expected'",
        name="expected",
    ),
    Case(
        "judge/not-blind",
        (*judges("screen", PROMPTED), write(JUDGE, "Judge {{ item.input \n")),
        "Judge {{",
        JUDGE,
        says="is no template",
        name="no-template",
    ),
    Case(
        "judge/prompt",
        (*judges("screen", PROMPTED), write(JUDGE, "{{ item.input.nothing }}\n")),
        "- {id: strict",
        says="nothing",
    ),
    Case(
        "review/no-role",
        (
            *judges("screen", "rubric: ../../rubrics/drawing.yml"),
            swap("    review: render\n", ""),
            swap("  human_review:\n    rubric: ../../rubrics/drawing.yml\n", ""),
            swap("[mechanical, human]", "[mechanical]"),
            swap("[render_rate, mechanical_pass_rate, accepted_rate]", "[]"),
        ),
        "- {id: strict",
        says="'strict' needs an artifact",
        name="of-a-judge",
    ),
    Case(
        "replay/no-recordings",
        (*judges("screen"), swap("provider: openai, model: judging", "provider: replay, model: judging")),
        "- {id: strict",
        says="judge 'strict' needs recorded answers",
        name="of-a-judge",
    ),
    Case(
        "approval/human",
        (swap("  limits: {cost", "  inspect: {approval: {approvers: [{name: human, tools: '*'}]}}\n  limits: {cost"),),
        "inspect:",
        says="nobody sits at a run",
    ),
    Case(
        "approval/policy",
        (swap("  limits: {cost", "  inspect: {approval: {approvers: []}}\n  limits: {cost"),),
        "inspect:",
        says="lists no approvers",
    ),
    Case(
        "approval/policy",
        (swap("  limits: {cost", "  inspect: {approval: {approvers: [{name: auto}]}}\n  limits: {cost"),),
        "inspect:",
        says="names no tools",
        name="no-tools",
    ),
    Case(
        "approval/undeclared",
        (
            write(EXPERIMENT / "policies/approval.yaml", "approvers: [{name: auto, tools: '*'}]\n"),
            swap("  limits: {cost", "  inspect: {approval: ../../policies/approval.yaml}\n  limits: {cost"),
        ),
        "inspect:",
        says="no declared source",
    ),
    Case(
        "role/name",
        (
            swap(
                "  limits: {cost",
                f"  model_roles: {{../grader: {{provider: replay, model: m, parameters: {{{RECORDINGS}}}}}}}\n"
                "  limits: {cost",
            ),
        ),
        "model_roles:",
        says="'../grader' is no name of a role",
    ),
    Case(
        "replay/no-recordings",
        (swap("  limits: {cost", "  model_roles: {grader: {provider: replay, model: m}}\n  limits: {cost"),),
        "model_roles:",
        says="role 'grader' needs recorded answers",
        name="of-a-role",
    ),
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
]
