"""Draws the pictures of this example and writes the recordings that hold them. Run it with `python make_pictures.py`.

No model made any of these pictures: they are drawn here, from shapes, so that the example has something to show. Each
carries the word "synthetic" in its pixels and in a text chunk.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from PIL import Image, ImageDraw, PngImagePlugin

HERE = Path(__file__).resolve().parent
SIDE, FINER = 320, 4  # drawn four times as large and made smaller, for smooth edges
LABEL = "synthetic: drawn by make_pictures.py for an example; no model made it"

Colour = tuple[int, int, int]
GREEN, ORANGE, BLUE, RED = (38, 92, 66), (226, 120, 38), (44, 98, 176), (196, 46, 46)
WOOD, YELLOW, GREY, BROWN = (214, 176, 124), (240, 196, 52), (128, 132, 140), (124, 82, 52)
PURPLE, BLACK, WHITE, BRASS = (108, 62, 150), (36, 36, 40), (246, 246, 242), (190, 152, 70)
STEEL, PINK = (178, 184, 192), (226, 130, 160)

# Letters of the stamp, five pixels high; every release of Pillow draws rectangles alike, which no font promises.
LETTERS = {
    "S": ("111", "100", "111", "001", "111"),
    "Y": ("101", "101", "010", "010", "010"),
    "N": ("110", "101", "101", "101", "101"),
    "T": ("111", "010", "010", "010", "010"),
    "H": ("101", "101", "111", "101", "101"),
    "E": ("111", "100", "110", "100", "111"),
    "I": ("111", "010", "010", "010", "111"),
    "C": ("111", "100", "100", "100", "111"),
}


class Sheet:
    """A transparent sheet on which shapes are drawn in hundredths of its side."""

    def __init__(self, ground: Colour | None = None) -> None:
        side = SIDE * FINER
        self.image = Image.new("RGBA", (side, side), (0, 0, 0, 0) if ground is None else (*ground, 255))
        self._draw = ImageDraw.Draw(self.image)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour, round_by: float = 0) -> None:
        self._draw.rounded_rectangle(self._at(left, top, right, bottom), self._long(round_by), fill)

    def oval(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        self._draw.ellipse(self._at(left, top, right, bottom), fill)

    def bow(
        self, left: float, top: float, right: float, bottom: float, turn: tuple[int, int], fill: Colour, width: float
    ) -> None:
        self._draw.arc(self._at(left, top, right, bottom), *turn, fill, self._long(width))

    def slice(self, left: float, top: float, right: float, bottom: float, turn: tuple[int, int], fill: Colour) -> None:
        self._draw.pieslice(self._at(left, top, right, bottom), *turn, fill)

    def shape(self, fill: Colour, *points: tuple[float, float]) -> None:
        self._draw.polygon([(self._long(x), self._long(y)) for x, y in points], fill)

    def line(self, fill: Colour, width: float, *points: tuple[float, float]) -> None:
        self._draw.line([(self._long(x), self._long(y)) for x, y in points], fill, self._long(width), joint="curve")

    def stamped(self) -> Image.Image:
        """Return the sheet in its size, with the stamp in a corner."""
        small = self.image.resize((SIDE, SIDE), Image.Resampling.BOX)
        draw = ImageDraw.Draw(small)
        for number, letter in enumerate("SYNTHETIC"):
            for row, dots in enumerate(LETTERS[letter]):
                for column, dot in enumerate(dots):
                    if dot == "1":
                        x, y = 8 + 2 * (4 * number + column), SIDE - 18 + 2 * row
                        draw.rectangle((x, y, x + 1, y + 1), (110, 110, 110, 255))
        return small

    def _at(self, *numbers: float) -> tuple[int, ...]:
        return tuple(self._long(number) for number in numbers)

    def _long(self, hundredths: float) -> int:
        return round(hundredths * SIDE * FINER / 100)


def shade(colour: Colour, by: float) -> Colour:
    """Return a colour made darker, or lighter where `by` is above 1."""
    return tuple(min(255, round(part * by)) for part in colour)  # type: ignore[return-value]


# --- the products: each in a colour, with or without the detail that customers know it by


def kettle(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.bow(30, 14, 70, 62, (190, 350), WOOD if detail else shade(colour, 0.6), 6)
    sheet.shape(shade(colour, 0.8), (70, 52), (90, 36), (93, 41), (76, 68))
    sheet.slice(20, 32, 80, 112, (180, 360), colour)
    sheet.box(20, 71, 80, 78, colour)
    sheet.box(20, 72, 80, 82, colour, 4)
    sheet.box(34, 34, 66, 39, shade(colour, 0.7), 2)
    sheet.oval(46, 27, 54, 35, shade(colour, 0.5))


def mug(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.bow(58, 36, 88, 68, (250, 110), shade(colour, 0.8), 6)
    sheet.box(24, 26, 72, 82, colour, 6)
    sheet.box(24, 26, 72, 34, shade(colour, 0.7), 4)
    if detail:
        sheet.box(24, 50, 72, 60, WHITE)


def bottle(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.box(34, 32, 66, 88, colour, 9)
    sheet.shape(colour, (36, 38), (43, 24), (57, 24), (64, 38))
    sheet.box(42, 12, 58, 25, BLACK if detail else shade(colour, 1.3), 2)
    sheet.box(40, 42, 44, 78, shade(colour, 1.35), 2)


def desk_lamp(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.line(STEEL, 3, (40, 82), (32, 50), (60, 30))
    sheet.oval(22, 78, 60, 90, BRASS if detail else colour)
    sheet.shape(colour, (52, 18), (68, 24), (84, 48), (48, 48))
    sheet.oval(60, 44, 72, 54, YELLOW)


def stool(sheet: Sheet, colour: Colour, detail: bool) -> None:
    for left, foot in ((32, 24), (48, 48), (64, 72)):
        sheet.shape(shade(colour, 0.9), (left, 40), (left + 5, 40), (foot + 5, 88), (foot, 88))
    sheet.box(30, 62, 70, 66, shade(colour, 0.75), 1)
    sheet.box(20, 30, 80, 42, YELLOW if detail else colour, 5)


def notebook(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.box(30, 18, 76, 84, WHITE, 2)
    sheet.box(26, 14, 72, 82, colour, 3)
    sheet.box(26, 14, 33, 82, shade(colour, 0.7), 2)
    if detail:
        sheet.box(56, 14, 60, 92, RED)


def backpack(sheet: Sheet, colour: Colour, detail: bool) -> None:
    sheet.bow(40, 6, 60, 30, (180, 360), shade(colour, 0.6), 4)
    if detail:
        sheet.box(16, 52, 30, 80, shade(colour, 0.7), 5)
        sheet.box(70, 52, 84, 80, shade(colour, 0.7), 5)
    sheet.box(24, 16, 76, 86, colour, 14)
    sheet.box(32, 50, 68, 78, shade(colour, 1.25), 5)
    sheet.box(32, 40, 68, 43, shade(colour, 0.6), 1)


def umbrella(sheet: Sheet, colour: Colour, detail: bool) -> None:
    handle = WOOD if detail else BLACK
    sheet.line(STEEL, 2, (50, 12), (50, 76))
    sheet.line(handle, 4, (50, 66), (50, 84))
    sheet.bow(36, 74, 52, 92, (0, 180), handle, 4)
    sheet.slice(10, 14, 90, 88, (180, 360), colour)
    for left in (10, 36.7, 63.3):
        sheet.slice(left, 46, left + 26.7, 57, (180, 360), shade(colour, 0.75))


def pocket_knife(sheet: Sheet, colour: Colour, detail: bool) -> None:
    if detail:
        sheet.shape(STEEL, (24, 52), (30, 44), (66, 20), (78, 16), (70, 28), (36, 54))
    sheet.box(16, 50, 78, 66, colour, 8)
    sheet.oval(22, 55, 28, 61, WHITE)
    sheet.box(66, 57, 72, 59, WHITE)


@dataclass(frozen=True)
class Product:
    """What is drawn of an item, and in which colour it is right."""

    draw: Callable[[Sheet, Colour, bool], None]
    colour: Colour


PRODUCTS = {
    "kettle": Product(kettle, GREEN),
    "mug": Product(mug, ORANGE),
    "bottle": Product(bottle, BLUE),
    "desk-lamp": Product(desk_lamp, RED),
    "stool": Product(stool, WOOD),
    "notebook": Product(notebook, GREY),
    "backpack": Product(backpack, BROWN),
    "umbrella": Product(umbrella, PURPLE),
    "pocket-knife": Product(pocket_knife, RED),
}


# --- what came of each prompt


@dataclass(frozen=True)
class Drawn:
    """A picture of a product, right in every way unless something is said here; `tint` is no other colour."""

    colour: Colour | None = None
    tint: float = 1.0
    detail: bool = True
    ground: Colour | None = None
    side: int = SIDE
    form: str = "png"

    def image(self, item: str) -> Image.Image:
        product = PRODUCTS[item]
        sheet = Sheet(self.ground)
        product.draw(sheet, shade(self.colour or product.colour, self.tint), self.detail)
        image = sheet.stamped()
        return image if self.side == SIDE else image.resize((self.side, self.side), Image.Resampling.BOX)

    @property
    def answer(self) -> dict[str, dict[str, object]]:
        """What somebody who looks at it says."""
        if self.colour is not None:
            return {"product-reference": no("other-colour"), "page-ready": YES}
        if not self.detail:
            return {"product-reference": no("detail-missing"), "page-ready": YES}
        return {"product-reference": YES, "page-ready": YES}


@dataclass(frozen=True)
class Blank:
    """A picture in which every pixel is the same."""

    image: Image.Image = field(default_factory=lambda: Image.new("RGBA", (SIDE, SIDE), (255, 255, 255, 0)))


@dataclass(frozen=True)
class CutShort:
    """The first half of a picture's bytes."""


