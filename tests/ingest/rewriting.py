"""Real logs altered with Inspect's own writer, their attempt record adjusted so that only the content is wrong."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import yaml
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log

from tamesu.base.canonical import digest_bytes
from tests.ingest.lab import log_path, the_run
from tests.projects import ShapesProject


def rewrite_log(path: Path, change: Callable[[EvalLog], None]) -> None:
    """Read a whole log, change it in place, and write it where it was."""
    log = read_eval_log(str(path))
    change(log)
    path.unlink()
    write_eval_log(log, str(path))
    assert zipfile.is_zipfile(path)


def rewrite_run(project: ShapesProject, change: Callable[[EvalLog], None], number: int = 1) -> None:
    """Change the log of an attempt and pin the changed bytes in the attempt's record."""
    rewrite_log(log_path(project, number), change)
    pin(the_run(project), number)


def pin(run: Path, number: int = 1) -> None:
    """Make the attempt's record name the log that lies there now."""
    record = run / "attempts" / f"{number:02d}.yml"
    value = yaml.safe_load(record.read_bytes())
    value["sha256"] = digest_bytes((run / "inspect" / f"attempt-{number:02d}.eval").read_bytes())
    record.write_text(yaml.safe_dump(value, sort_keys=False))


def without(*items: str) -> Callable[[EvalLog], None]:
    """Leave samples out of a log."""

    def change(log: EvalLog) -> None:
        log.samples = [sample for sample in log.samples or [] if str(sample.id) not in items]

    return change


def twice(item: str, epoch: int) -> Callable[[EvalLog], None]:
    """Add a copy of a sample to a log, under the given epoch."""

    def change(log: EvalLog) -> None:
        samples = log.samples or []
        found = next(sample for sample in samples if sample.id == item)
        log.samples = [*samples, found.model_copy(update={"epoch": epoch})]

    return change


def renamed(item: str, name: str) -> Callable[[EvalLog], None]:
    """Give a sample of a log another ID."""

    def change(log: EvalLog) -> None:
        for sample in log.samples or []:
            if sample.id == item:
                sample.id = name

    return change
