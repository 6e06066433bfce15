"""`make bench`: Tamesu beside bare Inspect on the same runs, both backends, the no-op, and commands that only read.

Every figure of a block is taken in one invocation, side by side; ratios are what to look at.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests import projects
from tests.bench_native import compare_native

REPEATS = int(os.environ.get("BENCH_REPEATS", "3"))

BARE = """
import json, os, sys
from pathlib import Path
work = Path(sys.argv[1]); runs = json.loads((work / "runs.json").read_text())
os.environ["XDG_DATA_HOME"] = str(work / "home"); os.environ["GIT_DIR"] = str(work / "none")
os.chdir(work)
from inspect_ai import eval, task_with
from inspect_ai.model import GenerateConfig, ModelCost, ModelInfo, get_model, set_model_cost, set_model_info
sys.path.insert(0, runs[0]["sources"])
import task as module
from tamesu.inspect_support import bound_staging
import functools
def bind(scorer, root):
    @functools.wraps(scorer)
    async def score(state, target):
        with bound_staging(Path(root), str(state.sample_id)):
            return await scorer(state, target)
    return score
tasks = []
for run in runs:
    set_model_info(run["model"], ModelInfo(organization="replay"))
    set_model_cost(run["model"], ModelCost(input=0, output=0, input_cache_write=0, input_cache_read=0))
    made = module.draw_scene(dataset=run["dataset"])
    model = get_model(run["model"], memoize=False, config=GenerateConfig(temperature=0.7, max_tokens=800),
        recordings=run["recordings"], dataset=run["dataset"], arm=run["arm"], repetition=run["repetition"])
    tasks.append(task_with(made, name=run["id"], model=model, cost_limit=0.05, time_limit=120,
        scorer=[bind(scorer, work / "staging" / run["id"]) for scorer in made.scorer]))
logs = eval(tasks, log_dir=str(work / "logs"), display="none", max_tasks=1, max_samples=4, max_connections=4,
    adaptive_connections=False, fail_on_error=False, log_buffer=1, log_model_api=False, ctl_server=False)
