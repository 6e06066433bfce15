"""The layout of a project: files and folders by names that are not read, folders that cannot be listed or named so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef
from tamesu.core.naming import id_fault
from tamesu.edge.store.paths import Project

# Folders, and what stands in them for a name that is read.
_LEVELS: Mapping[str, Mapping[str, str]] = {
    "config": {"config.yml": "config.yaml", "models.yaml": "models.yml"},
    "cases": {},
    "cases/*": {
        "case.yaml": "case.yml",
        "publication.yaml": "publication.yml",
        "dataset": "datasets",
        "experiment": "experiments",
    },
    "cases/*/datasets": {},
    "cases/*/datasets/*": {"dataset.yaml": "dataset.yml"},
    "cases/*/experiments": {},
    "cases/*/experiments/*": {"eval": "evals"},
    "cases/*/experiments/*/evals": {},
    "cases/*/experiments/*/evals/*": {"eval.yaml": "eval.yml"},
}


def layout_findings(project: Project) -> Iterator[Finding]:
    """Yield what is wrong with the names of a project's files and folders, nothing of which is opened."""
    for pattern, misnames in _LEVELS.items():
        for folder in sorted(project.root.glob(pattern)):
            if folder.is_dir() and not folder.name.startswith("."):
                yield from _listed(project, folder, misnames)
    for case in project.cases():
        yield from _named(project.relative(project.case(case)), "case")
    for ref in project.experiments():
        if (project.experiment(ref) / "evals").is_dir():
            yield from _named(project.relative(project.experiment(ref)), "experiment")
    for each in project.refs():
        yield from eval_layout(project, each)


def eval_layout(project: Project, ref: EvalRef) -> Iterator[Finding]:
    """Yield what is wrong with the names of an eval's folder, of those around it, and of what lies in it."""
    folder = project.eval(ref).folder
    experiment = folder.parent.parent
    for path, kind in ((experiment.parent.parent, "case"), (experiment, "experiment"), (folder, "eval")):
        yield from _named(project.relative(path), kind)
    yield from _listed(project, folder, _LEVELS["cases/*/experiments/*/evals/*"])


def config_layout(project: Project) -> Iterator[Finding]:
    """Yield the files of `config/` that are not read because of their names."""
    if project.config.parent.is_dir():
        yield from _listed(project, project.config.parent, _LEVELS["config"])


def _listed(project: Project, folder: Path, misnames: Mapping[str, str]) -> Iterator[Finding]:
    try:
        with os.scandir(folder) as entries:
            present = sorted(entry.name for entry in entries)
    except OSError as error:
        message, fix = f"cannot be listed: {error.strerror}", "correct the permissions of the folder"
        yield Finding(project.relative(folder), 1, 1, "error", "file/unreadable", message, fix)
        return
    for name in present:
        wanted = _wanted(name, misnames)
        if wanted is not None:
            fix = f"rename it to {wanted}"
            if wanted in present:
                fix = f"move what counts to {wanted} and delete it"
            yield Finding(project.relative(folder / name), 1, 1, "error", "file/misnamed", "is not read", fix)


def _wanted(name: str, misnames: Mapping[str, str]) -> str | None:
    """Return the name under which a file would be read; None for one that is read, or is something else."""
    if name in misnames.values():
        return None
    lower = name.lower()
    return lower if lower in misnames.values() else misnames.get(lower)


def _named(label: str, kind: str) -> Iterator[Finding]:
    fault = id_fault(kind, label.rpartition("/")[2])
    if fault is not None:
        yield Finding(label, 1, 1, "error", fault.rule, fault.message, fault.fix)
