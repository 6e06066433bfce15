"""Review status: where the review of an eval stands on disk now."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.judgement import ReviewRecord
from tamesu.core.review.progress import ReviewProgress, review_progress
from tamesu.core.votes import seen_of
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.judged import read_judged
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.reviewing import Reviewable, human_rubric


def read_progress(project: Project, reviewable: Reviewable, cache: DigestCache) -> ReviewProgress:
    """Return where review stands. Raises UsageError without human review, EvidenceError for a record that is none."""
    rubric = human_rubric(reviewable.evaluation)
    records: dict[tuple[str, str], list[ReviewRecord]] = {}
    for review in _reviews(project, reviewable, cache):
        records.setdefault((review.run_id, review.item), []).append(review)
    seen = {
        place: seen_of(result) for place, result in reviewable.results.items() if result.outcome.status == "generated"
    }
    return review_progress(reviewable.rows, records, seen, rubric)


def _reviews(project: Project, reviewable: Reviewable, cache: DigestCache) -> Iterator[ReviewRecord]:
    """Yield every review of the eval, those of runs that the plan does not name included."""
    for folder in sorted(project.eval(reviewable.evaluation.ref).runs.glob("*--*")):
        for item in read_judged(project, RunPaths(folder), cache).values():
            yield from item.reviews
