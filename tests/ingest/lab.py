"""A small project whose recorded answers say what each sample does, worked off without Snakemake.

The launches of the plan go through the plumbing commands in a process of their own, forked from a server that
has imported Inspect already, so that a run costs about a second.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject

USAGE = {"input": 1000, "output": 500}
PRICE = {"input": 2.0, "output": 8.0}
ANSWER_COST = (1000 * 2.0 + 500 * 8.0) / 1_000_000

TASK = '''\
"""Every answer says what it scores."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import generate

VALUES = {
    "nan": float("nan"),
    "infinite": float("inf"),
    "minus infinite": float("-inf"),
    "list": [1, 0],
    "dict": {"depth": 0.25, "width": "C"},
    "dict with a text": {"depth": 0.25, "width": "wide"},
    "yes as bool": True,
    "no as bool": False,
    "whole": 1,
    "fraction": 0.5,
}


@task
def probe(dataset, **settings):
    return Task(dataset=json_dataset(dataset), solver=[generate()], scorer=[rate()], **settings)


@scorer(metrics=METRICS)
def rate():
    async def score(state, target):
        text = state.output.choices[0].message.text if state.output.choices else "I"
        if text == "raise":
            raise ValueError("the scorer met an answer it cannot read")
        return Score(value=VALUES.get(text, text), answer=text, explanation=f"said {text}")

    return score
