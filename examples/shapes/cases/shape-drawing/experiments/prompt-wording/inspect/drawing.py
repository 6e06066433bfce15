"""A drawing language in JSON: find the one program in an answer, check it, draw it.

Nothing in an answer is ever executed. Coordinates are pixels from the top left corner. Every reason that
a program can be refused for is a `Refusal.reason`, so that scores can be grouped by it.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PIL import Image, ImageColor, ImageDraw

Color = tuple[int, int, int]
Point = tuple[float, float]

MAX_CANVAS = 512
MAX_SHAPES = 50
MAX_COORDINATE = 1024
MAX_THICKNESS = 64

COLORS: Mapping[str, str] = {
    "black": "#000000",
    "white": "#ffffff",
    "gray": "#808080",
    "grey": "#808080",
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "yellow": "#ffff00",
    "orange": "#ffa500",
    "purple": "#800080",
    "pink": "#ffc0cb",
    "brown": "#a52a2a",
    "navy": "#000080",
    "cyan": "#00ffff",
}

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "circle": ("cx", "cy", "radius"),
    "rectangle": ("x", "y", "width", "height"),
    "triangle": ("points",),
    "line": ("x1", "y1", "x2", "y2"),
}

HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)")
OBJECT_START = re.compile(r'\{(?=\s*["}])')


class Refusal(ValueError):
    """Why an answer holds no program that can be used: a reason to count, a detail to read."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape as drawn; circles and rectangles are held by the two corners of their bounding box."""

    kind: str
    color: Color
    points: tuple[Point, ...]
    thickness: int = 1


@dataclass(frozen=True, slots=True)
class Program:
    """A checked program; `text` is its JSON with sorted keys, equal for equal programs."""

    width: int
    height: int
    background: Color
    shapes: tuple[Shape, ...]
    text: str


class Coverage(NamedTuple):
    """How much of a scene is there: the share from 0 to 1, and what is missing as `color kind`."""

    share: float
    missing: tuple[str, ...]


class Parts(NamedTuple):
    """An answer cut at its code fences; `unclosed` says that the last one never ends."""

    blocks: tuple[str, ...]
    prose: tuple[str, ...]
    unclosed: bool


# --- finding the program -------------------------------------------------------------------------------


def read_program(answer: str) -> Program:
    """The one program that an answer holds; the same program given twice counts once.

    Raises Refusal: `empty_answer`, `extraction_failed`, `invalid_json`, `unknown_shape`, `invalid_program`.
    """
    if not answer.strip():
        raise Refusal("empty_answer", "the answer holds no text")
    parts = split_fences(answer)
    valid: dict[str, Program] = {}
    refusals: list[Refusal] = []
    for candidate in _candidates(parts):
        try:
            program = check_program(parse_json(candidate))
        except Refusal as refusal:
            refusals.append(refusal)
        else:
            valid[program.text] = program
    if len(valid) > 1:
        raise Refusal("extraction_failed", f"the answer holds {len(valid)} different programs")
    if valid:
        return next(iter(valid.values()))
    raise _most_telling(refusals, parts.unclosed)


def split_fences(answer: str) -> Parts:
    """Pair each opening fence with its own closing one, in a single pass over the lines.

    A closing fence has the mark of its opening one, is at least as long, and carries no info string.
    """
    blocks: list[str] = []
    prose: list[str] = []
    lines: list[str] = []
    mark = ""
    for raw in answer.split("\n"):
        line = raw.rstrip("\r")
        fence = FENCE.fullmatch(line)
        if mark and fence and _closes(fence, mark):
            blocks.append("\n".join(lines))
            lines, mark = [], ""
        elif fence and not mark:
            prose.append("\n".join(lines))
            lines, mark = [], fence["mark"]
        else:
            lines.append(line)
    if not mark:
        prose.append("\n".join(lines))
    return Parts(tuple(blocks), tuple(prose), unclosed=bool(mark))


def _closes(fence: re.Match[str], mark: str) -> bool:
    same = fence["mark"][0] == mark[0] and len(fence["mark"]) >= len(mark)
    return same and not fence["info"].strip()


def _candidates(parts: Parts) -> Iterator[str]:
    """Texts that may be a program: fenced blocks that begin as an object, and objects between the fences."""
    yield from (block for block in parts.blocks if block.lstrip().startswith("{"))
    for text in parts.prose:
        yield from _objects(text)


def _objects(text: str) -> Iterator[str]:
    """JSON objects in running text; after one that does not parse, the rest of the text is given as it is.

    Looking further inside a broken object would make a program of one of its parts.
    """
    start = OBJECT_START.search(text)
    while start:
        try:
            _, end = json.JSONDecoder().raw_decode(text, start.start())
        except (ValueError, RecursionError):
            yield text[start.start() :]
            return
        yield text[start.start() : end]
        start = OBJECT_START.search(text, end)


def _most_telling(refusals: Sequence[Refusal], unclosed: bool) -> Refusal:
    for reason in ("unknown_shape", "invalid_program", "invalid_json"):
        for refusal in refusals:
            if refusal.reason == reason:
                return refusal
    if unclosed:
        return Refusal("extraction_failed", "a code fence is opened and never closed")
    return Refusal("extraction_failed", "the answer holds no JSON object")


