"""Secrets in whatever a project commits: told at their place, by the rule secret/in-manifest, and never printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import COMPOSE, MANIFEST, PINNED, SYSTEM, TASK, findings, source, swap, write
from tests.projects import EXPERIMENT, ShapesProject
from tests.unit.test_secrets import CANARIES

KEY = CANARIES["anthropic"]
SCRIPT = EXPERIMENT / "inspect/setup.sh"
PARAMETERS = "parameters: {max_tokens: 800, "

PLACES = {
    "prompt": (SYSTEM, (write(SYSTEM, f"Draw.\nKey: {KEY}\n"),)),
    "task": (TASK, (swap("@task\n", f'KEY = "{KEY}"\n\n\n@task\n', TASK),)),
    "source": (SCRIPT, source(SCRIPT, f"export KEY={KEY}\n")),
    "compose": (
        COMPOSE,
        source(COMPOSE, f"services: {{default: {{image: '{PINNED}', environment: {{A: {KEY}}}}}}}\n"),
    ),
    "header": (MANIFEST, (swap(PARAMETERS, f"{PARAMETERS}extra_headers: {{Authorization: Bearer {KEY}}}, "),)),
    "argument": (MANIFEST, (swap("  limits: {", "  task_args: {auth_token: correcthorse}\n  limits: {"),)),
    "quoted-path": (MANIFEST, (swap("../../prompts/system.md", KEY),)),
    "quoted-status": (MANIFEST, (swap("status: active", f"status: {KEY}"),)),
    "quoted-name": (MANIFEST, (swap("status: active", f"{KEY}: active"),)),
    "not-yaml": (MANIFEST, (swap("status: active", f"{KEY}: active\n{KEY}: active"),)),
    "quoted-password": (MANIFEST, (swap("status: active", "status: active\napi_key: correcthorse"),)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_secret_is_told_and_not_repeated(place: str, form: str, shapes: ShapesProject, call: Caller) -> None:
    file, edits = PLACES[place]
    for edit in edits:
        edit(shapes)
    done = call(shapes, "lint", "--format", form)
    assert (done.code, done.err) == (1, "")
    assert KEY[:30] not in done.out
    assert "correcthorse" not in done.out
    if form == "text":
        told = [one for one in findings(done.out) if one.rule == "secret/in-manifest"]
        lines = shapes.path(file).read_text().splitlines()
        assert {one.file for one in told} == {file.as_posix()}
        assert all(KEY in lines[one.line - 1] or "correcthorse" in lines[one.line - 1] for one in told)


def test_a_plan_does_not_repeat_it_either(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("../../prompts/system.md", KEY)
    done = call(shapes, "plan")
    assert done.code != 0
    assert KEY[:30] not in done.out + done.err


def test_files_without_secrets_do_not_load_the_patterns(shapes: ShapesProject) -> None:
    """Loading them takes as long as the rest of lint."""
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from tamesu.edge.store.paths import Project\nfrom tamesu.stages.lint import lint_project\n"
        "print(lint_project(Project(Path.cwd())).errors, 'detect_secrets' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(shapes.root), capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 False\n"