assert all(log.status == "success" for log in logs), [log.status for log in logs]
"""


@dataclass(frozen=True)
class Cost:
    """One command: seconds of wall and CPU (children included), peak memory of its largest process in MiB."""

    wall: float
    cpu: float
    peak: float


def measure(command: Sequence[str], cwd: Path) -> Cost:
    """Run a command to its end. CPU is what the kernel accounts to all its descendants."""
    before = os.times()
    start = time.perf_counter()
    # users keep compiled modules; a shell that forbids writing them would time the compiler
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = 0.0
    watched = psutil.Process(child.pid)
    while child.poll() is None:
        peak = max(peak, _largest(watched))
        time.sleep(0.02)
    wall = time.perf_counter() - start
    error = child.stderr.read().decode() if child.stderr else ""
    assert child.returncode == 0, error[-2000:]
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, used, peak)


def _largest(process: psutil.Process) -> float:
    sizes = []
    try:
        for one in (process, *process.children(recursive=True)):
            sizes.append(one.memory_info().rss / 2**20)
    except psutil.Error:
        pass
    return max(sizes, default=0.0)


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the medians."""
    return Cost(*(statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu", "peak")))


def bare_runs(project: projects.ShapesProject) -> list[dict[str, object]]:
    """Return what a bare Inspect process needs to execute the same runs."""
    runs = []
    for run_id in sorted(project.run_ids()):
        private = project.eval / "runs" / run_id / "inspect"
        record = project.record(run_id)
        runs.append(
            {
                "id": run_id,
                "model": f"replay/{record['model']}",
                "arm": record["arm"],
                "repetition": record["repetition"],
                "dataset": str(private / "input.jsonl"),
                "recordings": str(private / "recordings.jsonl"),
                "sources": str(private / "sources"),
            }
        )
    return runs


def compare_with_bare(folder: Path) -> None:
    """Print `tamesu run` beside one bare Inspect process, then the no-op and the page of the case made anew."""
    tamesu, bare, idle, page = [], [], [], []
    for number in range(REPEATS):
        project = projects.fresh(folder / f"tamesu-{number}", items=None)
        command = (sys.executable, "-m", "tamesu", "run")
        tamesu.append(measure(command, project.root))
        idle.append(measure(command, project.root))
        project.path("build/shape-drawing/index.html").unlink()
        page.append(measure((sys.executable, "-m", "tamesu", "present"), project.root))
        work = folder / f"bare-{number}"
        work.mkdir()
        (work / "runs.json").write_text(json.dumps(bare_runs(project)))
        (work / "bare.py").write_text(BARE)
        bare.append(measure((sys.executable, str(work / "bare.py"), str(work)), work))
    ours, theirs, noop, made = middle(tamesu), middle(bare), middle(idle), middle(page)
    print(f"8 runs x 12 items, median of {REPEATS}")
    print(f"{'':24}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}")
    for name, cost in (
        ("tamesu run", ours),
        ("bare Inspect, 1 process", theirs),
        ("tamesu run, no-op", noop),
        ("tamesu present", made),
    ):
        print(f"{name:24}{cost.wall:>10.2f}{cost.cpu:>10.2f}{cost.peak:>10.0f}")
    print(f"{'ratio to bare':24}{ours.wall / theirs.wall:>10.2f}{ours.cpu / theirs.cpu:>10.2f}", end="")
    print(f"{ours.peak / theirs.peak:>10.2f}")


READING = (("lint",), ("plan",), ("plan", "replayed"), ("status",), ("list",))


def reading_commands(folder: Path) -> None:
    """Print what reading commands take: 10 evals, and 1,000 runs over 10,000 items."""
    ten = projects.fresh(folder / "ten", items=None)
    for number in range(9):
        copy = ten.eval.parent / f"copy-{number}"
        shutil.copytree(ten.eval, copy)
        manifest = copy / "eval.yml"
        manifest.write_text(manifest.read_text().replace("name: replayed", f"name: {copy.name}"))
    _print_reading("10 evals of 8 runs x 12 items", ten)
    _print_reading("1,000 runs x 10,000 items", _wide(folder / "wide"))


def _wide(folder: Path) -> projects.ShapesProject:
    project = projects.fresh(folder, items=None)
    project.edit_eval("repetitions: 2", "repetitions: 250")
    items = (
        {"id": f"item-{n}", "input": {"scene": f"A circle of radius {n % 90 + 1}, number {n}."}, "expected": {"n": n}}
        for n in range(10_000)
    )
    dataset = project.path(projects.DATASET)
    (dataset.parent / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    dataset.write_text("name: scenes\nitems_from: items.jsonl\n")
    return project


def _print_reading(title: str, project: projects.ShapesProject) -> None:
    bare = middle([measure((sys.executable, "-c", "pass"), project.root) for _ in range(REPEATS)])
    print(f"{title}, median of {REPEATS}")
    print(f"{'':24}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}{'ratio':>10}")
    print(f"{'python -c pass':24}{bare.wall:>10.2f}{bare.cpu:>10.2f}{bare.peak:>10.0f}{1:>10.1f}")
    for command in READING:
        costs = [measure((sys.executable, "-m", "tamesu", *command), project.root) for _ in range(REPEATS)]
        cost = middle(costs)
        name = f"tamesu {' '.join(command)}"
        print(f"{name:24}{cost.wall:>10.2f}{cost.cpu:>10.2f}{cost.peak:>10.0f}{cost.wall / bare.wall:>10.1f}")


def main() -> None:
    """Run all benchmarks."""
    folder = Path(tempfile.mkdtemp(prefix="tamesu-bench-"))
    try:
        compare_with_bare(folder)
        compare_native(folder / "native", REPEATS)
        reading_commands(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
