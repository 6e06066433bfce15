"""docs/live-runs.md does what it says: its commands against a server that answers, its files, its configuration."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.live import Model, make
from tests.projects import ROOT, ShapesProject
from tests.servers import ModelServer

PAGE = (ROOT / "docs/live-runs.md").read_text()
CONFIG = Path("config/config.yaml")


def blocks() -> list[str]:
    """Return the indented blocks of the page."""
    return re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)


def commands() -> list[list[str]]:
    """Return the arguments of every `tamesu` command of the first block, in order."""
    lines = [line.partition("#")[0] for line in blocks()[0].splitlines()]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("tamesu ")]


@pytest.mark.long
def test_the_commands_and_the_files_of_the_page(tmp_path: Path) -> None:
    with ModelServer(models=("gpt-4o",)) as server:
        project = make(tmp_path / "p", server.url, [Model("openai", "gpt-4o")])
        asking = [words for words in commands() if words[0] != "new"]
        assert [words[0] for words in asking] == ["lint", "plan", "preflight", "run", "run", "run"]
        for words in asking:
            done = project.live(*("gpt-4o" if word == "MODEL" else word for word in words))
            assert done.code == 0, f"tamesu {words}\n{done.out}{done.err}"
        assert len(server.asked) == 3
    (run,) = project.eval.glob("runs/*")
    for named in re.findall(r"^\| `([^`]+)`", PAGE.partition("## The call log")[0], re.MULTILINE):
        place = named.replace("<run>", run.name).replace("<nn>", "01")
        assert (project.eval / place).is_file(), named


def test_the_configuration_of_the_page_is_accepted(tmp_path: Path) -> None:
    (stated,) = [block for block in blocks() if "endpoints:" in block]
    project = make(tmp_path / "p", "http://127.0.0.1:9", [Model("openai", "gpt-4o")])
    text = (project.root / CONFIG).read_text() + "".join(line[4:] for line in stated.splitlines(keepends=True))
    (project.root / CONFIG).write_text(text)
    assert [one["provider"] for one in yaml.safe_load(text)["endpoints"]] == ["openai", "vllm"]
    done = project.live("lint")
    assert done.code == 0, done.out + done.err


def test_the_command_of_the_page_that_makes_an_eval(tmp_path: Path) -> None:
    project = ShapesProject(tmp_path)
    for step in (("case", "sums"), ("experiment", "adding")):
        assert project.tamesu("new", *step).code == 0
    (words,) = [words for words in commands() if words[0] == "new"]
    named = {"EXPERIMENT/NAME": "adding/live", "MODEL": "gpt-4o"}
    done = project.tamesu(*(named.get(word, word) for word in words))
    assert done.code == 0, done.out + done.err
    assert project.tamesu("activate", "live").code == 0
    manifest = (tmp_path / "cases/sums/experiments/adding/evals/live/eval.yml").read_text()
    assert "openai" in manifest and "gpt-4o" in manifest
