"""The native backend as the stages see it; Inspect is imported only where a live model is asked."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from types import FrameType

from tamesu.base.errors import FrameworkFault, LogRefused
from tamesu.base.model.endpoint import ImportFinding, ProbeFinding
from tamesu.base.model.evidence import Fault
from tamesu.base.model.plan import RunSpec
from tamesu.core.identity import partition_digest
from tamesu.edge.backends.native.desk import ItemDesk
from tamesu.edge.backends.native.journal import Closed, Opened, read_journal, write_line
from tamesu.edge.backends.native.questions import questions
from tamesu.edge.backends.native.reading import read_log
from tamesu.edge.backends.native.voices import voice_of
from tamesu.edge.backends.protocol import AttemptRequest, ClosedLog, LogReading
from tamesu.edge.credentials import Access
from tamesu.edge.providers.isolation import isolate
from tamesu.edge.providers.work import work_off
from tamesu.edge.store.paths import RunPaths


class NativeBackend:
    """Asks each item once, a bounded number at a time."""

    def isolate(self, workdir: Path) -> None:
        isolate(workdir)
        signal.signal(signal.SIGTERM, _terminate)

    def import_task(self, spec: RunSpec, paths: RunPaths) -> ImportFinding:  # noqa: ARG002
        return ImportFinding(ok=True)  # there is no task to import

    def probe(self, spec: RunSpec, access: Access, wire: Path) -> ProbeFinding:
        from tamesu.edge.providers.probe import probe

        return probe(spec, access, wire)

    def execute(self, request: AttemptRequest) -> Fault | None:
        isolate(request.workdir)
        journal, spec = request.paths.journal(request.attempt), request.spec
        opened = Opened(
            run_id=spec.run_id,
            attempt=request.attempt,
            identity_version=spec.identity.version,
            generation=dict(spec.identity.generation),
            recorded=spec.provider == "replay",
        )
        write_line(journal, opened)
        received = asyncio.run(_ask_all(request))
        # whoever closes the attempt sees from this line that it was interrupted
        write_line(journal, Closed("cancelled" if received else "success"))
        return None

    def close_log(self, request: AttemptRequest) -> ClosedLog:
        path = request.paths.journal(request.attempt)
        if not path.exists():
            return ClosedLog(None, None, in_flight_known=True)
        try:
            return ClosedLog(path, read_journal(path).status, in_flight_known=True)
        except FrameworkFault as error:
            return ClosedLog(path, None, False, Fault("CorruptLog", str(error)))

    def remove_survivors(self, request: AttemptRequest) -> None:
        """One call per item starts no container."""

    def read_log(self, path: Path) -> LogReading:
        return read_log(path)

    def check_identity(self, path: Path, request: AttemptRequest) -> None:
        journal, spec = read_journal(path), request.spec
        if (journal.opened.run_id, journal.opened.attempt) != (spec.run_id, request.attempt):
            raise LogRefused(f"{path}: is of attempt {journal.opened.attempt} of run {journal.opened.run_id}")
        if partition_digest(journal.opened.generation) != spec.identity.generation_digest:
            raise LogRefused(f"{path}: its generation map does not yield the identity of {spec.run_id}")
        for item, begun in journal.begun.items():
            if spec.sample_digests.get(item) != begun.prompt:
                raise LogRefused(f"{path}: item '{item}' was asked with another prompt than the run's")


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """Take SIGTERM down the path of SIGINT where no call is in flight."""
    raise KeyboardInterrupt


async def _ask_all(request: AttemptRequest) -> int:
    return await work_off(questions(request), request.spec.concurrency, ItemDesk(request, voice_of(request)))
