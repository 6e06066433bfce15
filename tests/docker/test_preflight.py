"""Preflight where a real Docker engine stands behind the task: compose renders, images are here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import projects
from tests.docker.test_sandbox import make_project

pytestmark = pytest.mark.docker
COMPOSE = Path("cases/programs/experiments/plain/inspect/compose.yaml")


def checks(project: projects.ShapesProject) -> tuple[int, dict[str, tuple[str, str]]]:
    """Return the exit code of preflight, and state and figure of each line."""
    done = project.tamesu("preflight", "--json")
    assert "Traceback" not in done.err
    (evaluation,) = json.loads(done.out)
    (run,) = evaluation["runs"]
    return done.code, {check["name"]: (check["state"], check["figure"]) for check in run["checks"]}


def test_a_pinned_image_that_is_here(tmp_path: Path, image: str) -> None:
    project = make_project(tmp_path / "programs", image)
    code, told = checks(project)
    assert code == 0, told
    assert told["compose"] == ("pass", "1 file rendered")
    assert told["images"] == ("pass", "1 image here, verified")
    assert told["import"][0] == "pass"


def test_a_compose_file_that_docker_refuses(tmp_path: Path, image: str) -> None:
    project = make_project(tmp_path / "programs", image)
    project.edit(COMPOSE, "network_mode: none", "network_mode: none\n    networks: [inner]")
    code, told = checks(project)
    assert code == 1
    assert told["compose"][0] == "fail"
    assert "compose.yaml" in told["compose"][1]


def test_a_pinned_image_that_is_not_here(tmp_path: Path, image: str) -> None:
    absent = image.partition("@")[0] + "@sha256:" + "a" * 64
    project = make_project(tmp_path / "programs", absent)
    code, told = checks(project)
    assert (code, told["images"]) == (0, ("unknown", f"0 of 1 here; not here: {absent}"))
