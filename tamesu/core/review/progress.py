"""Where review stands: what is owed, what disagrees, what went stale and why, and how far reviewers agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tamesu.base.model.judgement import ReviewRecord
from tamesu.base.model.manifest import Rubric
from tamesu.core.rows import ItemRow

RUBRIC_CHANGED = "rubric changed"
OUTPUT_CHANGED = "output changed"
BOTH_CHANGED = "rubric and output changed"
NOT_REVIEWABLE = "nothing to review there now"


@dataclass(frozen=True, slots=True)
class ReviewerCount:
    """One reviewer: reviews that count, adjudications that decide, records that are stale."""

    reviewer: str
    counted: int
    adjudicated: int
    stale: int


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers on the outputs that both reviewed: how many, and on how many their verdicts agree."""

    first: str
    second: str
    shared: int
    agreed: int

    @property
    def raw(self) -> float:
        """The share of verdicts that agree, from 0 to 1."""
        return self.agreed / self.shared


@dataclass(frozen=True, slots=True)
class StaleCount:
    cause: str
    records: int


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """Review of one eval. `outputs` can be reviewed; `done`, `owed` and `disagreements` add up to them.

    `missing` is how many reviews are owed on the outputs that owe some. `elsewhere` counts records of runs that the
    plan does not name.
    """

    outputs: int
    done: int
    owed: int
    missing: int
    disagreements: int
    stale: tuple[StaleCount, ...]
    reviewers: tuple[ReviewerCount, ...]
    agreement: tuple[PairAgreement, ...]
    elsewhere: int = 0


Records = Mapping[tuple[str, str], Sequence[ReviewRecord]]


def review_progress(
    rows: Sequence[ItemRow], records: Records, seen: Mapping[tuple[str, str], Mapping[str, str]], rubric: Rubric
) -> ReviewProgress:
    """Return where review stands; `records` are all reviews by run ID and item, `seen` what outputs are there now."""
    reviewable = [row for row in rows if row.reviewable]
    planned = {(row.run_id, row.item) for row in rows}
    stale = [
        (record.reviewer, cause)
        for place in planned & records.keys()
        for record in records[place]
        if (cause := _stale_cause(record, seen.get(place), rubric)) is not None
    ]
    return ReviewProgress(
        outputs=len(reviewable),
        done=sum(row.review == "done" for row in reviewable),
        owed=sum(row.review == "owed" for row in reviewable),
        missing=sum(row.human.owed for row in reviewable),
        disagreements=sum(row.review == "disagreement" for row in reviewable),
        stale=tuple(StaleCount(cause, n) for cause, n in _counts(cause for _, cause in stale).items()),
        reviewers=_reviewers(reviewable, [reviewer for reviewer, _ in stale]),
        agreement=_agreement(reviewable),
        elsewhere=sum(len(found) for place, found in records.items() if place not in planned),
    )


def _stale_cause(record: ReviewRecord, seen: Mapping[str, str] | None, rubric: Rubric) -> str | None:
    """Return why a record does not count, None when it does."""
    if seen is None:
        return NOT_REVIEWABLE
    same_output, same_rubric = dict(record.seen) == dict(seen), record.rubric == rubric.digest
    if same_output:
        return None if same_rubric else RUBRIC_CHANGED
    return OUTPUT_CHANGED if same_rubric else BOTH_CHANGED


def _reviewers(rows: Iterable[ItemRow], stale: Sequence[str]) -> tuple[ReviewerCount, ...]:
    rows = list(rows)
    counted = _counts(one.reviewer for row in rows for one in row.human.counted)
    decided = _counts(row.human.adjudication.reviewer for row in rows if row.human.adjudication is not None)
    outdated = _counts(stale)
    names = sorted({*counted, *decided, *outdated})
    return tuple(ReviewerCount(one, counted.get(one, 0), decided.get(one, 0), outdated.get(one, 0)) for one in names)


def _agreement(rows: Sequence[ItemRow]) -> tuple[PairAgreement, ...]:
    """Return each pair that shares outputs; their agreement beyond chance has its one place here."""
    verdicts: dict[str, dict[tuple[str, str], bool]] = {}
    for row in rows:
        for one in row.human.counted:
            verdicts.setdefault(one.reviewer, {})[row.run_id, row.item] = one.passed
    found = []
    for first, second in combinations(sorted(verdicts), 2):
        shared = verdicts[first].keys() & verdicts[second].keys()
        if shared:
            agreed = sum(verdicts[first][place] == verdicts[second][place] for place in shared)
            found.append(PairAgreement(first, second, len(shared), agreed))
    return tuple(found)


def _counts(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
