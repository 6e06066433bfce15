"""Freeze: from a planned run to the files that its execution reads, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import ChangedSincePlan, EvidenceError, LogAbsent, Refused
from tamesu.base.model.plan import FrozenDataset, RunSpec, SourceCopy
from tamesu.core.freeze import dataset_bytes
from tamesu.core.tasks import IMAGES
from tamesu.edge.providers.recordings import Cell, parse_recordings
from tamesu.edge.store.files import write_atomic
from tamesu.edge.store.paths import Project, RunPaths


def freeze_run(project: Project, spec: RunSpec, dataset: FrozenDataset) -> None:
    """Write the run's private folder: sources, recordings, input.jsonl, and the resolved run last.

    A second time it only adds what is missing; judgement stays what it was when the run started, while prices,
    concurrency and max_attempts are those of now. Raises ChangedSincePlan when a file changed since it was
    planned, Refused when what was frozen before is not what would be frozen now.
    """
    run = project.eval(spec.ref).run(spec.run_id)
    write_atomic(run.private / ".gitignore", b"*\n")
    for source in spec.executed:
        _copy(project, source, run.sources / source.target)
    for picture in spec.pictures:
        _copy(project, picture, run.sent_pictures / picture.target)
    if spec.recordings is not None:
        _copy(project, spec.recordings, run.recordings)
        if spec.task == IMAGES:
            _copy_recorded_pictures(project, spec, spec.recordings, run)
    for role in spec.roles:
        if role.recordings is not None:
            _copy(project, role.recordings, run.role_recordings(role.role))
    _keep(run.dataset, dataset_bytes(dataset))
    if run.spec.exists():
        started = read_spec(run)
        spec = replace(spec, policy=started.policy, identity=started.identity)
    write_atomic(run.spec, msgspec.json.encode(spec))


def _copy(project: Project, source: SourceCopy, target: Path) -> None:
    content = (project.root / source.path).read_bytes()
    if digest_bytes(content) != source.sha256:
        raise ChangedSincePlan(f"{source.path}: changed while the run was being frozen; start again")
    _keep(target, content)


def _copy_recorded_pictures(project: Project, spec: RunSpec, source: SourceCopy, run: RunPaths) -> None:
    """Copy the pictures that the recorded answers of a run hold."""
    recordings = parse_recordings(run.recordings.read_bytes(), source.path)
    folder = PurePosixPath(source.path).parent
    for picture in recordings.pictures(spec.items, Cell(spec.model, spec.arm, spec.repetition)):
        path = (folder / picture.file).as_posix()
        _copy(project, SourceCopy(path, picture.sha256, picture.sha256), run.recorded_pictures / picture.sha256)


def _keep(target: Path, content: bytes) -> None:
    """Write a frozen file once; what lies there already must be the same."""
    if not target.exists():
        write_atomic(target, content)
    elif target.read_bytes() != content:
        raise Refused(f"{target}: is not what this run would freeze now; put it back or remove the file")


def read_spec(run: RunPaths) -> RunSpec:
    """Return the run as it was resolved when it was frozen.

    Raises LogAbsent in a clone or an unpacked package, which carry no private folder.
    """
    if not run.spec.exists():
        raise LogAbsent("its log and frozen dataset are not here (a clone or package); results stand as recorded")
    try:
        return msgspec.json.decode(run.spec.read_bytes(), type=RunSpec)
    except msgspec.DecodeError as error:
        raise EvidenceError(f"{run.spec}: is damaged ({error}); remove it to freeze the run again") from None


def frozen_spec(run: RunPaths) -> RunSpec | None:
    """Return the run as it was frozen, None when that cannot be read."""
    try:
        return read_spec(run)
    except (LogAbsent, EvidenceError):
        return None
