from __future__ import annotations

import asyncio
import importlib.util
import io
import json
import re
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from PIL import Image

from tamesu.inspect_support import bound_staging

PROJECT = Path(__file__).parents[2] / "examples" / "shapes"
CASE = PROJECT / "cases" / "shape-drawing"
EXPERIMENT = CASE / "experiments" / "prompt-wording"


def load(file: str) -> ModuleType:
    name = f"example_shapes_{file}"
    spec = importlib.util.spec_from_file_location(name, EXPERIMENT / "inspect" / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


drawing = load("drawing")

CIRCLE = {"kind": "circle", "cx": 20, "cy": 20, "radius": 10, "color": "red"}
LINE = {"kind": "line", "x1": 0, "y1": 0, "x2": 9, "y2": 9, "color": "black"}


def text(*shapes: object, background: str = "white") -> str:
    canvas = {"width": 40, "height": 40, "background": background}
    return json.dumps({"canvas": canvas, "shapes": list(shapes)})


def fenced(body: str, info: str = "json") -> str:
    return f"```{info}\n{body}\n```"


def read(answer: str) -> Any:
    return drawing.read_program(answer)


def reason(answer: str) -> str:
    with pytest.raises(drawing.Refusal) as caught:
        read(answer)
    return str(caught.value.reason)


# --- finding the program -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        text(CIRCLE),
        f"Here it is: {text(CIRCLE)} I hope it helps.",
        f"Text {{in braces}}.\n\n{fenced(text(CIRCLE))}\n\nMore {{text}}.",
        fenced(text(CIRCLE), info=""),
        f"~~~json\n{text(CIRCLE)}\n~~~",
        fenced(text(CIRCLE)).replace("\n", "\r\n"),
        f"   {fenced(text(CIRCLE))}",
    ],
    ids=["bare", "inline", "fenced", "no-info", "tildes", "crlf", "indented"],
)
def test_text_and_fences_around_a_program_are_tolerated(answer: str) -> None:
    assert read(text(CIRCLE)) == read(answer)


def test_of_two_fences_the_one_that_parses_is_chosen() -> None:
    draft = fenced(text(LINE).replace("]}", ",]}"))
    assert read(text(CIRCLE)) == read(f"Draft:\n{draft}\nCorrected:\n{fenced(text(CIRCLE))}")


def test_the_same_program_twice_is_one_program() -> None:
    pretty = json.dumps(json.loads(text(CIRCLE)), indent=4)
    assert read(text(CIRCLE)) == read(f"{fenced(text(CIRCLE))}\nagain\n{fenced(pretty)}")


def test_two_different_programs_are_ambiguous() -> None:
    assert reason(f"{fenced(text(CIRCLE))}\nor\n{fenced(text(LINE))}") == "extraction_failed"


def test_no_block_begins_at_a_closing_fence() -> None:
    answer = f"{fenced('a plan', '')}\n{text(LINE)[:-2]}\n{fenced(text(CIRCLE), '')}"
    parts = drawing.split_fences(answer)
    assert parts.blocks == ("a plan", text(CIRCLE))
    assert read(answer) == read(text(CIRCLE))


def test_a_shorter_fence_inside_a_longer_one_does_not_close_it() -> None:
    body = f"```json\n{text(CIRCLE)}\n```"
    assert drawing.split_fences(f"````\n{body}\n````").blocks == (body,)


def test_a_fence_that_never_closes_holds_no_program() -> None:
    assert reason(f"```json\n{text(CIRCLE)}\n") == "extraction_failed"


def test_a_part_of_a_broken_object_is_no_program() -> None:
    assert reason('{"drawing": ' + text(CIRCLE)) == "invalid_json"


@pytest.mark.parametrize("answer", ["", " \n\t"])
def test_an_answer_without_text_is_empty(answer: str) -> None:
    assert reason(answer) == "empty_answer"


def test_prose_alone_holds_no_program() -> None:
    assert reason("I would draw {a circle}.") == "extraction_failed"


@pytest.mark.parametrize(
    "answer",
    [
        text(CIRCLE).replace("]}", ",]}"),
        text(CIRCLE)[:-1],
        text(CIRCLE).replace("20", "NaN", 1),
        text(CIRCLE).replace('"shapes"', '"shapes": [], "shapes"'),
        '{"a":' * 100_000,
        fenced("{" + text(CIRCLE)),
    ],
    ids=["trailing-comma", "missing-brace", "nan", "repeated-key", "deep", "doubled-brace"],
)
def test_json_that_does_not_parse_strictly_is_refused(answer: str) -> None:
    assert reason(answer) == "invalid_json"


