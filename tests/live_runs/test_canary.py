"""A key is in no file, whatever endpoints and tasks do with it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.live import LiveProject, Model, item, make, task_with
from tests.live_runs.attempt_lab import attempt, number
from tests.servers import Asked, ModelServer, Reply

NOSY = task_with("""
    import os
    import sys
    from inspect_ai.scorer import Score, accuracy, scorer

    @solver
    def own():
        async def solve(state, generate):
            state.metadata["environment"] = dict(os.environ)
            print(dict(os.environ))
            print(dict(os.environ), file=sys.stderr)
            return await generate(state)
        return solve

    @scorer(metrics=[accuracy()])
    def nosy():
        async def score(state, target):
            explanation = repr(dict(os.environ)) + repr(sys.argv)
            return Score(value=1.0 if "4" in state.output.completion else 0.0, explanation=explanation)
        return score
""").replace("scorer=includes()", "scorer=[includes(), nosy()]")
ROUTES = [
    Model("openai", "gpt-4o"),
    Model("openai", "gpt-5-mini"),
    Model("anthropic", "claude-sonnet-4-5"),
    Model("google", "gemini-2.5-flash"),
    Model("mistral", "mistral-large-latest"),
    Model("openai-api/local", "base"),
]


def files_below(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, the members of archives unpacked."""
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        yield str(path), path.read_bytes()
        if zipfile.is_zipfile(path):
            # Inspect's logs are compressed by a method that zipfile learns from it
            import zipfile_zstd  # noqa: F401

            with zipfile.ZipFile(path) as archive:
                yield from ((f"{path}!{name}", archive.read(name)) for name in archive.namelist())


def leaks(project: LiveProject, secrets: Sequence[str], *said: str) -> list[str]:
    """Return where any of the secrets stands: files below the project and what was printed."""
    found = [name for name, content in files_below(project.root) if any(s.encode() in content for s in secrets)]
    return found + [text[:200] for text in said if any(secret in text for secret in secrets)]


def echoing(secret: str, mended: Sequence[int] = ()) -> object:
    """An endpoint that says the key and whatever else it got in every way it can."""

    def answer(asked: Asked) -> Reply:
        told = f"{secret} {dict(asked.headers)}"
        error = f'{{"error": {{"message": "Incorrect API key: {told!r}", "type": "auth", "code": "401"}}}}'.encode()
        if number(asked) in mended:
            return Reply()
        return {
            1: Reply(status=401, body=error, headers={"x-request-id": secret}),
            2: Reply(status=500, body=f"<html>\n<b>{told}</b></html>".encode(), headers={"content-type": "text/html"}),
            3: Reply(body=f'{{"error": {{"message": "{secret}"}}}}'.encode()),
            4: Reply(text=f"your key is {secret}"),
            5: Reply(body=f'data: {{"x": "{secret}"}}\n\ndata: {secret}\n\n'.encode()),
        }[number(asked)]

    return answer


@pytest.mark.parametrize(
    "model",
    [ROUTES[0], *(pytest.param(model, marks=pytest.mark.long) for model in ROUTES[1:])],
    ids=lambda model: f"{model.provider}-{model.name}".replace("/", "-"),
)
def test_c52_no_key_in_any_file(tmp_path: Path, model: Model) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [model], items=5, task=NOSY)
        server._answer = echoing(project.key)  # type: ignore[assignment]
        first = attempt(project)
        assert first.error is None, first
        assert any(project.key in str(dict(asked.headers)) for asked in server.asked), "the canary was in use"
        assert leaks(project, [project.key], first.told) == []
        failed = {name for name, result in project.results().items() if result["state"] == "failed"}
        assert {item(1), item(2), item(3), item(5)} <= failed
        server._answer = echoing(project.key, mended=(1, 2, 3, 4, 5))  # type: ignore[assignment]
        second = attempt(project)
        assert second.error is None, second
    assert all(result["state"] == "complete" for result in project.results().values())
    assert leaks(project, [project.key], second.told) == []


def test_c52_a_password_in_the_base_url_opens_and_stays_out(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [Model("vllm", "base")], items=2, task=NOSY)
        password = f"{project.key}-2"
        url = server.url.replace("//", f"//user:{password}@") + "/v1"
        server._answer = lambda asked: Reply(status=500, body=f"{password} {dict(asked.headers)}".encode())
        worked = attempt(project, {"VLLM_BASE_URL": url})
        assert worked.error is None
        assert [r.headers["authorization"].partition(" ")[0] for r in server.calls] == ["Basic", "Basic"]
        header = server.calls[0].headers["authorization"].partition(" ")[2]
    assert leaks(project, [password, project.key, header], worked.told) == []


@pytest.mark.parametrize("bad", ["\n", " ", "\u00e9"], ids=["line break", "blank", "letter"])
def test_c52_a_key_that_no_header_can_carry_is_refused_unquoted(tmp_path: Path, bad: str) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [Model("openai", "gpt-4o")], items=1)
        key = f"{project.key}{bad}tail-of-the-key"
        worked = attempt(project, {"OPENAI_API_KEY": key})
        assert server.calls == []
    assert worked.error is not None and "OPENAI_API_KEY" in worked.error and "set it again" in worked.error
    assert leaks(project, [project.key, "tail-of-the-key"], worked.told, worked.error) == []


@pytest.mark.long
def test_c52_a_whole_run_with_the_key_in_env_file_and_config_dir(tmp_path: Path) -> None:
    with ModelServer() as server:
        project = make(tmp_path / "p", server.url, [Model("openai", "gpt-4o")], items=5, task=NOSY)
        secret = project.key
        server._answer = echoing(secret)  # type: ignore[assignment]
        config = tmp_path / "config"
        config.mkdir()
        (config / ".env").write_text(f"OPENAI_API_KEY={secret}\nOPENAI_BASE_URL={server.url}/v1\n")
        bare = LiveProject(project.root, {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, secret)
        done = bare.live("run", env={"TAMESU_CONFIG_DIR": str(config)})
        assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {secret}"}, done.err
        assert leaks(project, [secret], done.out, done.err) == []
        (config / ".env").rename(project.root / ".env")
        server._answer = echoing(secret, mended=(1, 2, 3, 4, 5))  # type: ignore[assignment]
        resumed = bare.live("resume")
        assert resumed.code in {0, 1}, resumed.err
    assert all(result["state"] == "complete" for result in project.results().values()), resumed.err
    found = leaks(project, [secret], resumed.out, resumed.err)
    assert found == [str(project.root / ".env")]
