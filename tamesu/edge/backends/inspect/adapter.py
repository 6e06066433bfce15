"""The Inspect backend as the stages see it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

from tamesu.base.model.endpoint import ImportFinding, ProbeFinding
from tamesu.base.model.evidence import Fault
from tamesu.base.model.plan import RunSpec
from tamesu.edge.backends.protocol import AttemptRequest, ClosedLog, LogReading
from tamesu.edge.credentials import Access
from tamesu.edge.providers.isolation import isolate
from tamesu.edge.store.paths import RunPaths


class InspectBackend:
    """Runs attempts through Inspect; imports it only after the process is isolated."""

    def isolate(self, workdir: Path) -> None:
        isolate(workdir)
        signal.signal(signal.SIGTERM, _terminate)

    def import_task(self, spec: RunSpec, paths: RunPaths) -> ImportFinding:
        from tamesu.edge.backends.inspect.importing import import_task

        return import_task(spec, paths)

    def probe(self, spec: RunSpec, access: Access, wire: Path) -> ProbeFinding:
        from tamesu.edge.providers.probe import probe

        return probe(spec, access, wire)

    def execute(self, request: AttemptRequest) -> Fault | None:
        from tamesu.edge.backends.inspect.attempt import run_attempt
        from tamesu.edge.backends.inspect.containers import projects_written_down
        from tamesu.edge.backends.inspect.progress import watched

        isolate(request.workdir)
        with watched(request), projects_written_down(request.workdir):
            return run_attempt(request)

    def close_log(self, request: AttemptRequest) -> ClosedLog:
        from tamesu.edge.backends.inspect.closing import close_log

        return close_log(request)

    def remove_survivors(self, request: AttemptRequest) -> None:
        from tamesu.edge.backends.inspect.containers import remove_survivors, started_projects

        if request.spec.images or started_projects(request.workdir):
            remove_survivors(request.paths.sources.resolve(), request.workdir)

    def read_log(self, path: Path) -> LogReading:
        from tamesu.edge.backends.inspect.logs import read_log

        return read_log(path)

    def check_identity(self, path: Path, request: AttemptRequest) -> None:
        from tamesu.edge.backends.inspect.log_identity import check_identity

        check_identity(path, request)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """Take SIGTERM down the path of SIGINT, which Inspect ends tidily."""
    if "inspect_ai" in sys.modules:
        signal.raise_signal(signal.SIGINT)
    else:
        raise KeyboardInterrupt