# --- checking it ---------------------------------------------------------------------------------------


def test_a_shape_that_the_language_lacks_is_named() -> None:
    with pytest.raises(drawing.Refusal, match=r"unknown_shape.*hexagon"):
        read(text(CIRCLE, {**CIRCLE, "kind": "hexagon"}))


@pytest.mark.parametrize(
    "shape",
    [
        {**CIRCLE, "radius": 0},
        {**CIRCLE, "radius": -3},
        {**CIRCLE, "cx": True},
        {**CIRCLE, "cx": "20"},
        {**CIRCLE, "cx": 10**400},
        {**CIRCLE, "opacity": 0.5},
        {**CIRCLE, "color": "reddish"},
        {**CIRCLE, "color": "#12345"},
        {**CIRCLE, "color": None},
        {**LINE, "thickness": 0},
        {**CIRCLE, "thickness": 2},
        {"kind": "circle", "color": "red"},
        {"kind": "triangle", "points": [[0, 0], [1, 1]], "color": "red"},
        {"kind": "triangle", "points": [[0, 0], [1, 1], [2]], "color": "red"},
        {"color": "red"},
        "circle",
    ],
)
def test_a_shape_outside_the_rules_makes_the_program_invalid(shape: object) -> None:
    assert reason(text(shape)) == "invalid_program"


def test_a_number_that_overflows_is_out_of_bounds() -> None:
    assert reason(text(CIRCLE).replace("20", "1e999", 1)) == "invalid_program"


@pytest.mark.parametrize(
    "canvas",
    [
        {"width": 513, "height": 40, "background": "white"},
        {"width": 0, "height": 40, "background": "white"},
        {"width": 40.5, "height": 40, "background": "white"},
        {"width": "100%", "height": 40, "background": "white"},
        {"width": 40, "height": 40},
        [40, 40],
    ],
)
def test_a_canvas_outside_the_rules_makes_the_program_invalid(canvas: object) -> None:
    assert reason(json.dumps({"canvas": canvas, "shapes": [CIRCLE]})) == "invalid_program"


def test_there_are_at_most_fifty_shapes() -> None:
    assert len(read(text(*[CIRCLE] * 50)).shapes) == 50
    assert reason(text(*[CIRCLE] * 51)) == "invalid_program"


@pytest.mark.parametrize("color", ["RED", "#f00", "#FF0000"])
def test_colors_have_names_and_codes(color: str) -> None:
    assert drawing.parse_color(color, "here") == (255, 0, 0)


# --- using it ------------------------------------------------------------------------------------------


def test_rendering_gives_the_same_png_bytes_for_the_same_program() -> None:
    triangle = {"kind": "triangle", "points": [[0, 39], [20, 5], [39.5, 39]], "color": "#0a0"}
    box = {"kind": "rectangle", "x": -5, "y": 2, "width": 12, "height": 12.5, "color": "navy"}
    answer = text(CIRCLE, triangle, box, {**LINE, "thickness": 3})
    first = drawing.render_png(read(answer))
    assert first == drawing.render_png(read(json.dumps(json.loads(answer), indent=1)))
    image = Image.open(io.BytesIO(first))
    assert (image.format, image.size) == ("PNG", (40, 40))
    assert not image.info


def test_later_shapes_cover_earlier_ones() -> None:
    image = Image.open(io.BytesIO(drawing.render_png(read(text(CIRCLE, {**CIRCLE, "color": "blue", "radius": 4})))))
    assert image.getpixel((20, 20)) == (0, 0, 255)
    assert image.getpixel((20, 12)) == (255, 0, 0)
    assert image.getpixel((0, 0)) == (255, 255, 255)


def test_a_program_without_shapes_is_valid_and_has_no_render() -> None:
    program = read(text())
    with pytest.raises(drawing.Refusal, match="nothing_to_draw"):
        drawing.render_png(program)


def test_coverage_counts_each_drawn_shape_once() -> None:
    expected = [{"kind": "circle", "color": "red"}] * 2 + [{"kind": "line", "color": "black"}]
    found = drawing.coverage(read(text({**CIRCLE, "color": "#ff0000"}, LINE, LINE)), expected)
    assert found == drawing.Coverage(2 / 3, ("red circle",))


def test_a_scene_that_expects_nothing_is_a_fault_of_the_dataset() -> None:
    with pytest.raises(ValueError, match="expects no shapes"):
        drawing.coverage(read(text(CIRCLE)), [])