def parse_json(text: str) -> object:
    """Strict JSON: no NaN or infinity, no repeated key. Raises Refusal `invalid_json`."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
    except RecursionError:
        raise Refusal("invalid_json", "nested too deeply") from None
    except ValueError as error:
        raise Refusal("invalid_json", str(error)) from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError(f"key {repeated[0]!r} is repeated")
    return dict(pairs)


# --- checking it ---------------------------------------------------------------------------------------


def check_program(value: object) -> Program:
    """Raises Refusal: `unknown_shape` for a kind that the language lacks, else `invalid_program`."""
    top = _fields(value, "program", ("canvas", "shapes"))
    canvas = _fields(top["canvas"], "canvas", ("width", "height", "background"))
    shapes = top["shapes"]
    if not isinstance(shapes, list):
        raise Refusal("invalid_program", "shapes is not a list")
    if len(shapes) > MAX_SHAPES:
        raise Refusal("invalid_program", f"{len(shapes)} shapes, at most {MAX_SHAPES} are allowed")
    return Program(
        width=_whole(canvas["width"], "canvas.width", MAX_CANVAS),
        height=_whole(canvas["height"], "canvas.height", MAX_CANVAS),
        background=parse_color(canvas["background"], "canvas.background"),
        shapes=tuple(_shape(shape, f"shapes[{index}]") for index, shape in enumerate(shapes)),
        text=json.dumps(value, sort_keys=True, indent=2) + "\n",
    )


def _shape(value: object, where: str) -> Shape:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise Refusal("invalid_program", f"{where} is not an object with a 'kind'")
    kind: str = value["kind"]
    if kind not in REQUIRED:
        raise Refusal("unknown_shape", f"{where}.kind is {kind!r}, known are {', '.join(REQUIRED)}")
    optional = ("thickness",) if kind == "line" else ()
    fields = _fields(value, where, ("kind", "color", *REQUIRED[kind]), optional)
    return Shape(
        kind=kind,
        color=parse_color(fields["color"], f"{where}.color"),
        points=_points(kind, fields, where),
        thickness=_whole(fields.get("thickness", 1), f"{where}.thickness", MAX_THICKNESS),
    )


def _points(kind: str, fields: Mapping[str, object], where: str) -> tuple[Point, ...]:
    if kind == "triangle":
        return _corners(fields["points"], where)
    first, second, *sizes = (_number(fields[name], f"{where}.{name}") for name in REQUIRED[kind])
    if kind == "line":
        return ((first, second), (sizes[0], sizes[1]))
    if min(sizes) <= 0:
        raise Refusal("invalid_program", f"{where} has a size that is not above zero")
    if kind == "circle":
        radius = sizes[0]
        return ((first - radius, second - radius), (first + radius, second + radius))
    return ((first, second), (first + sizes[0], second + sizes[1]))


def _corners(value: object, where: str) -> tuple[Point, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise Refusal("invalid_program", f"{where}.points is not a list of three points")
    corners = []
    for index, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2:
            raise Refusal("invalid_program", f"{where}.points[{index}] is not a pair of numbers")
        x, y = (_number(number, f"{where}.points[{index}]") for number in pair)
        corners.append((x, y))
    return tuple(corners)


def _fields(value: object, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Refusal("invalid_program", f"{where} is not an object")
    for name in required:
        if name not in value:
            raise Refusal("invalid_program", f"{where} lacks {name!r}")
    for name in value:
        if name not in (*required, *optional):
            raise Refusal("invalid_program", f"{where} has the unknown field {name!r}")
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refusal("invalid_program", f"{where} is not a number")
    if not abs(value) <= MAX_COORDINATE:
        raise Refusal("invalid_program", f"{where} lies outside -{MAX_COORDINATE} to {MAX_COORDINATE}")
    return float(value)


def _whole(value: object, where: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Refusal("invalid_program", f"{where} is not a whole number from 1 to {most}")
    return value


def parse_color(value: object, where: str) -> Color:
    """A name of `COLORS`, in any case, or `#rgb` or `#rrggbb`."""
    text = value.lower() if isinstance(value, str) else ""
    code = COLORS.get(text, text)
    if not HEX.fullmatch(code):
        raise Refusal("invalid_program", f"{where} is no known color: {value!r}")
    red, green, blue = ImageColor.getrgb(code)[:3]
    return red, green, blue


# --- using it ------------------------------------------------------------------------------------------


def render_png(program: Program) -> bytes:
    """PNG bytes, equal for equal programs. Raises Refusal `nothing_to_draw` when there is no shape."""
    if not program.shapes:
        raise Refusal("nothing_to_draw", "the program is valid and holds no shapes")
    image = Image.new("RGB", (program.width, program.height), program.background)
    pencil = ImageDraw.Draw(image)
    for shape in program.shapes:
        _draw(pencil, shape)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", compress_level=9)
    return buffer.getvalue()


def _draw(pencil: ImageDraw.ImageDraw, shape: Shape) -> None:
    points = list(shape.points)
    if shape.kind == "circle":
        pencil.ellipse(points, fill=shape.color)
    elif shape.kind == "rectangle":
        pencil.rectangle(points, fill=shape.color)
    elif shape.kind == "triangle":
        pencil.polygon(points, fill=shape.color)
    else:
        pencil.line(points, fill=shape.color, width=shape.thickness)


def coverage(program: Program, expected: Sequence[Mapping[str, str]]) -> Coverage:
    """Share of the expected shapes that are drawn, by kind and color; a shape serves one expectation."""
    if not expected:
        raise ValueError("the scene expects no shapes: name at least one in the dataset")
    drawn = Counter((shape.kind, shape.color) for shape in program.shapes)
    missing = []
    for wanted in expected:
        key = (wanted["kind"], parse_color(wanted["color"], "expected"))
        if drawn[key] > 0:
            drawn[key] -= 1
        else:
            missing.append(f"{wanted['color']} {wanted['kind']}")
    return Coverage((len(expected) - len(missing)) / len(expected), tuple(missing))
