"""`tamesu lint`: what a path covers, warnings, and the forms for CI."""

from __future__ import annotations

import json
import shutil

import pytest

from tamesu import __version__
from tamesu.core.lint.catalogue import find_rule
from tamesu.edge.store.locks import held
from tests.cli.calling import Caller, one_line
from tests.cli.lint_cases import (
    CASE,
    CONFIG,
    DATASET_LINE,
    MANIFEST,
    RUBRIC,
    SYSTEM,
    TASK,
    findings,
    swap,
    write,
)
from tests.projects import DATASET, EXPERIMENT, ShapesProject

LONE_DATASET = DATASET.parent.parent / "unused-v1" / "dataset.yml"


@pytest.fixture
def two(shapes: ShapesProject) -> ShapesProject:
    """Two evals; the second one's name is not its folder's, and a dataset that nobody uses has no items."""
    shutil.copytree(shapes.eval, shapes.eval.parent / "second")
    write(LONE_DATASET, "name: unused\nitems: []\n")(shapes)
    return shapes


def rules_of(project: ShapesProject, call: Caller, *arguments: str) -> list[str]:
    return sorted(one.rule for one in findings(call(project, "lint", *arguments).out) if one.rule)


class TestScope:
    @pytest.mark.parametrize("path", [(), (".",)])
    def test_the_whole_project(self, path: tuple[str, ...], two: ShapesProject, call: Caller) -> None:
        assert rules_of(two, call, *path) == ["name/folder", "schema/minItems"]

    @pytest.mark.parametrize("path", ["second", "prompt-wording/second", f"{EXPERIMENT}/evals/second"])
    def test_one_eval_by_name_or_folder(self, path: str, two: ShapesProject, call: Caller) -> None:
        assert rules_of(two, call, path) == ["name/folder"]

    def test_one_manifest(self, two: ShapesProject, call: Caller) -> None:
        assert rules_of(two, call, str(LONE_DATASET)) == ["schema/minItems"]
        assert call(two, "lint", str(MANIFEST)).out == "1 eval(s): no errors\n"
        assert call(two, "lint", str(RUBRIC)).out == "0 eval(s): no errors\n"

    def test_a_folder_covers_what_lies_below(self, two: ShapesProject, call: Caller) -> None:
        assert rules_of(two, call, str(EXPERIMENT)) == ["name/folder"]
        assert rules_of(two, call, str(DATASET.parent.parent)) == ["schema/minItems"]

    @pytest.mark.parametrize("path", [SYSTEM, TASK])
    def test_a_file_that_evals_read_stands_for_them(self, path: str, two: ShapesProject, call: Caller) -> None:
        assert rules_of(two, call, str(path)) == ["name/folder"]

    def test_a_file_that_nobody_reads_is_misuse(self, two: ShapesProject, call: Caller) -> None:
        two.path("notes.txt").write_text("x")
        line = one_line(call(two, "lint", "notes.txt"), 2)
        assert line == "notes.txt: no manifest, and no eval reads it; name an eval, a file or a folder"

    def test_a_name_that_nothing_has(self, two: ShapesProject, call: Caller) -> None:
        assert one_line(call(two, "lint", "secnd"), 2) == "no eval named 'secnd'; did you mean second?"

    def test_a_case_without_evals_is_checked(self, shapes: ShapesProject, call: Caller) -> None:
        write("cases/empty/case.yml", "title: nothing\n")(shapes)
        found = findings(call(shapes, "lint").out)
        assert {(one.file, one.rule) for one in found} == {
            ("cases/empty/case.yml", "schema/additionalProperties"),
            ("cases/empty/case.yml", "schema/required"),
        }

    def test_a_finding_about_what_evals_share_is_told_once(self, two: ShapesProject, call: Caller) -> None:
        swap("items:\n", "owner: me\nitems:\n", DATASET)(two)
        swap("name:", "title:", CASE)(two)
        write(CONFIG, "inspect_version: 3\n")(two)
        found = findings(call(two, "lint").out)
        assert len(found) == len({(one.file, one.line, one.rule) for one in found})
        assert {one.file for one in found} >= {DATASET.as_posix(), CASE.as_posix(), CONFIG.as_posix()}


