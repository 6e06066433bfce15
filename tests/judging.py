"""Projects whose outputs are there and are judged: the shapes example with judges beside its rubric.

Judges are no part of a run's identity, so a project that was banked without them stays banked.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests import live
from tests.projects import EVAL, EXAMPLE, EXPERIMENT, ITEMS, Done, ShapesProject, fresh
from tests.shared import banked

VERDICTS = EXPERIMENT / "recordings/verdicts.jsonl"
OUTPUTS = 22  # two of the 24 recorded answers draw nothing
USAGE = {"input": 1000, "output": 100}
CALL_USD = 0.0014  # what that costs at the price of the judge
JUDGE_PRICE = {"input": 1.0, "output": 4.0}
HEADER = {"tamesu_recording": 1, "label": "verdicts made up for a test"}


def dimensions() -> Mapping[str, Sequence[str]]:
    """Return the dimensions of the example's rubric and their reason codes."""
    rubric = yaml.safe_load((EXAMPLE / EXPERIMENT / "rubrics/drawing.yml").read_text())
    return {one["id"]: one.get("reason_codes", []) for one in rubric["dimensions"]}


def verdict(passed: bool = True, **changes: Any) -> str:
    """Return a reply that says the same of every dimension; `changes` replace what it says of some."""
    said = {
        name: {"note": "seen", "pass": passed, "reason": "none" if passed else codes[0]}
        for name, codes in dimensions().items()
    }
    return json.dumps({**said, **changes})


@dataclass(frozen=True)
class JudgedProject(ShapesProject):
    """A project with judges; `env` leads live ones to a server, with a key made for the test."""

    env: Mapping[str, str] = field(default_factory=dict)
    key: str = ""

    def judge(self, *arguments: str, timeout: float = 120) -> Done:
        """Run `tamesu judge`."""
        return self.cli("judge", *arguments, timeout=timeout)

    def cli(self, *arguments: str, timeout: float = 120) -> Done:
        """Run tamesu with the variables of the judges' routes."""
        import sys

        return self.run_command(sys.executable, "-m", "tamesu", *arguments, env=dict(self.env), timeout=timeout)

    def records(self, folder: str = "judgments") -> list[dict[str, Any]]:
        found = sorted((self.eval / "runs").glob(f"*/items/*/{folder}/*.yml"))
        return [yaml.safe_load(path.read_text()) for path in found]

    def failures(self) -> list[dict[str, Any]]:
        return self.records("judgment-failures")

    def judge_ledger(self) -> list[dict[str, Any]]:
        path = self.eval / "judge-ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def judge_money(self) -> tuple[float, float, int]:
        """Return what was spent and lost, and how many reservations are open."""
        entries = self.judge_ledger()
        settled = [one for one in entries if one["event"] == "settled"]
        open_ones = sum(one["event"] == "reserved" for one in entries) - len(settled)
        return (
            round(sum(one["spent_usd"] for one in settled), 9),
            round(sum(one["lost_usd"] for one in settled), 9),
            open_ones,
        )

    def standing(self) -> dict[str, Any]:
        """Return what `plan --json` says of the judges."""
        done = self.cli("plan", "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)[0]["judging"]

    def wire(self, judge: str = "critic") -> list[dict[str, Any]]:
        path = self.eval / f"logs/judges/{judge}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


def priced(project: ShapesProject, budget: float = 50.0, **price: float) -> None:
    """Give the replayed judge a price and a bound, and its eval a budget for judges."""
    models = [{"provider": "replay", "model": "critic-1", "usd_per_million": {**JUDGE_PRICE, **price}}]
    project.path("config/models.yml").write_text(yaml.safe_dump({"models": models}))
    manifest = yaml.safe_load(project.manifest.read_text())
    manifest["defaults"]["judge_budget_usd"] = budget
    for judge in manifest["evaluation"]["model_judges"]:
        judge["parameters"]["max_tokens"] = 400
    project.manifest.write_text(yaml.safe_dump(manifest, sort_keys=False))


def with_judges(project: ShapesProject, judges: Sequence[Mapping[str, Any]], requires: Sequence[str] = ()) -> None:
    """Declare judges in the example's eval, and what acceptance requires beside `mechanical` and `human`."""
    manifest = yaml.safe_load(project.manifest.read_text())
    manifest["evaluation"]["model_judges"] = [dict(judge) for judge in judges]
    manifest["evaluation"]["acceptance"]["requires"] += list(requires)
    project.manifest.write_text(yaml.safe_dump(manifest, sort_keys=False))


def recorded(target: Path, lines: Iterable[Mapping[str, Any]] | None = None, **judge: Any) -> JudgedProject:
    """Return a banked project with a replayed judge; without lines it passes everything, three times at most."""
    project = JudgedProject(banked(target).root)
    record(project, lines)
    with_judges(project, [recorded_judge(**judge)])
    return project


def recorded_judge(**changes: Any) -> dict[str, Any]:
    """Return a replayed judge as a manifest declares it."""
    return {
        "id": "critic",
        "provider": "replay",
        "model": "critic-1",
        "role": "screen",
        "rubric": "../../rubrics/drawing.yml",
        "parameters": {"recordings": "../../recordings/verdicts.jsonl"},
        **changes,
    }


def record(project: ShapesProject, lines: Iterable[Mapping[str, Any]] | None = None) -> None:
    """Write the recorded verdicts."""
    if lines is None:
        lines = [{"item": item, "turns": [{"text": verdict(), "usage": USAGE}] * 3} for item in ITEMS]
    project.path(VERDICTS).write_text("".join(json.dumps(line) + "\n" for line in [HEADER, *lines]))


def live_judge(provider: str = "openai-api/local", model: str = "critic-1", **changes: Any) -> dict[str, Any]:
    """Return a judge of a live route as a manifest declares it."""
    parameters = {"max_tokens": 400, **changes.pop("parameters", {})}
    judge = {"id": "critic", "provider": provider, "model": model, "role": "screen", "parameters": parameters}
    return {**judge, "rubric": "../../rubrics/drawing.yml", **changes}


def _run_with(target: Path, settings: str) -> Path:
    project = fresh(target, items=ITEMS[:1])
    project.edit_eval("  timeout_seconds: 30\n  retries: 0\n", f"  {settings}\n")
    done = project.tamesu("run")
    assert done.code == 0, done.err
    return project.root


def lively(
    target: Path, url: str, *judges: Mapping[str, Any], budget: float = 50.0, run_with: str = "", **defaults: Any
) -> JudgedProject:
    """Return a banked project whose judges are live at `url`.

    Settings that runs depend on as well stand in `run_with` (instead of `retries: 0`), and a run is made with them.
    """
    judges = judges or (live_judge(),)
    root = _run_with(target, run_with) if run_with else banked(target).root
    key = f"canary-{secrets.token_hex(16)}"
    env = live.environment(url, [judge["provider"] for judge in judges], key)
    project = JudgedProject(root, env, key)
    with_judges(project, judges)
    manifest = yaml.safe_load(project.manifest.read_text())
    manifest["defaults"] |= {"judge_budget_usd": budget, **defaults}
    project.manifest.write_text(yaml.safe_dump(manifest, sort_keys=False))
    models = [
        {"provider": judge["provider"], "model": judge["model"], "usd_per_million": JUDGE_PRICE} for judge in judges
    ]
    project.path("config/models.yml").write_text(yaml.safe_dump({"models": models}))
    return project


__all__ = ["EVAL", "ITEMS", "OUTPUTS", "JudgedProject"]
