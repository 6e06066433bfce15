"""List: what a project holds, cases to evals, as its manifests say. Reads no evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import EvalRef, ExperimentRef, Status
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.documents.reading import Reading, Shelf
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import valid


@dataclass(frozen=True, slots=True)
class ListedEval:
    """An eval by its full name, with runs, and items per run. An invalid one does not read; `problem` says why."""

    eval: str
    status: Status | Literal["invalid"]
    task: str | None = None
    question: str | None = None
    runs: int | None = None
    items: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ListedExperiment:
    name: str
    evals: tuple[ListedEval, ...]


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case with its question, or what it says it is about; of one that holds reports alone nothing is planned."""

    name: str
    question: str | None
    experiments: tuple[ListedExperiment, ...]
    problem: str | None = None
    reports_alone: bool = False


def list_cases(project: Project, cases: Iterable[str]) -> tuple[ListedCase, ...]:
    """Return the cases given, with all that lies in them; what they share is read once."""
    shelf = Shelf()
    return tuple(_case(project, case, shelf) for case in cases)


def _case(project: Project, case: str, shelf: Shelf) -> ListedCase:
    reading = Reading(project.root, shelf)
    document = reading.shared("case", project.case_file(case), lambda own, path: own.document(path, DocumentKind.CASE))
    value = document.value if document is not None and isinstance(document.value, dict) else {}
    question = value.get("question") or value.get("description")
    said = str(question) if question else None
    if project.is_reported(case):
        return ListedCase(case, said, (), _first(reading.findings), reports_alone=True)
    experiments = tuple(
        ListedExperiment(ref.experiment, tuple(_eval(project, eval_, shelf) for eval_ in _evals(project, ref)))
        for ref in project.experiments()
        if ref.case == case
    )
    return ListedCase(case, said, experiments, _first(reading.findings))


def _evals(project: Project, within: ExperimentRef) -> Iterable[EvalRef]:
    return (ref for ref in project.refs() if (ref.case, ref.experiment) == (within.case, within.experiment))


def _eval(project: Project, ref: EvalRef, shelf: Shelf) -> ListedEval:
    try:
        evaluation, matrix = valid(read_eval(project, ref, shelf))
    except InvalidDocument as error:
        return ListedEval(str(ref), "invalid", problem=str(error))
    items = max((len(spec.items) for spec in matrix.runs), default=0)
    return ListedEval(str(ref), evaluation.status, evaluation.task, evaluation.question, len(matrix.runs), items)


def _first(findings: Iterable[Finding]) -> str | None:
    errors = sorted(finding for finding in findings if finding.severity == "error")
    return str(errors[0]) if errors else None
