"""The native backend beside bare Inspect: the same requests to the same server on the loopback address, by turns.

Measured is the process that executes: `tamesu execute` as the rule calls it, with a plan that is frozen before,
against one Python process that calls `inspect_ai.eval` on a task that only generates. Planning, Snakemake and the
views are left out; all that an attempt does is in it: checks before money, reservation, journal, wire log, closing,
ingestion.

- first request: from the start of the process to its first request, and to the first that asks an item; wall seconds,
  and the CPU seconds that the process had used by then, which a busy machine does not stretch as much.
- CPU: user and system time of the whole process as the kernel accounts it, imports included, per item; and without what
  a process costs anyway, from the difference of many items and few.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tamesu.core.planning import Grouping, Retries
from tamesu.core.probe import PROBE_PROMPT
from tamesu.edge.store.paths import Project
from tamesu.stages.plan_file import save_plan
from tamesu.stages.workflow import make_workflow_plan
from tests.live import LiveProject, Model, make
from tests.servers import ModelServer
from tests.servers.model_server import Received

MANY, FEW, AT_ONCE = 240, 24, 8
MODEL = "openai-api/local/adder"

BARE = """
import os, sys
work, dataset, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["XDG_DATA_HOME"] = work + "/home"; os.environ["GIT_DIR"] = work + "/none"
os.chdir(work)
from inspect_ai import Task, eval
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate
task = Task(dataset=json_dataset(dataset), solver=generate())
(log,) = eval(task, model="MODEL", max_tokens=100, max_connections=at_once, max_samples=at_once, max_retries=0,
    log_dir=work + "/logs", display="none")
assert log.status == "success", log.error
"""


@dataclass
class Watch:
    """Notes when the process under measurement sends its first request, and what it has used by then."""

    started: float = 0.0
    process: psutil.Process | None = None
    first: list[float] = field(default_factory=list)
    first_item: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, pid: int, started: float) -> None:
        with self.lock:
            self.process, self.started, self.first, self.first_item = psutil.Process(pid), started, [], []

    def saw(self, request: Received) -> None:
        """Called by the server for each request before it is answered; answers nothing itself."""
        asks = request.method == "POST" and PROBE_PROMPT not in json.dumps(request.body)
        with self.lock:
            if self.process is None or self.first_item:
                return
            used = self.process.cpu_times()
            point = [time.perf_counter() - self.started, used.user + used.system]
            self.first = self.first or point
            self.first_item = point if asks else []


@dataclass(frozen=True)
class Taken:
    """One process: CPU seconds in all; wall and CPU seconds to its first request, and to the first for an item."""

    cpu: float
    first: tuple[float, float]
    first_item: tuple[float, float]


def taken(watch: Watch, command: Sequence[str], cwd: Path, env: dict[str, str]) -> Taken:
    """Run a command to its end."""
    error = cwd / "stderr.txt"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with error.open("w") as sink:
        started = time.perf_counter()
        child = subprocess.Popen(command, cwd=cwd, env={**kept, **env}, stdout=subprocess.DEVNULL, stderr=sink)
        watch.begin(child.pid, started)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, error.read_text()[-2000:]
    first, first_item = watch.first, watch.first_item
    return Taken(used.ru_utime + used.ru_stime, (first[0], first[1]), (first_item[0], first_item[1]))


def native(watch: Watch, folder: Path, url: str, items: int) -> Taken:
    """Freeze one run of so many items, and measure the process that executes it."""
    project = frozen(folder, url, items)
    own = Project(project.root)
    plan = make_workflow_plan(own, own.refs(), Grouping.BATCHED, Retries.BOUNDED, 1000.0)
    plan_file, (launch,) = save_plan(own, plan), plan.launches
    tail = ["--plan", str(plan_file), "--receipt", str(own.receipts / "bench")]
    done = project.live("freeze", launch.id, *tail)
    assert done.code == 0, done.err
    command = (sys.executable, "-m", "tamesu", "execute", launch.id, *tail)
    return taken(watch, command, project.root, dict(project.env))


def frozen(folder: Path, url: str, items: int) -> LiveProject:
    defaults = {"concurrency": AT_ONCE, "budget_usd": 1000.0}
    project = make(folder, url, [Model("openai-api/local", "adder")], items=items, backend="native", defaults=defaults)
    os.environ.update(project.env)  # the plan asks whether there is a key
    return project


def bare(watch: Watch, folder: Path, url: str, items: int) -> Taken:
    """Ask the same with `inspect_ai.eval`."""
    folder.mkdir(parents=True)
    lines = ({"id": f"sum-{n:04d}", "input": f"item {n:04d}: what is 2 + 2?"} for n in range(1, items + 1))
    (folder / "input.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "bare.py").write_text(BARE.replace("MODEL", MODEL))
    command = (sys.executable, "bare.py", str(folder), str(folder / "input.jsonl"), str(AT_ONCE))
    return taken(watch, command, folder, {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{url}/v1"})


def compare_native(folder: Path, repeats: int) -> None:
    """Print what both need for the same requests, each side by turns, medians."""
    watch = Watch()
    found: dict[tuple[str, int], list[Taken]] = {}
    with ModelServer(models=("adder",), other=watch.saw) as server:
        for number in range(repeats):
            for items in (FEW, MANY):
                for name, side in (("tamesu native", native), ("bare Inspect", bare)):
                    one = side(watch, folder / f"{name.split()[0]}-{items}-{number}", server.url, items)
                    found.setdefault((name, items), []).append(one)
    print(f"{MANY} requests, {AT_ONCE} at once, one process each, median of {repeats}")
    heads = ("first req. s", "its CPU s", "first item s", "its CPU s", "CPU s", "ms/item", "marginal")
    print(f"{'':16}" + "".join(f"{head:>14}" for head in heads))
    rows = {name: _figures(found[name, MANY], found[name, FEW]) for name in ("tamesu native", "bare Inspect")}
    for name, figures in rows.items():
        print(f"{name:16}" + "".join(f"{figure:>14.2f}" for figure in figures))
    ratios = (ours / theirs for ours, theirs in zip(*rows.values(), strict=True))
    print(f"{'ratio':16}" + "".join(f"{ratio:>14.2f}" for ratio in ratios))


def _figures(many: Sequence[Taken], few: Sequence[Taken]) -> tuple[float, ...]:
    cpu, least = (statistics.median(one.cpu for one in some) for some in (many, few))
    points = [statistics.median(getattr(one, at)[n] for one in many) for at in ("first", "first_item") for n in (0, 1)]
    return (*points, cpu, 1000 * cpu / MANY, 1000 * (cpu - least) / (MANY - FEW))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tamesu-bench-") as place:
        compare_native(Path(place), int(os.environ.get("BENCH_REPEATS", "3")))
