"""Manifests of the specification and of the original read unchanged in a real project: no errors, a plan, no run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.calling import Caller, one_line
from tests.cli.lint_cases import findings
from tests.corpus import FOLDER

NAMES = (
    "specification-of-section-2",
    "execution-backends",
    "original-structured-text",
    "original-image-generation",
    "original-on-bedrock",
)
EVAL = Path("cases/a-case/experiments/an-experiment/evals")
WARNINGS = {"support/missing", "price/unknown", "parameter/no-bound", "judge/no-price", "acceptance/ignores-judge"}
RUBRIC = "name: looks\ndimensions:\n  - {id: visible, question: Is it visible?, reason_codes: [missing]}\n"
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}, "due_date": {"type": "string"}}}
CONTENT = {
    "dataset.yml": "name: things\nitems:\n" + "".join(f"  - {{id: item-{n}, input: x}}\n" for n in range(20)),
    "compose.yaml": f"services:\n  default:\n    image: tool@sha256:{'a' * 64}\n",
    ".json": json.dumps(SCHEMA),
    ".py": "@task\ndef rendering_engine(dataset): ...\n",
    ".yml": RUBRIC,
    ".md": "Look closely.\n",
    ".j2": "{{ item.input }}\n",
    ".png": "picture",
}


def paths_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from paths_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from paths_in(part)
    elif isinstance(value, str) and value.startswith("../"):
        yield value


@pytest.fixture(params=NAMES)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project with the manifest as it is, and a small file in each place that it names."""
    text = (FOLDER / "valid" / f"eval--{request.param}.yml").read_text(encoding="utf-8")
    value = yaml.safe_load(text)
    folder = tmp_path / EVAL / value.get("name", "unnamed")
    folder.mkdir(parents=True)
    (folder / "eval.yml").write_text(text)
    (tmp_path / "cases" / "a-case" / "case.yml").write_text("name: a case\n")
    for path in paths_in(value):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(CONTENT.get(target.name) or CONTENT[target.suffix])
    return tmp_path


def test_lint_finds_no_error(project: Path, call: Caller) -> None:
    done = call(project, "lint")
    assert (done.code, done.err) == (0, "")
    *lines, summary = done.out.splitlines()
    found = findings("\n".join(lines))
    assert {(one.severity, one.rule) for one in found} <= {("warning", rule) for rule in WARNINGS}
    assert re.match(r"1 eval\(s\): no errors", summary)


def test_plan_shows_the_matrix_and_what_is_missing(project: Path, call: Caller) -> None:
    (view,) = json.loads(call(project, "plan", "--json").out)
    assert view["matrix"]["runs"] == len(view["runs"]) > 0
    assert all(run["state"] == "owed" and run["pending"] == run["planned"] > 0 for run in view["runs"])
    unbounded = any(run["exposure_usd"] is None for run in view["runs"])
    assert unbounded == (view["exposure_usd"] is None) == ("price" in {one["kind"] for one in view["blockers"]})
    kinds = {blocker["kind"] for blocker in view["blockers"]}
    text = next((project / EVAL).glob("*/eval.yml")).read_text()
    assert "credentials" in kinds
    assert ("support" in kinds) == ("task: image_generation" in text or "references:" in text)
    done = call(project, "plan")
    assert (done.code, done.err) == (0, "")
    assert "first item of arm " in done.out
    assert ("exposure not known, spent 0.0000" in done.out) == unbounded


def test_run_refuses_and_writes_nothing(project: Path, call: Caller) -> None:
    (name,) = [path.name for path in (project / EVAL).iterdir()]
    one_line(call(project, "run", name), 2)
    assert [path.name for path in (project / EVAL / name).iterdir()] == ["eval.yml"]
