"""Scorers stage only into their own sample's area, and never see half a file in it."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tamesu import inspect_support
from tamesu.inspect_support import bound_staging, first_choice, stager, stop_reason, stopped_on_length


def manifest(root: Path, sample: str = "one") -> list[dict[str, str]]:
    return [json.loads(line) for line in (root / sample / "manifest.jsonl").read_bytes().splitlines()]


def blobs(root: Path, sample: str = "one") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((root / sample / "blobs").iterdir())}


def test_entries_and_blobs_are_written_under_numbered_names(tmp_path):
    with bound_staging(tmp_path, "one"):
        stage = stager("one")
        stage.add("source", "../source/main.c", "int é;", "text/x-c")
        stage.add("render", "render.png", b"\x89PNG", "image/png")
    assert manifest(tmp_path) == [
        {"role": "source", "path": "../source/main.c", "media_type": "text/x-c", "blob": "blobs/0001"},
        {"role": "render", "path": "render.png", "media_type": "image/png", "blob": "blobs/0002"},
    ]
    assert blobs(tmp_path) == {"0001": "int é;".encode(), "0002": b"\x89PNG"}


def test_a_repeated_path_is_recorded_twice(tmp_path):
    with bound_staging(tmp_path, "one"):
        for body in ("a", "b"):
            stager("one").add("log", "log.txt", body, "text/plain")
    assert [entry["blob"] for entry in manifest(tmp_path)] == ["blobs/0001", "blobs/0002"]


def test_numbers_go_on_after_an_earlier_call_and_after_a_reserved_number(tmp_path):
    with bound_staging(tmp_path, "one"):
        stager("one").add("log", "a", "a", "text/plain")
    (tmp_path / "one" / "blobs" / "0002").touch()
    with bound_staging(tmp_path, "one"):
        stager("one").add("log", "b", "b", "text/plain")
    assert [entry["blob"] for entry in manifest(tmp_path)] == ["blobs/0001", "blobs/0003"]


def test_unbound_use_raises_in_one_line():
    with pytest.raises(RuntimeError, match="no staging area is bound for sample 'one'") as caught:
        stager("one")
    assert "\n" not in str(caught.value)


def test_the_id_of_another_sample_raises(tmp_path):
    with (
        bound_staging(tmp_path, "one"),
        pytest.raises(RuntimeError, match="'one' is being scored, not 'two'"),
    ):
        stager("two")


def test_a_numeric_id_is_its_text(tmp_path):
    with bound_staging(tmp_path, 7):
        stager("7").add("log", "a", "a", "text/plain")
        stager(7).add("log", "b", "b", "text/plain")
    assert len(manifest(tmp_path, "7")) == 2


def test_a_stager_kept_for_the_next_sample_or_run_raises(tmp_path):
    with bound_staging(tmp_path / "a", "one"):
        kept = stager("one")
    with pytest.raises(RuntimeError):
        kept.add("log", "a", "a", "text/plain")
    with bound_staging(tmp_path / "a", "two"), pytest.raises(RuntimeError):
        kept.add("log", "a", "a", "text/plain")
    with bound_staging(tmp_path / "b", "one"), pytest.raises(RuntimeError, match="another run"):
        kept.add("log", "a", "a", "text/plain")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sample", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_an_id_that_is_no_folder_name_cannot_be_bound(tmp_path, sample):
    with pytest.raises(ValueError, match="cannot name a folder"), bound_staging(tmp_path, sample):
        pass


@pytest.mark.parametrize(
    "arguments",
    [(1, "p", "b", "t/t"), ("r", None, "b", "t/t"), ("r", "p", 5, "t/t"), ("r", "p", "b", b"t/t")],
)
def test_wrong_types_raise_and_stage_nothing(tmp_path, arguments):
    with bound_staging(tmp_path, "one"), pytest.raises(TypeError, match=r"^stage\.add: "):
        stager("one").add(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_lone_surrogates_of_a_model_do_not_stop_a_scorer(tmp_path):
    with bound_staging(tmp_path, "one"):
        stager("one").add("log", "a\ud800\n", "x\udc00", "text/plain")
    assert manifest(tmp_path)[0]["path"] == "a\ud800\n"
    assert blobs(tmp_path)["0001"] == b"x\\udc00"


def test_a_line_cut_by_a_crash_does_not_swallow_the_next(tmp_path):
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "manifest.jsonl").write_bytes(b'{"role": "lo')
    with bound_staging(tmp_path, "one"):
        stager("one").add("log", "a", "a", "text/plain")
    torn, whole = (folder / "manifest.jsonl").read_bytes().splitlines()
    assert (torn, json.loads(whole)["path"]) == (b'{"role": "lo', "a")


def test_a_failed_write_leaves_no_manifest_line(tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with bound_staging(tmp_path, "one"), pytest.raises(OSError, match="No space"):
        stager("one").add("log", "a", "a", "text/plain")
    assert not (tmp_path / "one" / "manifest.jsonl").exists()


def test_equal_samples_of_two_runs_scored_together_stay_apart(tmp_path):
    async def score(run: str) -> None:
        with bound_staging(tmp_path / run, "one"):
            for number in range(10):
                stage = stager("one")
                await asyncio.sleep(0)
                stage.add("log", f"{number}", run, "text/plain")

    async def both() -> None:
        await asyncio.gather(score("a"), score("b"))

    asyncio.run(both())
    for run in ("a", "b"):
        assert [str(number) for number in range(10)] == [entry["path"] for entry in manifest(tmp_path / run)]
        assert {run.encode()} == set(blobs(tmp_path / run).values())


def test_threads_of_one_sample_lose_nothing(tmp_path):
    def work(name: str) -> None:
        with bound_staging(tmp_path, "one"):
            for number in range(25):
                stager("one").add("log", f"{name}{number}", f"{name}{number}", "text/plain")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries, content = manifest(tmp_path), blobs(tmp_path)
    assert len(entries) == len(content) == 100
    assert all(content[entry["blob"].removeprefix("blobs/")].decode() == entry["path"] for entry in entries)


class EmptyOutput:
    """Like Inspect's ModelOutput after an error: its properties index into an empty list."""

    choices: tuple[object, ...] = ()

    @property
    def stop_reason(self) -> str:
        return self.choices[0].stop_reason


@pytest.mark.parametrize(
    "state", [None, SimpleNamespace(), SimpleNamespace(output=None), SimpleNamespace(output=EmptyOutput())]
)
def test_reads_of_an_output_without_choices_return_nothing(state):
    assert (first_choice(state), stop_reason(state), stopped_on_length(state)) == (None, None, False)


@pytest.mark.parametrize(
    ("reason", "cut"), [("max_tokens", True), ("model_length", True), ("stop", False), (None, False)]
)
def test_reads_of_an_output_with_a_choice(reason, cut):
    choice = SimpleNamespace(stop_reason=reason)
    state = SimpleNamespace(output=SimpleNamespace(choices=[choice, SimpleNamespace(stop_reason="x")]))
    assert (choice, reason, cut) == (first_choice(state), stop_reason(state), stopped_on_length(state))


def test_only_the_standard_library_is_imported():
    tree = ast.parse(Path(inspect_support.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
