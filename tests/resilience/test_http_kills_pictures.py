"""A picture eval that is killed during its calls goes on: nothing kept is paid twice, and no picture is half a one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from tests import live
from tests.pictures.drawn import drawn
from tests.pictures.replies import gemini, inline
from tests.resilience.gate import Gate, asked_items, item_of
from tests.resilience.processes import Launcher
from tests.resilience.strikes import CONCURRENCY, Arena, Strike
from tests.resilience.test_http_kills import assert_calls_are_told, assert_each_strike_is_told, assert_money
from tests.servers import Asked, ModelServer, Reply

ITEMS = 6
MODEL = live.Model("google", "gemini-image", {"image": {"size": "1024x1024"}})
TOKENS = 1000  # at 100 USD per million tokens of output: 0.10 a call, which is the most that one may cost
NAMES = [live.item(number) for number in range(1, ITEMS + 1)]


def picture(item: str) -> bytes:
    """Return the one picture that the model draws of an item."""
    number = int(item.removeprefix("sum-"))
    return drawn(size=(20 + number, 30 + number))


class Painter(Gate):
    """A gate behind which every answer is a picture of its item."""

    def __call__(self, asked: Asked) -> Reply:
        reply = super().__call__(asked)
        usage = {"promptTokenCount": 10, "candidatesTokenCount": TOKENS, "totalTokenCount": TOKENS + 10}
        body = {**gemini([inline(picture(item_of(asked)))]), "usageMetadata": usage}
        return replace(reply, body=json.dumps(body).encode())


def project(target: Path, url: str) -> live.LiveProject:
    defaults = {"concurrency": CONCURRENCY, "timeout_seconds": 110, "parameters": {"max_tokens": TOKENS}}
    price = "{input: 0.0, output: 100.0}"
    made = live.make(target, url, [MODEL], backend="native", items=ITEMS, price=price, defaults=defaults)
    made.edit(live.EVAL / "eval.yml", "task: structured_text", "task: image_generation")
    made.edit(live.EVAL / "eval.yml", "exact_match", "decodable_image")
    return made


def test_a_killed_picture_eval_goes_on_with_what_it_kept(tmp_path: Path, launcher: Launcher) -> None:
    gate = Painter()
    with ModelServer(gate, models=(MODEL.name,)) as server:
        arena = Arena(project(tmp_path / "live", server.url), server, gate, launcher)
        arena.strike(Strike("all", "kill", 2, CONCURRENCY))
        kept = {path: path.read_bytes() for path in arena.project.eval.glob("runs/*/inspect/**/blobs/*")}
        arena.finish()
        asked = asked_items(server)
    # what was answered was asked once; what was in flight at the kill twice, and its first call is charged as lost
    assert sorted(asked) == NAMES
    assert sorted(asked.values()) == [1] * (ITEMS - CONCURRENCY) + [2] * CONCURRENCY
    assert_each_strike_is_told(arena)
    assert_money(arena)
    assert_calls_are_told(arena)
    assert sorted(kept.values()) == sorted(picture(item) for item in NAMES if _kept_at_once(arena, item))
    assert all(path.read_bytes() == content for path, content in kept.items())
    for item, result in arena.project.results().items():
        (artifact,) = result["artifacts"]  # type: ignore[misc]
        (path,) = arena.project.eval.glob(f"runs/*/items/{item}/{artifact['path']}")
        assert path.read_bytes() == picture(item)
        assert artifact["sha256"] == hashlib.sha256(picture(item)).hexdigest()
        assert (result["state"], result["outcome"]) == ("complete", {"status": "generated", "reason": None})
    assert sorted(arena.project.results()) == NAMES


def _kept_at_once(arena: Arena, item: str) -> bool:
    """Return whether the attempt that was killed had kept the answer to an item."""
    first = arena.project.attempts()[0]
    return item in first["finished"]  # type: ignore[operator]
