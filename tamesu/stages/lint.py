"""Lint: every manifest in a scope, with all findings at once; nothing is executed, nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, UsageError
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.eval_reader import ReadEval, read_eval
from tamesu.edge.documents.layout import layout_findings
from tamesu.edge.documents.promotion_reader import promotion_findings
from tamesu.edge.documents.publication_reader import read_publication
from tamesu.edge.documents.reading import Reading, Shelf
from tamesu.edge.documents.rubric_reader import read_rubric
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.documents.settings_reader import read_setting
from tamesu.edge.store.locks import holder
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.freeze import read_spec


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found, in the order of files and lines, and how many evals were read."""

    findings: tuple[Finding, ...]
    evals: int

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)


def lint_project(project: Project) -> Linted:
    """Check settings, every case, dataset, rubric and eval of a project."""
    return _lint(project, project.refs(), _manifests(project, project.root), tuple(layout_findings(project)))


def lint_eval(project: Project, ref: EvalRef) -> Linted:
    """Check one eval with everything that it refers to."""
    return _lint(project, (ref,), ())


def lint_path(project: Project, path: Path) -> Linted:
    """Check what lies at or below a path; a file that is no manifest stands for the evals that read it.

    Raises UsageError when nothing there can be checked.
    """
    refs = tuple(ref for ref in project.refs() if _covers(path, project.eval(ref).folder))
    others = tuple(_manifests(project, path))
    if not refs and not others:
        refs = tuple(_readers(project, path))
    if not refs and not others:
        raise UsageError(
            f"{project.relative(path)}: no manifest, and no eval reads it; name an eval, a file or a folder"
        )
    below = tuple(found for found in layout_findings(project) if _at_or_below(project.root / found.file, path))
    return _lint(project, refs, others, below)


def _at_or_below(path: Path, scope: Path) -> bool:
    return path == scope or scope in path.parents


def _readers(project: Project, path: Path) -> Iterator[EvalRef]:
    """Yield the evals that read a file, and those beside it that have too many errors to tell what they would read."""
    label = project.relative(path)
    shelf = Shelf()
    for ref in project.refs():
        read = read_eval(project, ref, shelf)
        experiment = project.eval(ref).folder.parent.parent
        if label in read.files or (read.evaluation is None and experiment in path.parents):
            yield ref


def _covers(path: Path, folder: Path) -> bool:
    """A path covers an eval that lies below it, and the eval whose own manifest it is."""
    return path == folder or path in folder.parents or path == folder / "eval.yml"


@dataclass(frozen=True, slots=True)
class _Manifest:
    path: Path
    kind: DocumentKind


_KINDS = (
    ("config/config.yaml", DocumentKind.CONFIG),
    ("config/models.yml", DocumentKind.MODELS),
    ("cases/*/case.yml", DocumentKind.CASE),
    ("cases/*/publication.yml", DocumentKind.PUBLICATION),
    ("cases/*/datasets/*/dataset.yml", DocumentKind.DATASET),
    ("cases/*/experiments/*/rubrics/*.yml", DocumentKind.RUBRIC),
)


def _manifests(project: Project, scope: Path) -> Iterator[_Manifest]:
    for pattern, kind in _KINDS:
        for path in sorted(project.root.glob(pattern)):
            if _at_or_below(path, scope):
                yield _Manifest(path, kind)


def _lint(
    project: Project, refs: Iterable[EvalRef], others: Iterable[_Manifest], names: Iterable[Finding] = ()
) -> Linted:
    shelf = Shelf()
    refs = tuple(refs)
    found: set[Finding] = set(names)
    for manifest in others:
        found.update(_read(project, manifest, shelf))
    for ref in refs:
        read = read_eval(project, ref, shelf)
        found.update(read.findings)
        found.update(_promoted(project, read, shelf))
        found.update(_edited_in_flight(project, ref))
    return Linted(tuple(sorted(found)), len(refs))


def _read(project: Project, manifest: _Manifest, shelf: Shelf) -> tuple[Finding, ...]:
    reading = Reading(project.root, shelf)
    match manifest.kind:
        case DocumentKind.CONFIG | DocumentKind.MODELS:
            reading.shared("setting", project.config, lambda own, path: read_setting(own, path, project.models))
        case DocumentKind.DATASET:
            dataset = reading.shared("dataset", manifest.path, read_dataset)
            if dataset is not None:
                return (*reading.told(), *promotion_findings(reading, manifest.path, dataset))
        case DocumentKind.RUBRIC:
            reading.shared("rubric", manifest.path, read_rubric)
        case DocumentKind.PUBLICATION:
            reading.shared("publication", manifest.path, read_publication)
        case _:
            reading.shared("case", manifest.path, lambda own, path: own.document(path, manifest.kind))
    return reading.told()


def _promoted(project: Project, read: ReadEval, shelf: Shelf) -> tuple[Finding, ...]:
    """Return how the dataset of an eval differs from the promotion that made it."""
    if read.evaluation is None:
        return ()
    dataset = read.evaluation.dataset
    return promotion_findings(Reading(project.root, shelf), project.root / dataset.file, dataset)


def _edited_in_flight(project: Project, ref: EvalRef) -> Iterator[Finding]:
    """Warn of files that a live run was started from and that are different now; the run does not see it."""
    for folder in sorted(project.eval(ref).runs.glob("*--*")):
        who = holder(project.lock(folder.name))
        if who is None:
            continue
        for label in _changed_since(project, RunPaths(folder)):
            message = f"was edited while run {folder.name} is in flight (process {who.pid}); the run uses its own copy"
            fix = "wait for the run, or stop it, before relying on the edit"
            yield Finding(label, 1, 1, "warning", "run/edited-in-flight", message, fix)


def _changed_since(project: Project, run: RunPaths) -> Iterator[str]:
    try:
        started = read_spec(run).identity.content
    except (EvidenceError, OSError):
        return
    for file in started:
        path = project.root / file.path
        if not path.is_file() or digest_bytes(path.read_bytes()) != file.sha256:
            yield file.path
