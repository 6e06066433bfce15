"""Whether answers that came back may become records: everything that is wrong with a file, or the records it yields."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from tamesu.base.errors import shown
from tamesu.base.model.finding import Finding
from tamesu.base.model.judgement import NO_REASON, Answer, ReviewRecord
from tamesu.base.model.manifest import Dimension, Rubric
from tamesu.base.model.review import GivenReview, PackKey, Place, Submission

_MOST_NAMED = 5
_EXPORT_AGAIN = "export a new pack and have it answered"


class Extent(Enum):
    """Whether a file must answer its whole pack."""

    WHOLE = "whole"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class ItemNow:
    """An item as it stands now: what its reviewed artifacts are, or the problem that hides them, and its reviews.

    `counted` are the names of the reviews that count.
    """

    seen: Mapping[str, str] | None
    problem: str | None
    reviews: tuple[ReviewRecord, ...]
    counted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file yields: findings, or records to write; `already` counts entries that were imported before."""

    findings: tuple[Finding, ...]
    records: tuple[ReviewRecord, ...]
    already: int


@dataclass(slots=True)
class _Check:
    """A submission that is being checked against its key, the rubric of now, and the items by entry ID."""

    submission: Submission
    key: PackKey
    rubric: Rubric
    items: Mapping[str, ItemNow]
    findings: list[Finding] = field(default_factory=list)

    def note(self, place: Place, rule: str, message: str, fix: str) -> None:
        label = self.submission.label
        self.findings.append(Finding(label, place.line, place.column, "error", f"responses/{rule}", message, fix))


def check_submission(
    submission: Submission, key: PackKey, rubric: Rubric, items: Mapping[str, ItemNow], time: str, extent: Extent
) -> Checked:
    """Return everything that is wrong with a submission, else the records that are not written yet.

    `items` holds every entry of the key; `time` is that of the records, and must be later than those of every review.
    """
    check = _Check(submission, key, rubric, items)
    known = tuple(_known_reviews(check))
    fresh = [given for given in known if not _already(key, items[given.entry], given)]
    if fresh and key.rubric != rubric.digest:
        message = f"the rubric changed since pack {key.pack} was exported"
        check.note(submission.place, "rubric-changed", message, _EXPORT_AGAIN)
    for given in fresh:
        _check_review(check, given)
    if fresh and extent is Extent.WHOLE:
        _check_whole(check, [given.entry for given in known])
    if check.findings:
        return Checked(tuple(sorted(check.findings)), (), 0)
    records = tuple(_record(check, given, time) for given in fresh)
    return Checked((), records, len(known) - len(fresh))


def _known_reviews(check: _Check) -> Iterator[GivenReview]:
    """Yield the first review of each entry that the pack has."""
    lines: dict[str, int] = {}
    for given in check.submission.reviews:
        if given.entry in lines:
            message = f"entry {given.entry} is answered twice, first in line {lines[given.entry]}"
            check.note(given.place, "repeated-entry", message, "keep one of them")
            continue
        lines[given.entry] = given.place.line
        if given.entry not in check.key.entries:
            message = f"pack {check.key.pack} has no entry '{shown(given.entry)}'"
            check.note(given.place, "unknown-entry", message, _meant(given.entry, check.key.entries))
            continue
        yield given


def _check_whole(check: _Check, answered: Iterable[str]) -> None:
    missing = sorted(set(check.key.entries) - set(answered))
    if not missing:
        return
    named = ", ".join(missing[:_MOST_NAMED]) + (
        f" and {len(missing) - _MOST_NAMED} more" * (len(missing) > _MOST_NAMED)
    )
    message = f"{len(missing)} of {len(check.key.entries)} entries are not answered: {named}"
    check.note(check.submission.place, "incomplete", message, "answer them, or import what there is with --partial")


def _check_review(check: _Check, given: GivenReview) -> None:
    now, entry = check.items[given.entry], check.key.entries[given.entry]
    if now.problem is not None:
        check.note(given.place, "changed-output", f"entry {given.entry}: {now.problem}", "restore the evidence")
    elif now.seen != entry.seen:
        message = f"entry {given.entry}: the output is another one than the reviewer saw"
        check.note(given.place, "changed-output", message, _EXPORT_AGAIN)
    if entry.settles and now.counted != set(entry.settles):
        message = f"entry {given.entry}: other reviews count now than those it decides between"
        check.note(given.place, "other-reviews", message, "export the adjudication again")
    if _imported_before(check.key, now, given):
        message = f"entry {given.entry}: these answers were imported before and replaced since"
        check.note(given.place, "replaced", message, "import the newest file; to change back, export with --all")
    if check.key.rubric == check.rubric.digest:
        _check_answers(check, given)


def _check_answers(check: _Check, given: GivenReview) -> None:
    dimensions = {one.id: one for one in check.rubric.dimensions}
    for name in given.answers.keys() - dimensions.keys():
        message = f"entry {given.entry}: the rubric has no dimension '{shown(name)}'"
        check.note(given.places.get(name, given.place), "unknown-dimension", message, _meant(name, dimensions))
    for name, dimension in dimensions.items():
        place = given.places.get(name, given.place)
        answer = given.answers.get(name)
        if answer is None:
            message = f"entry {given.entry}: dimension '{name}' is not answered"
            check.note(place, "missing-dimension", message, "answer yes or no")
        else:
            _check_reason(check, given, place, dimension, answer)


def _check_reason(check: _Check, given: GivenReview, place: Place, dimension: Dimension, answer: Answer) -> None:
    where = f"entry {given.entry}: dimension '{dimension.id}'"
    codes = dimension.reason_codes
    if answer.passed:
        if answer.reason != NO_REASON:
            message = f"{where} is a yes with the reason '{shown(answer.reason)}'"
            check.note(place, "reason-on-pass", message, "answer no, or leave the reason out")
    elif answer.reason == NO_REASON:
        if codes:
            check.note(place, "reason-missing", f"{where} is a no without a reason", f"give one of {', '.join(codes)}")
    elif answer.reason not in codes:
        check.note(
            place,
            "unknown-reason",
            f"{where} has no reason code '{shown(answer.reason)}'",
            _meant(answer.reason, codes),
        )


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    some = ", ".join(names[:_MOST_NAMED])
    return f"known: {some}{', …' if len(names) > _MOST_NAMED else ''}" if names else "leave it out"


# --- what is there already


def _same_pack(key: PackKey, now: ItemNow) -> list[ReviewRecord]:
    """Return what was imported of a pack about an item, the oldest first."""
    own = [one for one in now.reviews if one.pack == key.pack and one.reviewer == key.reviewer]
    return sorted(own, key=lambda one: one.time)


def _says(record: ReviewRecord, given: GivenReview) -> bool:
    return dict(record.answers) == dict(given.answers) and record.note == given.note


def _already(key: PackKey, now: ItemNow, given: GivenReview) -> bool:
    own = _same_pack(key, now)
    return bool(own) and _says(own[-1], given)


def _imported_before(key: PackKey, now: ItemNow, given: GivenReview) -> bool:
    return any(_says(record, given) for record in _same_pack(key, now)[:-1])


def _record(check: _Check, given: GivenReview, time: str) -> ReviewRecord:
    entry = check.key.entries[given.entry]
    return ReviewRecord(
        reviewer=check.key.reviewer,
        time=time,
        pack=check.key.pack,
        run_id=entry.run_id,
        item=entry.item,
        seen=entry.seen,
        rubric=check.key.rubric,
        answers={one.id: given.answers[one.id] for one in check.rubric.dimensions},
        note=given.note,
        settles=entry.settles,
    )
