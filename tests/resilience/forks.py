"""Jobs of the workflow in forked processes that die, or fail, at a chosen step.

One server process per test module imports everything once; each job is a fork of it, so a real SIGKILL at
any line costs a tenth of a second instead of five. Run as a module this file is that server.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.projects import ROOT, Done, ShapesProject

_PATIENCE = 300.0


@dataclass(frozen=True)
class Strike:
    """What happens at the nth call of a function, and `always` at every later one.

    `kill` ends the process, `full` raises ENOSPC, `truncate` cuts every log below the project to half.
    """

    target: str  # module:function or module:Class.method
    when: str = "before"
    nth: int = 1
    action: str = "kill"
    always: bool = False


class Forks:
    """The server that forks jobs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.resilience.forks"],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("INSPECT_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def job(self, project: ShapesProject, *arguments: str, strike: Strike | None = None) -> Done:
        """Run `tamesu <arguments>` in a fork; a code below zero is the signal that ended it."""
        self._number += 1
        base = self._folder / f"job-{self._number:03d}"
        order = {
            "root": str(project.root),
            "arguments": list(arguments),
            "base": str(base),
            "strike": None if strike is None else asdict(strike),
        }
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        assert answer, "the server of forked jobs is gone"
        out, err = (Path(f"{base}.{kind}").read_text(errors="replace") for kind in ("out", "err"))
        return Done(json.loads(answer), out, err)

    def work_off(self, project: ShapesProject, stage: str = "", strike: Strike | None = None) -> list[Done]:
        """Do what one invocation does: plan, then freeze, execute and ingest each launch, up to a failure.

        `strike` hits the job of that stage.
        """
        planned = self.job(project, "plan-workflow")
        assert planned.code == 0, planned.err
        plan = json.loads(planned.out)
        done: list[Done] = []
        for launch in plan["launches"]:
            for verb in ("freeze", "execute", "ingest"):
                receipt = str(project.path(f".tamesu/receipts/{verb}-{launch}"))
                arguments = (verb, launch, "--plan", plan["file"], "--receipt", receipt)
                done.append(self.job(project, *arguments, strike=strike if verb == stage else None))
                if done[-1].code != 0:
                    return done
        return done

    def close(self) -> None:
        if self._server.stdin is not None:
            self._server.stdin.close()
        try:
            self._server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(timeout=10)
        if self._server.stdout is not None:
            self._server.stdout.close()


_root = Path()


# --- the server ------------------------------------------------------------------------------------------


def _serve() -> None:
    for name in ("inspect_ai", "tamesu.cli.main", "tamesu.edge.backends.inspect.attempt", "tamesu.stages.workflow"):
        importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(f"{_forked(json.loads(line))}\n")
        sys.stdout.flush()


def _forked(order: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        _be_the_job(order)
    deadline = time.monotonic() + _PATIENCE
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


def _be_the_job(order: dict[str, Any]) -> None:
    global _root
    code = 70
    try:
        os.setsid()
        for number, kind in ((1, "out"), (2, "err")):
            handle = os.open(f"{order['base']}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(handle, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(order["root"])
        _root = Path(order["root"])
        if order["strike"] is not None:
            _prepare(Strike(**order["strike"]))
        code = _run(order["arguments"])
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str]) -> int:
    if arguments == ["plan-workflow"]:
        return _plan()
    from tamesu.cli.main import main

    sys.argv = ["tamesu", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _plan() -> int:
    from tamesu.core.planning import Grouping, Retries
    from tamesu.edge.store.paths import find_project
    from tamesu.stages.plan_file import save_plan
    from tamesu.stages.workflow import make_workflow_plan

    project = find_project(Path.cwd())
    plan = make_workflow_plan(project, project.refs(), Grouping.BATCHED, Retries.BOUNDED, 1e12)
    print(json.dumps({"file": str(save_plan(project, plan)), "launches": [launch.id for launch in plan.launches]}))
    return 0


def _prepare(strike: Strike) -> None:
    module, _, path = strike.target.partition(":")
    holder: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        holder = getattr(holder, parent)
    setattr(holder, name, _struck(getattr(holder, name), strike))


def _struck(original: Callable[..., Any], strike: Strike) -> Callable[..., Any]:
    calls = 0

    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        due = calls == strike.nth or (strike.always and calls > strike.nth)
        if due and strike.when == "before":
            _hit(strike.action)
        result = original(*arguments, **named)
        if due and strike.when == "after":
            _hit(strike.action)
        return result

    return call


def truncate_logs(root: Path) -> None:
    """Cut every log of an attempt under way to half its bytes."""
    for log in root.glob("cases/*/experiments/*/evals/*/runs/*/inspect/attempt-*/logs/*.eval"):
        os.truncate(log, log.stat().st_size // 2)


def _hit(action: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "truncate":
        return truncate_logs(_root)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


if __name__ == "__main__":
    _serve()