'''


def turn(text: str = "whole", **fields: Any) -> dict[str, Any]:
    """A recorded reply; without `usage` in the fields it states some."""
    return {"text": text, "usage": USAGE, "stop_reason": "stop", **fields}


def failing(message: str = "connection reset") -> dict[str, Any]:
    return {"error": message}


Turns = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def lab(
    target: Path,
    items: Mapping[str, Turns],
    *,
    paid: bool = False,
    task: str = TASK,
    metrics: str = "[]",
    changes: Mapping[str, Any] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> ShapesProject:
    """Write a project of one run; `items` maps an item to its recorded reply or replies.

    `changes` are merged into eval.yml, `inputs` replace what an item asks.
    """
    project = ShapesProject(target)
    write_dataset(project, {name: (inputs or {}).get(name, f"ask {name}") for name in items})
    record(project, items)
    files = {
        "config/config.yaml": 'inspect_version: "0.3.285"\n',
        "cases/shape-drawing/case.yml": _dump(
            {
                "name": "shape-drawing",
                "description": "A laboratory.",
                "question": "Does it work?",
                "business_use": "None.",
                "current_problem": "None.",
                "technical_uncertainty": "None.",
            }
        ),
        str(EXPERIMENT / "inspect" / "task.py"): task.replace("METRICS", metrics),
        str(EVAL / "eval.yml"): _dump(_manifest(changes or {})),
    }
    if paid:
        entry = {"provider": "replay", "model": "echo", "usd_per_million": PRICE}
        files["config/models.yml"] = _dump({"models": [entry]})
    for path, text in files.items():
        project.path(path).parent.mkdir(parents=True, exist_ok=True)
        project.path(path).write_text(text)
    return project


def _dump(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _manifest(changes: Mapping[str, Any]) -> dict[str, Any]:
    manifest: dict[str, Any] = {
        "name": "replayed",
        "question": "Does it work?",
        "status": "active",
        "task": "artifact_bundle",
        "dataset": "../../../../datasets/scenes-v1/dataset.yml",
        "execution": {
            "backend": "inspect",
            "file": "../../inspect/task.py",
            "task": "probe",
            "sources": ["../../inspect/task.py"],
            "limits": {"cost_limit": 0.05, "time_limit": 60},
        },
        "defaults": {
            "items": "all",
            "repetitions": 1,
            "concurrency": 4,
            "timeout_seconds": 30,
            "retries": 0,
            "max_attempts": 3,
            "tolerate_failed": 0,
            "budget_usd": 100.0,
            "parameters": {"max_tokens": 800, "recordings": "../../recordings/answers.jsonl"},
        },
        "arms": [{"id": "plain", "description": "The input alone.", "prompts": {}}],
        "runs": [{"provider": "replay", "model": "echo", "arms": ["plain"]}],
        "evaluation": {"mechanical": ["rate"], "acceptance": {"requires": ["mechanical"]}},
        "metrics": {"primary": "mean_score:rate"},
    }
    return _merged(manifest, changes)


def _merged(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(value)
    for name, change in changes.items():
        both = isinstance(change, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = _merged(merged[name], change) if both else change
    return merged


def write_dataset(project: ShapesProject, inputs: Mapping[str, str]) -> None:
    header = {"name": "scenes-v1", "description": "Probes.", "items_from": "items.jsonl"}
    path = project.path(DATASET)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_dump(header))
    path.with_name("items.jsonl").write_bytes(_lines({"id": name, "input": text} for name, text in inputs.items()))


def record(project: ShapesProject, items: Mapping[str, Turns]) -> None:
    """Write the recordings; changing them before a run was frozen changes its identity."""
    path = project.path(EXPERIMENT / "recordings" / "answers.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = {name: [turns] if isinstance(turns, Mapping) else list(turns) for name, turns in items.items()}
    header = {"tamesu_recording": 1, "label": "made up for a test"}
    path.write_bytes(_lines([header, *({"item": name, "turns": turns} for name, turns in listed.items())]))


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Everything unescaped, but for lone surrogates, which UTF-8 cannot carry."""
    lines = (json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") for record in records)
    return b"".join(line + b"\n" for line in lines)


@dataclass(frozen=True)
class Worked:
    """What a process said while it worked a plan off, and the error that ended it, if any."""

    told: str
    error: str | None = None


STAGES = ("freeze", "execute", "ingest")


def work_off(
    project: ShapesProject, *stages: str, again: bool = False, before: Callable[[], None] | None = None
) -> Worked:
    """Work off all launches of the plan; `before` is a module-level function called in the new process first."""
    return in_process(_work_off, str(project.root), stages or STAGES, again, before)


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a module-level function returns in a fresh process that knows Inspect."""
    server = _server()
    here, there = server.Pipe(duplex=False)
    process = server.Process(target=_call, args=(there, function, arguments))
    process.start()
    there.close()
    try:
        returned, raised = here.recv()
    except EOFError:
        process.join()
        raise AssertionError(f"the process ended with {process.exitcode} and said nothing") from None
    finally:
        process.join()
    assert raised is None, raised
    return returned


@functools.cache
def _server() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest.preloaded"])
    return context


def _call(pipe: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send((function(*arguments), None))
    except BaseException:
        pipe.send((None, traceback.format_exc()))


def _work_off(root: str, stages: Sequence[str], again: bool, before: Callable[[], None] | None) -> Worked:
    from tamesu.base.errors import TamesuError
    from tamesu.cli.main import cli
    from tamesu.core.planning import Grouping, Retries
    from tamesu.edge.store.paths import Project
    from tamesu.stages import execute
    from tamesu.stages.plan_file import save_plan
    from tamesu.stages.workflow import make_workflow_plan

    if "ingest" not in stages:  # left as by a death before what was executed is ingested
        execute._ingest_at_once = lambda *_: None
    os.chdir(root)
    if before is not None:
        before()
    told = io.StringIO()
    project = Project(Path(root))
    retries = Retries.AGAIN if again else Retries.BOUNDED
    try:
        with contextlib.redirect_stdout(told):
            plan = make_workflow_plan(project, project.refs(), Grouping.BATCHED, retries, 1e12)
            assert not plan.broken, plan.broken
            plan_file = save_plan(project, plan)
            for launch in plan.launches:
                for stage in stages:
                    os.chdir(root)
                    receipt = project.receipts / f"{stage}-{launch.id}"
                    arguments = [stage, launch.id, "--plan", str(plan_file), "--receipt", str(receipt)]
                    cli.main(arguments, standalone_mode=False)
    except TamesuError as error:
        return Worked(told.getvalue(), f"{type(error).__name__}: {error}")
    return Worked(told.getvalue())


def the_run(project: ShapesProject) -> Path:
    """The folder of the only run."""
    (folder,) = [path for path in (project.eval / "runs").iterdir() if not path.name.startswith(".")]
    return folder


def run_yml(project: ShapesProject) -> dict[str, Any]:
    return yaml.safe_load((the_run(project) / "run.yml").read_bytes())


def result(project: ShapesProject, item: str) -> dict[str, Any]:
    return yaml.safe_load((the_run(project) / "items" / item / "result.yml").read_bytes())


def attempt(project: ShapesProject, number: int = 1) -> dict[str, Any]:
    return yaml.safe_load((the_run(project) / "attempts" / f"{number:02d}.yml").read_bytes())


def log_path(project: ShapesProject, number: int = 1) -> Path:
    return the_run(project) / "inspect" / f"attempt-{number:02d}.eval"


def asked(project: ShapesProject) -> list[str]:
    """The items of all calls so far, in order of the calls."""
    return [str(call["item"]) for call in project.calls()]
