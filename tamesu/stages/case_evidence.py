"""What the page of a case is made from, and its digest: manifests, READMEs, evidence, analyses, closings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tamesu.base.canonical import Json, digest, digest_bytes
from tamesu.base.errors import InvalidDocument, TamesuError
from tamesu.base.model.manifest import EvalRef
from tamesu.core.planning import Grouping, Retries
from tamesu.core.report.study.design import make_design
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.documents.reading import Reading, Shelf
from tamesu.edge.documents.schemas import DocumentKind
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import Planned, plan_eval
from tamesu.stages.summary import closing_digest, evidence_digest

PAGE_VERSION = 1  # raised when the same evidence yields another page


@dataclass(frozen=True, slots=True)
class CaseEval:
    """One eval of a case: `planned` is None when it does not read, and `problems` say why.

    `measured` is the digest that an analysis is bound to, `analysis` and `closing` are files as they lie there. Of a
    case that holds reports alone, `reports` are leaderboard.md and evaluation-report.md; None for any other.
    """

    ref: EvalRef
    planned: Planned | None
    problems: tuple[str, ...]
    evidence: str | None
    measured: str | None
    analysis: bytes | None
    closing: bytes | None
    reports: tuple[bytes | None, bytes | None] | None = None


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """A case as it lies on disk; `readmes` holds its own under the empty name, those of experiments under theirs."""

    case: str
    manifest: Mapping[str, Json]
    problems: tuple[str, ...]
    readmes: Mapping[str, bytes | None]
    evals: tuple[CaseEval, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of all that the page of the case is made from."""
        return digest(
            {
                "page": PAGE_VERSION,
                "case": [self.case, dict(self.manifest), list(self.problems)],
                "readmes": {name: _known(content) for name, content in self.readmes.items()},
                "evals": [_counted(one) for one in self.evals],
            }
        )


def read_case(
    project: Project, case: str, cache: DigestCache, shelf: Shelf, known: Mapping[EvalRef, Planned] | None = None
) -> CaseEvidence:
    """Return a case with all that lies in it; evals that were planned already (`known`) are not planned again.

    What is wrong with an eval is told in its place, so that a page can be made at every stage.
    """
    reading = Reading(project.root, shelf)
    document = reading.shared("case", project.case_file(case), lambda own, path: own.document(path, DocumentKind.CASE))
    value = document.value if document is not None and isinstance(document.value, dict) else {}
    experiments = [ref for ref in project.experiments() if ref.case == case]
    readmes = {"": _content(project, project.case(case) / "README.md")}
    readmes |= {ref.experiment: _content(project, project.experiment(ref) / "README.md") for ref in experiments}
    problems = tuple(str(one) for one in sorted(reading.told()) if one.severity == "error")
    evals = [_eval(project, ref, cache, shelf, (known or {}).get(ref)) for ref in project.refs() if ref.case == case]
    evals += [_reported(project, ref) for ref in project.reported_refs(case)]
    return CaseEvidence(case, value, problems, readmes, tuple(evals))


def _reported(project: Project, ref: EvalRef) -> CaseEval:
    paths = project.eval(ref)
    reports = _content(project, paths.leaderboard), _content(project, paths.report)
    return CaseEval(ref, None, (), None, None, _content(project, paths.analysis), None, reports)


def _eval(project: Project, ref: EvalRef, cache: DigestCache, shelf: Shelf, planned: Planned | None) -> CaseEval:
    paths = project.eval(ref)
    files = _content(project, paths.analysis), _content(project, paths.closing)
    try:
        planned = planned or plan_eval(project, ref, Grouping.BATCHED, Retries.BOUNDED, cache, shelf)
        evidence, measured = (make(project, planned, cache) for make in (evidence_digest, closing_digest))
    except InvalidDocument as error:
        found = [str(one) for one in read_eval(project, ref, shelf).findings if one.severity == "error"]
        return CaseEval(ref, None, tuple(found or [str(error)]), None, None, *files)
    except (TamesuError, OSError) as error:
        return CaseEval(ref, None, (named_in_project(project, str(error)),), None, None, *files)
    return CaseEval(ref, planned, (), evidence, measured, *files)


def named_in_project(project: Project, line: str) -> str:
    """Return a line without the folder of the project, which is no business of those who are shown a page."""
    return line.replace(f"{project.root}/", "")


def _content(project: Project, path: Path) -> bytes | None:
    """Return a file of the project; one that a link leads out of it is none."""
    try:
        return path.read_bytes() if path.resolve().is_relative_to(project.root) else None
    except (OSError, RuntimeError):
        return None


def _known(content: bytes | None) -> Json:
    return None if content is None else digest_bytes(content)


def _counted(one: CaseEval) -> Json:
    read: list[Json] = [] if one.reports is None else [_known(report) for report in one.reports]
    if one.planned is not None:
        plan, evaluation = one.planned.plan, one.planned.evaluation
        read = [
            digest(msgspec.to_builtins(make_design(evaluation, one.planned.matrix))),
            digest([[item.id, item.input, item.expected] for item in evaluation.dataset.items]),
            [slot.exposure_usd if slot.spec.bounded else None for slot in plan.slots],
            _versions(one.planned),
        ]
    return [str(one.ref), list(one.problems), one.evidence, _known(one.analysis), _known(one.closing), read]


def _versions(planned: Planned) -> list[Json]:
    """What other runs on disk were executed with stands in their records, which the evidence does not pin."""
    return [[record.run_id, record.started, record.ended] for record in planned.records]
