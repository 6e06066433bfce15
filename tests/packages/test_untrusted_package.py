"""An unpacked case executes nothing until its code was reviewed, and runs afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.cli.test_foreign_code import Planted, plant
from tests.packages.archives import package, payload_of
from tests.page.test_show import showing
from tests.projects import ShapesProject, fresh

CASE = Path("cases/shape-drawing")
MARKER = f"{CASE}/.untrusted-origin"
READING = {"lint": 0, "plan": 0, "plan --prompt terse": 0, "status": 0, "list": 0, "present shape-drawing": 0}
EXECUTING = ("run", "run replayed", "run --dry-run", "resume", "resume --again", "preflight")


@pytest.fixture
def unpacked(tmp_path: Path, call: Caller) -> ShapesProject:
    """A project that holds nothing but a case from a package: one run of one item is owed."""
    source = fresh(tmp_path / "source", items=("red-sun",))
    source.edit_eval("repetitions: 2", "repetitions: 1")
    source.edit_eval(
        "    arms: [terse, worked-example]\n  - provider: replay\n    model: sketcher-large\n"
        "    arms: [terse, worked-example]\n",
        "    arms: [terse]\n",
    )
    return _unpacked(source, tmp_path, call)


def _unpacked(source: ShapesProject, folder: Path, call: Caller) -> ShapesProject:
    archive = folder / "a.tamesu.tar.gz"
    archive.write_bytes(package(payload_of(source.path(CASE)), name="shape-drawing"))
    project = fresh(folder / "project")
    source.path(CASE).rename(folder / "case of the source")
    project.path(CASE).rename(folder / "own case")
    done = call(project, "unpack", str(archive))
    assert done.code == 0, done.err
    return project


def test_every_command_that_would_execute_it_refuses_until_the_marker_is_deleted(
    unpacked: ShapesProject, call: Caller
) -> None:
    for command in EXECUTING:
        line = one_line(call(unpacked, *command.split()), 2)
        assert line.startswith(f"{MARKER}: this case came from elsewhere (acme-shape-drawing-1.0.0.tamesu.tar.gz, ")
        assert line.endswith("then delete this file or give --trust-code")
    assert unpacked.calls() == []
    assert unpacked.run_ids() == set()
    unpacked.path(MARKER).unlink()
    done = call(unpacked, "run")
    assert done.code == 0, done.out + done.err
    assert len(unpacked.calls()) == 1


@pytest.fixture
def planted(tmp_path: Path, call: Caller) -> Planted:
    """An unpacked case with a canary wherever code could hide: tasks, modules, a Dockerfile, a Snakefile, settings."""
    planted = plant(tmp_path)
    project = _unpacked(planted.project, tmp_path, call)
    names = {path.name for path in project.path(CASE).rglob("*")}
    assert {"conftest.py", "sitecustomize.py", "Snakefile", "Dockerfile", "task.py", "compose.yaml"} <= names
    assert not names & {".env", ".git"}, "what is hidden enters no package"
    return Planted(project, planted.nest, (), ())


def test_what_reads_it_executes_nothing_of_it(planted: Planted, call: Caller) -> None:
    for command, code in READING.items():
        assert call(planted.project, *command.split()).code == code, command
        assert planted.fired() == set(), command
    with showing(planted.project) as shown:
        assert shown.ask("/shape-drawing/").status == 200
    for command in EXECUTING:
        assert call(planted.project, *command.split()).code == 2
    assert planted.fired() == set()


def test_a_hidden_file_is_no_way_in(tmp_path: Path, call: Caller) -> None:
    (tmp_path / "cases").mkdir()
    for name in (".env", "experiments/.git/config", "experiments/e/.envrc", ".snakemake/x"):
        (tmp_path / "a.tar.gz").write_bytes(package({"case.yml": b"name: a\n", name: b"X=1\n"}))
        one_line(call(tmp_path, "unpack", "a.tar.gz"), 1)
    assert list((tmp_path / "cases").iterdir()) == []


def test_what_is_told_of_it_reaches_the_terminal_as_text(
    unpacked: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions, names of models and prompts of a package clear no screen, set no title and turn no line around."""
    told = '"\\e[2J\\e]0;owned\\a\\u202eevil"'
    shown = "\\u001b[2J\\u001b]0;owned\\u0007\\u202eevil"
    case, manifest = unpacked.path(CASE / "case.yml"), unpacked.manifest
    case.write_text(f"name: shape-drawing\nquestion: {told}\n")
    lines = [line for line in manifest.read_text().splitlines() if not line.startswith("question:")]
    manifest.write_text("\n".join([*lines, f"question: {told}"]).replace("model: sketcher-small", f"model: {told}"))
    prompt = unpacked.path("cases/shape-drawing/experiments/prompt-wording/prompts/system.md")
    prompt.write_text("\x1b[2J\u202eevil\n" + prompt.read_text())
    seen = ""
    for command in ("list", "plan", "plan --prompt terse", "status", "lint", "models", "preflight", "run"):
        done = call(unpacked, *command.split())
        text = done.out + done.err
        assert all(line.isprintable() for line in text.splitlines()), command
        seen += text
    assert seen.count(shown) >= 3
