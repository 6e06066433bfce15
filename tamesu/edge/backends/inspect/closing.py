"""Bringing the log of an attempt to its final place, whole or recovered."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from inspect_ai.log import RecoveryNotAvailable, read_eval_log, recover_eval_log

from tamesu.base.model.evidence import Fault
from tamesu.edge.backends.inspect.log_bounds import check_header
from tamesu.edge.backends.protocol import AttemptRequest, ClosedLog
from tamesu.edge.store.files import sync_folder


def close_log(request: AttemptRequest) -> ClosedLog:
    """Move the attempt's log into its run, first adding what only Inspect's buffer holds after a death.

    Idempotent: a log that already lies at its final place stays as it is.
    """
    target = request.paths.log(request.attempt)
    if target.exists():
        return _described(target)
    logs = sorted((request.workdir / "logs").glob("*.eval"))
    if not logs:
        return ClosedLog(None, None, in_flight_known=True)
    source = logs[0]
    try:
        check_header(source)
        status = read_eval_log(str(source), header_only=True).status
    except Exception as error:
        return _moved(source, target, Fault("CorruptLog", f"the log cannot be read: {error}"))
    if status != "started":
        source.replace(target)
        sync_folder(target.parent)
        return ClosedLog(target, status, in_flight_known=True)
    return _recover(request, source, target)


def _moved(source: Path, target: Path, fault: Fault) -> ClosedLog:
    source.replace(target)
    return ClosedLog(target, None, in_flight_known=False, error=fault)


def _recover(request: AttemptRequest, source: Path, target: Path) -> ClosedLog:
    """Merge flushed samples with the buffer that lies in the attempt's own data folder."""
    before = os.environ.get("XDG_DATA_HOME")
    os.environ["XDG_DATA_HOME"] = str(request.workdir / "home" / "data")
    temporary = target.with_suffix(".recovering")
    try:
        temporary.unlink(missing_ok=True)
        recover_eval_log(str(source), output=str(temporary), cleanup=False)
        known = True
    except RecoveryNotAvailable:
        source.replace(temporary)
        known = False
    finally:
        if before is None:
            del os.environ["XDG_DATA_HOME"]
        else:
            os.environ["XDG_DATA_HOME"] = before
    temporary.replace(target)
    sync_folder(target.parent)
    return ClosedLog(target, "started", in_flight_known=known)


def _described(target: Path) -> ClosedLog:
    if not zipfile.is_zipfile(target):
        return ClosedLog(target, None, False, Fault("CorruptLog", "the log is no readable .eval file"))
    try:
        check_header(target)
        status = read_eval_log(str(target), header_only=True).status
    except Exception as error:
        return ClosedLog(target, None, False, Fault("CorruptLog", f"the log cannot be read: {error}"))
    return ClosedLog(target, status, in_flight_known=status != "started")