@dataclass(frozen=True)
class Withheld:
    """No picture, because a safety filter withheld it."""


@dataclass(frozen=True)
class Words:
    """Words in the place of a picture."""

    text: str


Answer = Drawn | Blank | CutShort | Withheld | Words
YES: dict[str, object] = {"pass": True, "reason": "none"}
ARMS: dict[str, dict[str, Answer]] = {
    "name-only": {
        "kettle": Drawn(colour=RED, detail=False),
        "mug": Drawn(detail=False),
        "bottle": Drawn(tint=1.25),
        "desk-lamp": Drawn(ground=WHITE),
        "stool": Drawn(detail=False),
        "notebook": Drawn(side=160),
        "backpack": CutShort(),
        "umbrella": Drawn(colour=BLACK, detail=False),
        "pocket-knife": Withheld(),
    },
    "written-details": {
        "kettle": Drawn(),
        "mug": Drawn(),
        "bottle": Drawn(),
        "desk-lamp": Drawn(),
        "stool": Drawn(form="webp"),
        "notebook": Drawn(colour=PINK),
        "backpack": Drawn(),
        "umbrella": Blank(),
        "pocket-knife": Words("I would rather not draw a blade. Shall I draw the knife closed?"),
    },
}
# Where the judge says something else than whoever looks at the picture would.
OTHERWISE = {
    ("name-only", "mug"): {"product-reference": YES, "page-ready": YES},
    ("written-details", "backpack"): {
        "product-reference": YES,
        "page-ready": {"pass": False, "reason": "badly-drawn"},
    },
}


