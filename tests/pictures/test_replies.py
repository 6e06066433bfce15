"""Pictures over the real clients of Google and OpenAI: what a reply becomes, whichever way it fails."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import live
from tests.ingest.lab import in_process
from tests.pictures.drawn import BROKEN, drawn
from tests.pictures.replies import GOOGLE, OPENAI, HttpReply, sent_pictures
from tests.servers import ModelServer

Ended = Mapping[str, Any]
MODELS = {"google": "gemini-image", "openai": "gpt-5"}
IMAGES: Mapping[str, Mapping[str, Any]] = {
    "google": {"size": "1536x1024", "image_size": "2K", "output_format": "png", "count": 1},
    "openai": {"size": "1024x1024", "quality": "low", "output_format": "webp", "count": 1},
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "google": {"generationConfig": {"seed": 3}},
    "openai": {"metadata": {"team": "a"}},
}


def told(root: str, variables: dict[str, str], names: list[str]) -> dict[str, Ended]:
    """Ask once for each reply over one caller, and return what a picture task makes of it, by name."""
    import asyncio
    import os

    from tamesu.edge.backends.chosen import backend
    from tamesu.edge.backends.outputs import answered, outputs_of
    from tamesu.edge.documents.eval_reader import read_eval
    from tamesu.edge.providers.calls import ImagePart, TextPart, Turn
    from tamesu.edge.providers.opening import open_caller
    from tamesu.edge.store.paths import Project
    from tamesu.stages.access import read_accesses

    os.environ.update(variables)
    os.chdir(root)
    project = Project(Path(root))
    read = read_eval(project, project.refs()[0])
    assert read.matrix is not None, read.findings
    spec = replace(read.matrix.runs[0], retries=0)
    access = read_accesses(project, [spec])[spec.provider]
    backend("native").isolate(project.state / "asking")
    caller = open_caller(spec, access, project.state / "wire.jsonl", 1, None)
    parts = (TextPart("a mug"), ImagePart("image/png", drawn(size=(9, 9))))

    async def ask_all() -> dict[str, Ended]:
        found = {}
        for name in names:
            raw = await caller.call(name, [Turn("user", parts)])
            called = answered(spec.task, raw)
            found[name] = {
                "files": {
                    output.path: (output.role, output.media_type, output.content)
                    for output in outputs_of(spec.task, called)
                },
                "stop": called.stop_reason,
                "fault": None if called.fault is None else called.fault.type,
                "usage": None if called.usage is None else (called.usage.input, called.usage.output),
                "usage_problem": called.usage_problem,
                "drift": list(raw.drift),
            }
        return found

    return asyncio.run(ask_all())


def ask(folder: Path, provider: str, replies: Mapping[str, HttpReply]) -> tuple[dict[str, Ended], ModelServer, str]:
    """Return what became of each reply, the server, and the wire log."""
    waiting = list(replies.values())
    with ModelServer(instead=lambda _: waiting.pop(0)) as server:
        parameters = {"image": IMAGES[provider], "provider_options": OPTIONS[provider]}
        model = live.Model(provider, MODELS[provider], parameters)
        project = live.make(folder / "p", server.url, [model], items=1, backend="native")
        manifest = live.EVAL / "eval.yml"
        project.edit(manifest, "task: structured_text", "task: image_generation")
        project.edit(manifest, "exact_match", "decodable_image")
        found = in_process(told, str(project.root), dict(project.env), list(replies))
    return found, server, (project.root / ".tamesu/wire.jsonl").read_text()


@pytest.fixture(scope="module")
def google(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Ended], ModelServer, str]:
    return ask(tmp_path_factory.mktemp("google"), "google", GOOGLE)


@pytest.fixture(scope="module")
def openai(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Ended], ModelServer, str]:
    return ask(tmp_path_factory.mktemp("openai"), "openai", OPENAI)


def test_google_asks_for_pictures_and_nothing_drifts(google: tuple[dict[str, Ended], ModelServer, str]) -> None:
    found, server, wire = google
    config = server.requests[-1].body["generationConfig"]
    assert config["responseModalities"] == ["TEXT", "IMAGE"]
    assert config["imageConfig"] == {"aspectRatio": "3:2", "imageSize": "2K"}
    assert config["seed"] == 3
    assert [ended["drift"] for ended in found.values()] == [[]] * len(GOOGLE)
    assert '"generationConfig.imageConfig.aspectRatio":"3:2"' in wire


def test_openai_asks_for_pictures_by_its_tool_and_nothing_drifts(
    openai: tuple[dict[str, Ended], ModelServer, str],
) -> None:
    found, server, _ = openai
    body = server.requests[-1].body
    tool = {"type": "image_generation", "size": "1024x1024", "quality": "low", "output_format": "webp"}
    assert (body["tools"], body["metadata"]) == ([tool], {"team": "a"})
    assert [ended["drift"] for ended in found.values()] == [[]] * len(OPENAI)


def test_pictures_are_sent_and_stand_in_no_wire_log(
    google: tuple[dict[str, Ended], ModelServer, str], openai: tuple[dict[str, Ended], ModelServer, str]
) -> None:
    picture = base64.b64encode(drawn(size=(9, 9))).decode()
    for _, server, wire in (google, openai):
        assert sent_pictures(server.requests[-1]) == [picture]
        assert picture[:40] not in wire
        assert max(len(line) for line in wire.splitlines()) < 2000


def test_what_google_returns(google: tuple[dict[str, Ended], ModelServer, str]) -> None:
    found = google[0]
    files = {name: ended["files"] for name, ended in found.items()}
    assert files["picture"] == {
        "output-0001.jpg": ("output", "image/jpeg", drawn("JPEG")),
        "words.txt": ("words", "text/plain", b"Here."),
    }
    assert files["two"] == {
        "output-0001.png": ("output", "image/png", drawn()),
        "output-0002.gif": ("further", "image/gif", drawn("GIF")),
    }
    assert files["interim"] == {
        "output-0001.png": ("output", "image/png", drawn()),
        "output-0002.webp": ("further", "image/webp", drawn("WEBP")),
    }
    assert [role for role, _, _ in files["only interim"].values()] == ["further"]
    assert files["broken"] == {"invalid-0001.bin": ("output", "application/octet-stream", BROKEN)}
    assert files["safety"] == files["no image"] == {}
    stops = {name: ended["stop"] for name, ended in found.items()}
    assert (stops["safety"], stops["blocked"], stops["no image"]) == ("content_filter", "content_filter", "unknown")
    assert {ended["fault"] for ended in found.values()} == {None}


def test_what_openai_returns(openai: tuple[dict[str, Ended], ModelServer, str]) -> None:
    found = openai[0]
    files = {name: ended["files"] for name, ended in found.items()}
    assert files["picture"] == {
        "output-0001.webp": ("output", "image/webp", drawn("WEBP")),
        "words.txt": ("words", "text/plain", b"done"),
    }
    stored = {name: next(iter(files[name].values())) for name in ("no base64", "url")}
    assert stored["no base64"][2].endswith(b"no picture at all")
    assert {one[:2] for one in stored.values()} == {("output", "application/octet-stream")}
    assert list(files["failed"]) == list(files["words"]) == ["words.txt"]
    assert files["refusal"] == {"words.txt": ("words", "text/plain", b"I will not.")}
    filtered = {name for name, ended in found.items() if ended["stop"] == "content_filter"}
    assert filtered == {"refusal", "moderation", "policy"}
    faults = {name: ended["fault"] for name, ended in found.items() if ended["fault"] is not None}
    assert faults == {"wrong size": "ProviderRefused"}


def test_the_tokens_of_the_tool_are_counted_and_a_refusal_by_error_is_free(
    openai: tuple[dict[str, Ended], ModelServer, str],
) -> None:
    found = openai[0]
    assert found["picture"]["usage"] == (20 + 15, 30 + 4160)
    assert (found["words"]["usage"], found["moderation"]["usage"], found["policy"]["usage"]) == (
        (20, 30),
        (0, 0),
        (0, 0),
    )
    assert found["unstated"]["usage"] is None
    assert found["unstated"]["usage_problem"].startswith("the reply does not say how many tokens the tool used")
