"""The same replies of Google and OpenAI on both backends: one meaning, one price, whichever way a picture fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import live
from tests.live import EVAL, LiveProject
from tests.live_runs.attempt_lab import attempt
from tests.pictures.drawn import drawn
from tests.pictures.replies import GOOGLE, OPENAI, HttpReply, sent_pictures
from tests.pictures.test_replies import IMAGES, MODELS
from tests.servers import ModelServer

DATASET = "cases/arithmetic/datasets/sums/dataset.yml"
REPLIES = {"google": GOOGLE, "openai": OPENAI}
Results = Mapping[str, Mapping[str, Any]]


def picture_eval(target: Path, url: str, provider: str, backend: str, items: int) -> LiveProject:
    """Return an eval of so many pictures, whose first item sends a picture along."""
    model = live.Model(provider, MODELS[provider], {"image": IMAGES[provider]})
    project = live.make(target, url, [model], backend="native", items=items, defaults={"concurrency": 1})
    for old, new in (
        ("structured_text", "image_generation"),
        ("exact_match", "decodable_image"),
        ("backend: native", f"backend: {backend}"),
    ):
        project.edit(EVAL / "eval.yml", old, new)
    project.path(DATASET).with_name("mug.png").write_bytes(drawn(size=(9, 9)))
    project.edit(DATASET, "{id: sum-0001,", "{id: sum-0001, assets: [mug.png],")
    return project


def ended(target: Path, provider: str, backend: str) -> tuple[dict[str, Mapping[str, Any]], LiveProject]:
    """Return result.yml by the name of each reply, after one attempt."""
    names, waiting = list(REPLIES[provider]), list[HttpReply](REPLIES[provider].values())
    nothing: HttpReply = (404, {}, b"")  # for who looks at the engine meanwhile
    with ModelServer(instead=lambda received: nothing if received.body is None else waiting.pop(0)) as server:
        project = picture_eval(target, server.url, provider, backend, len(names))
        worked = attempt(project, checked=False)
        assert worked.error is None, worked
        sent = [len(sent_pictures(received)) for received in server.requests if received.body is not None]
    assert sent == [1] + [0] * (len(names) - 1)
    results = project.results()
    return {name: results[live.item(number)] for number, name in enumerate(names, 1)}, project


def told(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a result says less its run, its clock, and what its backend calls an error."""
    own = {"run_id", "latency_ms", "error"}
    return {name: value for name, value in result.items() if name not in own}


@pytest.mark.parametrize("provider", REPLIES)
def test_replies_mean_and_cost_the_same(tmp_path: Path, provider: str) -> None:
    (native, one), (inspect, other) = (ended(tmp_path / name, provider, name) for name in ("native", "inspect"))
    assert {name: told(result) for name, result in inspect.items()} == {
        name: told(result) for name, result in native.items()
    }
    assert one.spent() == other.spent() > 0
    (differences,) = {str(record["wire"]["differences"]) for record in (*one.attempts(), *other.attempts())}
    assert differences == "[]"


def test_a_price_that_nobody_knows_and_a_person_accepted_takes_a_reply_that_does_not_tell_its_tokens(
    tmp_path: Path,
) -> None:
    unstated = OPENAI["unstated"]
    with ModelServer(models=(MODELS["openai"],), instead=lambda _: unstated) as server:
        project = picture_eval(tmp_path / "p", server.url, "openai", "native", 1)
        priced = attempt(project, checked=False)
        assert priced.error is None, priced
        (refused,) = project.results().values()
        project.path("config/models.yml").write_text("models: []\n")
        again = project.live("resume", "live", "--again", "--accept-unknown-price")
        assert again.code == 0, again.out + again.err
        (taken,) = project.results().values()
    assert (refused["state"], refused["retryable"], refused["error"]["type"]) == ("failed", False, "ImpossibleUsage")
    assert "`tamesu resume --again` asks once more" in refused["error"]["message"]
    assert "give --accept-unknown-price to take such replies" in refused["error"]["message"]
    assert (taken["state"], taken["cost_usd"], taken["usage"], taken["error"]) == ("complete", None, None, None)
    assert taken["outcome"]["status"] == "generated"
