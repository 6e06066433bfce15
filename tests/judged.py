"""Reviews and judgments of a project's outputs, written as records, as an import would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tamesu.base.model.evidence import ItemResult
from tamesu.base.model.judgement import NO_REASON, Answer, ReviewRecord
from tamesu.base.model.manifest import Rubric
from tamesu.core.votes import seen_of
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.store.paths import Project
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import dump_sealed
from tests.projects import ShapesProject

Says = Callable[[ItemResult], bool]
TIME = "2026-03-01T10:00:00.000+00:00"


def rubric_of(project: ShapesProject) -> Rubric:
    """Return the rubric that people answer in the first eval of a project."""
    here = Project(project.root)
    evaluation = read_eval(here, here.refs()[0]).evaluation
    assert evaluation is not None and evaluation.policy.human_rubric is not None
    return evaluation.policy.human_rubric


def reviewable(project: ShapesProject) -> dict[Path, ItemResult]:
    """Return the results that have a valid review artifact, by their folder."""
    found = {
        path.parent: read_record(path, ItemResult) for path in sorted(project.eval.glob("runs/*/items/*/result.yml"))
    }
    return {folder: result for folder, result in found.items() if result.outcome.status == "generated"}


def review(
    project: ShapesProject, reviewer: str, says: Says = lambda _: True, time: str = TIME, settles: tuple[str, ...] = ()
) -> list[Path]:
    """Write one review of everything that can be reviewed and return the files."""
    rubric, written = rubric_of(project), []
    for folder, result in reviewable(project).items():
        passed = says(result)
        answer = Answer(True, NO_REASON) if passed else None
        record = ReviewRecord(
            reviewer=reviewer,
            time=time,
            pack="by-hand",
            run_id=result.run_id,
            item=result.item,
            seen=seen_of(result),
            rubric=rubric.digest,
            answers={one.id: answer or Answer(False, one.reason_codes[0]) for one in rubric.dimensions},
            settles=settles,
        )
        path = folder / "reviews" / f"{reviewer}--{time.replace(':', '').replace('+0000', 'Z')}.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(dump_sealed(record))
        written.append(path)
    return written
