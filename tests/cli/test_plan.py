"""`tamesu plan`: everything that is known before money is spent, on the terminal and as documented JSON."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tamesu.workflow_files import workflow_folder
from tests.cli.calling import Caller, one_line
from tests.projects import ShapesProject

SCHEMA = json.loads((workflow_folder() / "schemas" / "output" / "plan.schema.json").read_text(encoding="utf-8"))


def plan_json(project: ShapesProject, call: Caller, *arguments: str) -> list[dict[str, Any]]:
    done = call(project, "plan", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    views: list[dict[str, Any]] = json.loads(done.out)
    Draft202012Validator(SCHEMA).validate(views)
    return views


def test_the_schema_is_one_and_describes_every_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def undescribed(schema: Any, name: str) -> list[str]:
        if not isinstance(schema, dict):
            return []
        found = [] if "description" in schema or "anyOf" in schema else [name]
        for key, field in schema.get("properties", {}).items():
            found += undescribed(field, f"{name}.{key}")
        return found + (undescribed(schema["items"], f"{name}[]") if "items" in schema else [])

    assert undescribed(SCHEMA, "") == []


class TestJson:
    def test_an_owed_paid_plan(self, paid_shapes: ShapesProject, call: Caller) -> None:
        (view,) = plan_json(paid_shapes, call)
        assert view["matrix"] == {
            "models": ["replay/sketcher-small", "replay/sketcher-large"],
            "arms": ["terse", "worked-example"],
            "repetitions": 2,
            "items": 3,
            "runs": 8,
            "samples": 24,
        }
        assert view["sizing"]["precision"]["available"] == 12
        assert [one["pace"] for one in view["sizing"]["forecasts"]] == [None, None]

    def test_the_first_item_is_told_as_sent(self, paid_shapes: ShapesProject, call: Caller) -> None:
        (view,) = plan_json(paid_shapes, call)
        terse, worked = view["first_items"]
        assert (terse["arm"], terse["item"], worked["arm"]) == ("terse", "red-sun", "worked-example")
        assert [message["role"] for message in terse["messages"]] == ["system", "user"]
        assert terse["messages"][1]["content"].endswith("A large red circle in the middle of a white sheet.\n")
        assert terse["calls"][0] == {
            "provider": "replay",
            "model": "sketcher-small",
            "parameters": {"max_tokens": 800, "temperature": 0.7},
            "extra_body": {},
        }

    def test_a_banked_plan_says_what_it_cost(self, banked_paid_shapes: ShapesProject, call: Caller) -> None:
        (view,) = plan_json(banked_paid_shapes, call)
        assert view["spent_usd"] == pytest.approx(sum(run["spent_usd"] for run in view["runs"]))
        assert view["spent_usd"] == pytest.approx(banked_paid_shapes.spent())
        small, large = view["sizing"]["forecasts"]
        assert (small["pending"], small["usd"], small["pace"]["pilots"]) == (0, 0, 4)
        assert 0 < small["pace"]["usd"] < large["pace"]["usd"]
        assert small["pace"]["seconds"] >= 0
        assert small["pace"]["concurrency"] >= 1
        assert view["sizing"]["precision"]["basis"].endswith(" of 3 items of 8 pilots")

    def test_several_evals_have_no_sizing(self, shapes: ShapesProject, call: Caller) -> None:
        shutil.copytree(shapes.eval, shapes.eval.parent / "second")
        manifest = shapes.eval.parent / "second" / "eval.yml"
        manifest.write_text(manifest.read_text().replace("name: replayed", "name: second"))
        views = plan_json(shapes, call)
        assert [view["sizing"] for view in views] == [None, None]
        assert plan_json(shapes, call, "second")[0]["sizing"] is not None


class TestStale:
    def test_each_stale_run_has_cause_price_and_remedy(self, banked_paid_shapes: ShapesProject, call: Caller) -> None:
        banked_paid_shapes.edit_eval("temperature: 0.7", "temperature: 0.8")
        (view,) = plan_json(banked_paid_shapes, call)
        assert len(view["found"]) == 8
        for run in view["found"]:
            assert run["causes"] == ["parameter/temperature changed (was 0.7, now 0.8)"]
            assert run["redo_usd"] > 0
            assert run["remedy"].startswith("set parameter/temperature back to 0.7, for nothing; or redo for up to ")
        assert sum(run["redo_usd"] for run in view["found"]) == pytest.approx(view["exposure_usd"])

    def test_one_line_on_the_terminal_adds_them_up(self, banked_paid_shapes: ShapesProject, call: Caller) -> None:
        prompt = banked_paid_shapes.path("cases/shape-drawing/experiments/prompt-wording/prompts/terse.md.j2")
        prompt.write_text(prompt.read_text() + "Be brief.\n")
        done = call(banked_paid_shapes, "plan")
        (line,) = [line for line in done.out.splitlines() if line.startswith("stale: ")]
        exposure = json.loads(call(banked_paid_shapes, "plan", "--json").out)[0]["exposure_usd"]
        assert line == (
            "stale: 4 run(s) on disk, not counted: prompt terse.md.j2 changed; put terse.md.j2 back, for nothing; "
            f"or redo for up to {exposure:.4f} USD"
        )


class TestBlockers:
    def blocked(self, project: ShapesProject, call: Caller) -> dict[str, str]:
        (view,) = plan_json(project, call)
        return {one["kind"]: one["message"] for one in view["blockers"]}

    def test_a_draft(self, shapes: ShapesProject, call: Caller) -> None:
        shapes.edit_eval("status: active", "status: draft")
        assert "tamesu activate" in self.blocked(shapes, call)["draft"]

    def test_a_budget(self, paid_shapes: ShapesProject, call: Caller) -> None:
        paid_shapes.edit_eval("budget_usd: 20.00", "budget_usd: 0.01")
        assert list(self.blocked(paid_shapes, call)) == ["budget"]

    def test_a_case_from_elsewhere(self, shapes: ShapesProject, call: Caller) -> None:
        """Reading commands go on; run refuses with what to do."""
        (shapes.root / "cases" / "shape-drawing" / ".untrusted-origin").write_text("")
        assert list(self.blocked(shapes, call)) == ["untrusted"]
        line = one_line(call(shapes, "run"), 2)
        assert line.startswith("cases/shape-drawing/.untrusted-origin: this case came from elsewhere")
        assert shapes.calls() == []

    @pytest.mark.parametrize("place", ["environment", "file", "nowhere"])
    def test_a_credential_by_name_and_never_by_value(
        self, place: str, shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shapes.edit_eval("provider: replay\n    model: sketcher-large", "provider: mistral\n    model: some-model")
        (shapes.root / "config" / "models.yml").write_text(
            "models: [{provider: mistral, model: some-model, usd_per_million: {input: 0.1, output: 0.1}}]\n"
        )
        monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
        if place == "environment":
            monkeypatch.setenv("MISTRAL_API_KEY", "canary-of-this-test")
        if place == "file":
            (shapes.root / ".env").write_text("MISTRAL_API_KEY=canary-of-this-test\n")
        blockers = self.blocked(shapes, call)
        assert ("credentials" in blockers) == (place == "nowhere")
        assert "canary" not in call(shapes, "plan").out
        if place == "nowhere":
            assert "MISTRAL_API_KEY is not set" in blockers["credentials"]


class TestTerminal:
    def test_prompts_are_shortened_until_asked_for(self, shapes: ShapesProject, call: Caller) -> None:
        short = call(shapes, "plan").out
        assert "first item of arm terse, as sent: red-sun" in short
        assert "  user   | Write the drawing program for this scene." in short
        assert short.count("more lines, see --prompt") == 3
        full = call(shapes, "plan", "--prompt", "terse").out
        assert "--prompt terse" not in full
        assert "--prompt worked-example" in full

    def test_an_arm_that_is_not_there(self, shapes: ShapesProject, call: Caller) -> None:
        assert one_line(call(shapes, "plan", "--prompt", "ters"), 2) == "no arm named 'ters'; did you mean terse?"

    def test_a_long_plan_is_told_by_cell(self, shapes: ShapesProject, call: Caller) -> None:
        shapes.edit_eval("repetitions: 2", "repetitions: 30")
        out = call(shapes, "plan").out
        assert "2 models, 2 arms, 30 repetitions: 120 runs of 3 items, 360 samples" in out
        assert out.count(" owed ") == 4
        assert " 0/90 " in out

    def test_an_overview_of_several_evals_is_a_line_each(self, shapes: ShapesProject, call: Caller) -> None:
        for name in ("second", "third"):
            shutil.copytree(shapes.eval, shapes.eval.parent / name)
            manifest = shapes.eval.parent / name / "eval.yml"
            manifest.write_text(manifest.read_text().replace("name: replayed", f"name: {name}"))
        shapes.edit_eval("status: active", "status: draft")
        lines = call(shapes, "plan").out.splitlines()
        assert lines[0] == (
            "shape-drawing/prompt-wording/replayed: draft; 0/8 runs banked, 24 items owed, free; "
            "spent 0.0000 of 1.0000 USD"
        )
        assert lines[1].startswith("  blocked: ")
        assert [line.split(":")[0].rpartition("/")[2] for line in lines[2:4]] == ["second", "third"]

    def test_pilots_are_called_pilots(self, banked_shapes: ShapesProject, call: Caller) -> None:
        banked_shapes.edit_eval("temperature: 0.7", "temperature: 0.8")
        lines = [line for line in call(banked_shapes, "plan").out.splitlines() if line.startswith("forecast: ")]
        assert len(lines) == 2
        assert all("12 items owed, free, " in line and " one after the other (4 runs" in line for line in lines)


def test_one_eval_that_may_not_start_does_not_stop_the_others(one_run: ShapesProject, call: Caller) -> None:
    """A project is worked off as far as it can be; what was left out is named, and the exit code says so."""
    blocked = one_run.eval.parent / "blocked"
    shutil.copytree(one_run.eval, blocked)
    manifest = blocked / "eval.yml"
    text = manifest.read_text().replace("name: replayed", "name: blocked")
    manifest.write_text(
        text.replace("provider: replay\n    model: sketcher-small", "provider: meta\n    model: muse-spark-1.2")
    )
    done = one_run.tamesu("run")
    assert done.code == 1
    assert "/blocked: left out: " in done.err
    assert "provider meta: META_API_KEY is not set" in done.err
    assert len(one_run.calls()) == 1
    line = one_line(call(one_run, "run", "blocked"), 2)
    assert "provider meta: META_API_KEY is not set" in line