def no(reason: str) -> dict[str, object]:
    return {"pass": False, "reason": reason}


# --- files


def encoded(image: Image.Image, form: str) -> bytes:
    buffer = io.BytesIO()
    if form == "png":
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", LABEL)
        image.save(buffer, "PNG", optimize=True, pnginfo=text)
    else:
        image.save(buffer, form.upper(), lossless=True)
    return buffer.getvalue()


def picture_of(item: str, answer: Answer) -> tuple[str, bytes] | None:
    """Return suffix and bytes of the picture of an answer, None where none came."""
    match answer:
        case Drawn():
            return answer.form, encoded(answer.image(item), answer.form)
        case Blank():
            return "png", encoded(answer.image, "png")
        case CutShort():
            whole = encoded(Drawn().image(item), "png")
            return "png", whole[: len(whole) // 2]
    return None


def turn(arm: str, item: str, answer: Answer) -> dict[str, object]:
    """Write the picture of an answer, and return what is recorded of the reply."""
    usage = {"input": 24 if arm == "name-only" else 52, "output": 0 if isinstance(answer, Withheld) else 272}
    if isinstance(answer, Words):
        return {"text": answer.text, "usage": {**usage, "output": 16}}
    found = picture_of(item, answer)
    if found is None:
        return {"text": "", "stop_reason": "content_filter", "usage": usage}
    suffix, content = found
    name = f"pictures/{arm}--{item}.{suffix}"
    (HERE / name).write_bytes(content)
    return {"text": "", "pictures": [{"file": name, "sha256": hashlib.sha256(content).hexdigest()}], "usage": usage}


def seen(answer: Answer) -> TypeGuard[Drawn]:
    """Return whether anybody looks at it: a picture on a ground of its own fails a prerequisite."""
    return isinstance(answer, Drawn) and answer.ground is None


def verdict(arm: str, item: str, answer: Drawn) -> dict[str, object]:
    text = json.dumps(OTHERWISE.get((arm, item), answer.answer))
    return {"item": item, "arm": arm, "turns": [{"text": text, "usage": {"input": 900, "output": 30}}]}


def write(name: str, label: str, lines: Sequence[dict[str, object]]) -> None:
    header = {"tamesu_recording": 1, "label": label}
    (HERE / name).write_text("".join(f"{json.dumps(line)}\n" for line in (header, *lines)), encoding="utf-8")


def main() -> None:
    (HERE / "pictures").mkdir(exist_ok=True)
    every = [(arm, item, answer) for arm, answers in ARMS.items() for item, answer in answers.items()]
    answers = [{"item": item, "arm": arm, "turns": [turn(arm, item, answer)]} for arm, item, answer in every]
    verdicts = [verdict(arm, item, answer) for arm, item, answer in every if seen(answer)]
    write("answers.jsonl", "synthetic pictures, drawn for this example; no model made them", answers)
    write("verdicts.jsonl", "synthetic verdicts, made up for this example; no model gave them", verdicts)


if __name__ == "__main__":
    main()