# --- the scorers ----------------------------------------------------------------------------------------


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setitem(sys.modules, "drawing", drawing)
    return load("task")


def state_of(answer: str | None, stop: str = "stop") -> SimpleNamespace:
    choice = SimpleNamespace(message=SimpleNamespace(text=answer), stop_reason=stop)
    return SimpleNamespace(sample_id="scene", output=SimpleNamespace(choices=[] if answer is None else [choice]))


def score(scorer: Any, state: SimpleNamespace, staging: Path) -> Any:
    shapes = [{"kind": "circle", "color": "red"}, {"kind": "line", "color": "black"}]
    target = SimpleNamespace(text=json.dumps({"shapes": shapes}))
    with bound_staging(staging, "scene"):
        return asyncio.run(scorer(state, target))


def staged(staging: Path) -> list[tuple[str, str, str]]:
    lines = (staging / "scene" / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return [(e["role"], e["path"], e["media_type"]) for e in map(json.loads, lines)]


RESPONSE = ("response", "response.txt", "text/plain")
DRAWING = ("drawing", "drawing.json", "application/json")
RENDER = ("render", "render.png", "image/png")


@pytest.mark.parametrize(
    ("state", "value", "reason", "roles"),
    [
        (state_of(text(CIRCLE)), 1.0, "none", [RESPONSE, DRAWING, RENDER]),
        (state_of(text()), 0.0, "nothing_to_draw", [RESPONSE, DRAWING]),
        (state_of(text(CIRCLE), "max_tokens"), 0.0, "truncated", [RESPONSE]),
        (state_of(""), 0.0, "empty_answer", [RESPONSE]),
        (state_of(None), 0.0, "empty_answer", [RESPONSE]),
        (state_of("\ud800 {"), 0.0, "extraction_failed", [RESPONSE]),
        (state_of(text(CIRCLE)[:-1]), 0.0, "invalid_json", [RESPONSE]),
        (state_of(text({**CIRCLE, "kind": "star"})), 0.0, "unknown_shape", [RESPONSE]),
    ],
    ids=["valid", "no-shapes", "truncated", "empty", "no-choice", "surrogate", "broken", "unknown"],
)
def test_valid_program_names_its_reason_and_stages_what_there_is(
    task: ModuleType, tmp_path: Path, state: SimpleNamespace, value: float, reason: str, roles: list[Any]
) -> None:
    result = score(task.valid_program(), state, tmp_path)
    assert (value, reason) == (result.value, result.metadata["reason"])
    assert roles == staged(tmp_path)


@pytest.mark.parametrize(
    ("state", "value", "explanation"),
    [
        (state_of(text(CIRCLE, LINE)), 1.0, "every expected shape is drawn"),
        (state_of(text(CIRCLE)), 0.5, "missing: black line"),
        (state_of(text()), 0.0, "missing: red circle, black line"),
        (state_of(None), 0.0, "empty_answer: the answer holds no text"),
    ],
)
def test_scene_coverage_is_a_share_and_stages_nothing(
    task: ModuleType, tmp_path: Path, state: SimpleNamespace, value: float, explanation: str
) -> None:
    result = score(task.scene_coverage(), state, tmp_path)
    assert (value, explanation) == (result.value, result.explanation)
    assert not list(tmp_path.iterdir())


def test_the_task_leaves_model_config_epochs_and_limits_to_the_manifest(task: ModuleType, tmp_path: Path) -> None:
    dataset = tmp_path / "input.jsonl"
    dataset.write_text('{"id": "scene", "input": "draw", "target": "{}"}\n', encoding="utf-8")
    made = task.draw_scene(str(dataset))
    assert (made.model, made.epochs) == (None, None)
    assert made.config.model_dump(exclude_none=True) == {}
    limits = ("message_limit", "token_limit", "time_limit", "working_limit", "cost_limit")
    assert not any(getattr(made, limit) for limit in limits)


# --- the recorded answers ------------------------------------------------------------------------------


def records() -> list[dict[str, Any]]:
    lines = (EXPERIMENT / "recordings" / "answers.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def answers() -> list[dict[str, Any]]:
    return records()[1:]


def scenes() -> dict[str, dict[str, Any]]:
    dataset = yaml.safe_load((CASE / "datasets" / "scenes-v1" / "dataset.yml").read_text(encoding="utf-8"))
    return {item["id"]: item for item in dataset["items"]}


def plan() -> dict[str, Any]:
    path = EXPERIMENT / "evals" / "replayed" / "eval.yml"
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def outcome(record: dict[str, Any]) -> str:
    (turn,) = record["turns"]
    if turn["stop_reason"] == "max_tokens":
        return "truncated"
    try:
        drawing.render_png(read(turn["text"]))
    except drawing.Refusal as refusal:
        return str(refusal.reason)
    return "drawn"


def test_recordings_hold_each_combination_of_the_plan_exactly_once() -> None:
    models = [run["model"] for run in plan()["runs"]]
    arms = [arm["id"] for arm in plan()["arms"]]
    repetitions = range(1, plan()["defaults"]["repetitions"] + 1)
    expected = sorted(product(scenes(), models, arms, repetitions))
    actual = sorted((a["item"], a["model"], a["arm"], a["repetition"]) for a in answers())
    assert expected == actual
    assert len(actual) == 96


def test_recordings_say_visibly_that_they_are_recorded_and_synthetic() -> None:
    header = records()[0]
    assert header["tamesu_recording"] == 1
    assert header["label"].startswith("recorded and synthetic")
    assert "recorded and synthetic" in (EXPERIMENT / "recordings" / "README.md").read_text(encoding="utf-8")


def test_every_recorded_turn_states_usage_within_the_limit() -> None:
    most = plan()["defaults"]["parameters"]["max_tokens"]
    for record in answers():
        (turn,) = record["turns"]
        assert turn["usage"]["input"] > 0
        assert 1 <= turn["usage"]["output"] <= most
        assert (turn["usage"]["output"] == most) == (turn["stop_reason"] == "max_tokens")
        assert "error" not in turn


def test_every_awkward_answer_occurs() -> None:
    wanted = {
        "empty_answer",
        "truncated",
        "extraction_failed",
        "invalid_json",
        "unknown_shape",
        "invalid_program",
        "nothing_to_draw",
        "drawn",
    }
    assert wanted == {outcome(record) for record in answers()}


@pytest.mark.parametrize(
    ("pattern", "result"),
    [
        (r"\A[A-Z][^{`]+\n\n(```json\n)?\{", "drawn"),
        (r"(?s)```json\n.*\n```\n.*\n```json\n.*\n```", "drawn"),
        (r"(?s)```json\n.*\n```\n.*\n```json\n.*\n```", "extraction_failed"),
        (r"(?s)\n```\n[^`]+\n```\n\{", "drawn"),
        (r",\s*\]", "invalid_json"),
        (r"\]\s*\Z", "invalid_json"),
        (r'"hexagon"', "unknown_shape"),
        (r'"shapes": \[\]', "nothing_to_draw"),
    ],
    ids=[
        "prose",
        "two-fences",
        "two-programs",
        "after-a-closing-fence",
        "trailing-comma",
        "missing-brace",
        "hexagon",
        "no-shapes",
    ],
)
def test_an_awkward_form_has_its_outcome(pattern: str, result: str) -> None:
    found = [a for a in answers() if re.search(pattern, a["turns"][0]["text"]) and outcome(a) == result]
    assert found


def test_awkward_answers_are_most_frequent_where_the_prompt_is_terse_and_the_model_small() -> None:
    drawn = Counter((a["model"], a["arm"]) for a in answers() if outcome(a) == "drawn")
    for model in ("sketcher-small", "sketcher-large"):
        assert drawn[model, "terse"] < drawn[model, "worked-example"]
    assert min(drawn, key=lambda key: drawn[key]) == ("sketcher-small", "terse")


def test_repetitions_differ_and_the_file_stays_small() -> None:
    texts = Counter(a["turns"][0]["text"] for a in answers())
    assert len(texts) > 90
    assert (EXPERIMENT / "recordings" / "answers.jsonl").stat().st_size < 200_000


def test_every_expected_shape_is_one_of_the_language() -> None:
    for scene in scenes().values():
        for shape in scene["expected"]["shapes"]:
            assert shape["kind"] in drawing.REQUIRED
            assert shape["color"] in drawing.COLORS


def test_the_worked_example_is_a_valid_program_and_no_scene_of_the_dataset() -> None:
    prompt = (EXPERIMENT / "prompts" / "worked-example.md.j2").read_text(encoding="utf-8")
    example = prompt.replace("{{ item.input.scene }}", "")
    assert drawing.render_png(read(example))
    assert not [scene for scene in scenes().values() if scene["input"]["scene"] in example]