class TestWarnings:
    def test_what_this_version_cannot_do_is_a_warning(self, shapes: ShapesProject, call: Caller) -> None:
        """support/missing: the manifest is valid, so lint passes; --strict makes it fail."""
        swap("execution:\n", "output_schema: {type: object}\nexecution:\n")(shapes)
        done = call(shapes, "lint")
        assert done.code == 0
        line, summary = done.out.splitlines()
        assert findings(line)[0].severity == "warning"
        assert "warning support/missing output_schema is not acted upon by task 'artifact_bundle'" in line
        assert summary == "1 eval(s): no errors, 1 warning"
        assert call(shapes, "lint", "--strict").code == 1

    def test_a_call_without_a_bound_is_a_warning_and_blocks(self, paid_shapes: ShapesProject, call: Caller) -> None:
        """parameter/no-bound: limits of a sample are looked at after a call, so only max_tokens bounds its price."""
        swap("max_tokens: 800, ", "")(paid_shapes)
        found = findings("\n".join(call(paid_shapes, "lint").out.splitlines()[:-1]))
        assert [(one.rule, one.severity) for one in found] == [("parameter/no-bound", "warning")] * 2
        (view,) = json.loads(call(paid_shapes, "plan", "--json").out)
        assert view["exposure_usd"] is None
        assert [blocker["kind"] for blocker in view["blockers"]] == ["price"]
        assert "set parameters.max_tokens" in one_line(call(paid_shapes, "run"), 2)

    def test_a_misspelled_parameter_is_a_warning(self, shapes: ShapesProject, call: Caller) -> None:
        """parameter/unknown: it travels as it is, which may be meant."""
        swap("temperature: 0.7", "temprature: 0.7, min_p: 0.1")(shapes)
        (line,) = call(shapes, "lint").out.splitlines()[:-1]
        assert "warning parameter/unknown parameter 'temprature'" in line
        assert line.endswith("did you mean temperature?")

    def test_a_parameter_that_no_request_carries_is_a_warning(self, shapes: ShapesProject, call: Caller) -> None:
        """parameter/not-sent: told once, at the layer that sets it; left out on purpose it is right."""
        swap("provider: replay\n    model: sketcher-large", "provider: anthropic\n    model: claude-sonnet-4-5")(shapes)
        swap("temperature: 0.7", "temperature: 0.7, seed: 5")(shapes)
        (line,) = [line for line in call(shapes, "lint").out.splitlines() if "parameter/not-sent" in line]
        assert "warning parameter/not-sent parameter 'seed' does not reach anthropic/claude-sonnet-4-5" in line
        swap("seed: 5", "seed: provider-default")(shapes)
        assert "parameter/not-sent" not in call(shapes, "lint").out

    def test_items_without_a_recorded_answer_are_a_warning(self, shapes: ShapesProject, call: Caller) -> None:
        """replay/no-answer: a misspelled model or arm is told before each of its items fails."""
        swap("model: sketcher-small", "model: sketcher-smal")(shapes)
        lines = call(shapes, "lint").out.splitlines()[:-1]
        assert len(lines) == 4
        assert (
            "warning replay/no-answer no answer is recorded for 3 of 3 items of sketcher-smal x terse rep 1" in lines[0]
        )
        assert {one.line for one in findings("\n".join(lines))} == {41}

    def test_an_edit_during_a_run_is_a_warning(self, banked_shapes: ShapesProject, call: Caller) -> None:
        """run/edited-in-flight: the run goes on with its copy, and the edit would not be measured."""
        run_id = sorted(banked_shapes.run_ids())[0]
        lock = banked_shapes.root / ".tamesu" / "locks" / f"{run_id}.lock"
        prompt = banked_shapes.path(SYSTEM)
        with held(lock, run_id, 0):
            assert call(banked_shapes, "lint").out == "1 eval(s): no errors\n"
            prompt.write_text(prompt.read_text() + "Be brief.\n")
            line = call(banked_shapes, "lint").out.splitlines()[0]
        assert findings(line)[0].file == SYSTEM.as_posix()
        assert f"warning run/edited-in-flight was edited while run {run_id} is in flight (process " in line
        assert call(banked_shapes, "lint").out == "1 eval(s): no errors\n"


class TestForms:
    @pytest.fixture
    def broken(self, shapes: ShapesProject) -> ShapesProject:
        swap("name: replayed", "name: 'a, b: 50%'")(shapes)
        swap("execution:\n", "output_schema: {type: object}\nexecution:\n")(shapes)
        return shapes

    def test_json(self, broken: ShapesProject, call: Caller) -> None:
        done = call(broken, "lint", "--format", "json")
        assert done.code == 1
        first, second = json.loads(done.out)
        assert first == {
            "file": MANIFEST.as_posix(),
            "line": 1,
            "column": 1,
            "severity": "error",
            "rule": "name/folder",
            "message": "name 'a, b: 50%' is not the folder's name 'replayed'",
            "fix": "use the folder's name",
        }
        assert (second["severity"], second["rule"]) == ("warning", "support/missing")

    def test_github(self, broken: ShapesProject, call: Caller) -> None:
        lines = call(broken, "lint", "--format", "github").out.splitlines()
        assert lines[0] == (
            f"::error file={MANIFEST.as_posix()},line=1,col=1,title=name/folder::"
            "name 'a, b: 50%25' is not the folder's name 'replayed'; use the folder's name"
        )
        assert lines[1].startswith("::warning file=")

    def test_sarif(self, broken: ShapesProject, call: Caller) -> None:
        log = json.loads(call(broken, "lint", "--format", "sarif").out)
        assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
        driver, results = log["runs"][0]["tool"]["driver"], log["runs"][0]["results"]
        assert (driver["name"], driver["version"]) == ("tamesu", __version__)
        assert [driver["rules"][one["ruleIndex"]]["id"] for one in results] == [one["ruleId"] for one in results]
        assert [one["level"] for one in results] == ["error", "warning"]
        place = results[0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": MANIFEST.as_posix(), "uriBaseId": "PROJECT"}
        assert place["region"] == {"startLine": 1, "startColumn": 1}
        rule = find_rule("name/folder")
        assert rule is not None
        assert driver["rules"][0]["help"]["text"] == rule.fix

    @pytest.mark.parametrize("form", ["json", "sarif", "github"])
    def test_a_clean_project_yields_an_empty_list(self, form: str, shapes: ShapesProject, call: Caller) -> None:
        done = call(shapes, "lint", "--format", form)
        assert done.code == 0
        found = json.loads(done.out or "[]")
        assert (found["runs"][0]["results"] if form == "sarif" else found) == []
        assert DATASET_LINE in shapes.manifest.read_text()


def test_a_prompt_stands_for_its_eval_also_when_that_has_an_error(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", "statuss: active")
    done = call(shapes, "lint", str(SYSTEM))
    assert (done.code, done.err) == (1, "")
    assert [(one.file, one.rule) for one in findings(done.out)] == [
        (MANIFEST.as_posix(), "schema/additionalProperties")
    ]


def test_a_file_of_another_case_does_not_stand_for_an_eval_with_an_error(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", "statuss: active")
    shapes.path("notes.md").write_text("x\n")
    assert "no manifest, and no eval reads it" in one_line(call(shapes, "lint", "notes.md"), 2)
