"""Review import: answers that came back become records, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tamesu.base.errors import EvidenceError, Refused, UsageError
from tamesu.base.model.finding import Finding
from tamesu.base.model.judgement import NOTHING_JUDGED, ItemJudged, ReviewRecord
from tamesu.base.model.manifest import Eval, EvalRef, Rubric
from tamesu.base.model.review import KeyEntry, PackKey, Submission
from tamesu.core.review.check import Checked, Extent, ItemNow, check_submission
from tamesu.core.votes import human_verdict, seen_of
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.documents.responses_reader import read_responses
from tamesu.edge.documents.yaml_reader import MAX_BYTES
from tamesu.edge.store.digests import DigestCache
from tamesu.edge.store.evidence import inventory_problem
from tamesu.edge.store.files import write_exclusive
from tamesu.edge.store.judged import read_judged
from tamesu.edge.store.locks import held
from tamesu.edge.store.packs import read_key
from tamesu.edge.store.parsed import read_results, read_run_record
from tamesu.edge.store.paths import Project
from tamesu.edge.store.seal import dump_sealed
from tamesu.stages.plan import valid
from tamesu.stages.reviewing import human_rubric

_PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What became of one file: records written, entries that were imported before."""

    label: str
    pack: str
    written: int
    already: int


@dataclass(frozen=True, slots=True)
class Imported:
    """Either findings, and nothing was written, or what became of each file."""

    findings: tuple[Finding, ...]
    files: tuple[ImportedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    """One run as it stands: what was said of its items, and a problem or its items' artifacts."""

    judged: Mapping[str, ItemJudged]
    seen: Mapping[str, Mapping[str, str]]
    problem: str | None = None


def import_responses(
    project: Project, name: str, files: Sequence[Path], extent: Extent, cache: DigestCache
) -> Imported:
    """Write the records that files of answers yield, or return everything that is wrong with any of them.

    Raises UsageError for a file that cannot be read, Refused for an eval that is closed, InvalidDocument for one that
    has errors.
    """
    ref = project.find_ref(name)
    evaluation, _ = valid(read_eval(project, ref))
    rubric = human_rubric(evaluation)
    if evaluation.status == "complete":
        raise Refused(f"{ref}: closed; `tamesu activate {ref} --reopen` first")
    with held(project.review_lock(ref), "the review of this eval", _PATIENCE_SECONDS):
        return _imported(project, evaluation, rubric, _contents(files), extent, cache)


def _contents(files: Sequence[Path]) -> dict[str, bytes]:
    found = {}
    for path in files:
        try:
            found[str(path)] = read_regular_file(path, MAX_BYTES)
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    return found


def _imported(
    project: Project,
    evaluation: Eval,
    rubric: Rubric,
    contents: Mapping[str, bytes],
    extent: Extent,
    cache: DigestCache,
) -> Imported:
    findings: list[Finding] = []
    checked: list[tuple[Submission, Checked]] = []
    packs: dict[str, str] = {}
    for number, (label, content) in enumerate(contents.items()):
        read = read_responses(label, content)
        findings += read.findings
        if read.submission is None:
            continue
        key = _key(project, evaluation.ref, read.submission, packs)
        if isinstance(key, Finding):
            findings.append(key)
            continue
        packs[key.pack] = label
        items = _items(project, evaluation, rubric, key, cache)
        time = _time(items, number)
        checked.append((read.submission, check_submission(read.submission, key, rubric, items, time, extent)))
    findings += [finding for _, one in checked for finding in one.findings]
    if any(finding.severity == "error" for finding in findings):
        return Imported(tuple(findings))
    for _, one in checked:
        for record in one.records:
            _write(project, evaluation.ref, record)
    told = (ImportedFile(sub.label, sub.pack, len(one.records), one.already) for sub, one in checked)
    return Imported(tuple(findings), tuple(told))


def _write(project: Project, ref: EvalRef, record: ReviewRecord) -> None:
    path = project.eval(ref).run(record.run_id).review(record.item, record.reviewer, record.time)
    write_exclusive(path, dump_sealed(record))


def _key(project: Project, ref: EvalRef, submission: Submission, packs: Mapping[str, str]) -> PackKey | Finding:
    """Return the key of the pack that is answered, or why there is none."""

    def finding(rule: str, message: str, fix: str) -> Finding:
        place = submission.place
        return Finding(submission.label, place.line, place.column, "error", f"responses/{rule}", message, fix)

    if submission.pack in packs:
        message = f"pack {submission.pack} is answered in {packs[submission.pack]} as well"
        return finding("pack-twice", message, "import the newer of both alone")
    key = read_key(project.eval(ref), submission.pack)
    if key is not None and key.eval == str(ref):
        return key
    homes = (
        other for other in project.refs() if other != ref and project.eval(other).review_key(submission.pack).exists()
    )
    home = key.eval if key is not None else next(map(str, homes), None)
    if home is not None:
        message = f"pack {submission.pack} is of another eval"
        return finding("other-eval", message, f"`tamesu review import {home} {submission.label}`")
    message = f"no key of pack {submission.pack} is in review/keys of {ref}"
    return finding("unknown-pack", message, "import where it was exported, or bring the key here first")


# --- how the items of a pack stand now


def _items(project: Project, evaluation: Eval, rubric: Rubric, key: PackKey, cache: DigestCache) -> dict[str, ItemNow]:
    runs = {entry.run_id: _run(project, evaluation.ref, entry.run_id, cache) for entry in key.entries.values()}
    return {name: _item(evaluation, rubric, entry, runs[entry.run_id]) for name, entry in key.entries.items()}


def _run(project: Project, ref: EvalRef, run_id: str, cache: DigestCache) -> _Judged:
    """Return how a run stands, whether the plan still names it or not."""
    run = project.eval(ref).run(run_id)
    judged = read_judged(project, run, cache)
    if not run.record.exists():
        return _Judged(judged, {}, "its run is not here")
    try:
        problem = inventory_problem(run, read_run_record(project, run, cache), cache)
        results = {} if problem else read_results(project, run, cache)
    except EvidenceError as error:
        return _Judged(judged, {}, str(error))
    seen = {item: seen_of(result) for item, result in results.items() if result.outcome.status == "generated"}
    return _Judged(judged, seen, problem)


def _item(evaluation: Eval, rubric: Rubric, entry: KeyEntry, run: _Judged) -> ItemNow:
    reviews = run.judged.get(entry.item, NOTHING_JUDGED).reviews
    if run.problem is not None:
        return ItemNow(None, run.problem, reviews)
    seen = run.seen.get(entry.item)
    if seen is None:
        return ItemNow(None, "it has no output to review any more", reviews)
    verdict = human_verdict(reviews, seen, rubric, evaluation.policy.acceptance)
    return ItemNow(seen, None, reviews, frozenset(one.name for one in verdict.counted))


def _time(items: Mapping[str, ItemNow], number: int) -> str:
    """Return a time for the records of a file: now, or after every review there is where the clock was set back.

    The latest review of a reviewer counts, so an answer that came later must not look older.
    """
    now = datetime.now(UTC) + timedelta(microseconds=number)
    known = [_moment(review) for item in items.values() for review in item.reviews]
    latest = max(known, default=now)
    return _stamp(now if latest < now else latest + timedelta(microseconds=number + 1))


def _moment(review: ReviewRecord) -> datetime:
    try:
        moment = datetime.fromisoformat(review.time)
    except ValueError:
        raise EvidenceError(
            f"review {review.name} of item '{review.item}': its time is none; restore the record"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
