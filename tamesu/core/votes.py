"""What reviews and judgments of one item amount to under the policy of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tamesu.base.canonical import Json, digest
from tamesu.base.model.evidence import Artifact, ItemResult, OutputFile
from tamesu.base.model.judgement import JudgmentFailure, JudgmentRecord, ReviewRecord
from tamesu.base.model.manifest import Acceptance, ModelJudge, Rubric
from tamesu.core.judging.prompts import judge_prompts
from tamesu.core.judging.reply import FORMAT_VERSION

ReviewState = Literal["none", "owed", "disagreement", "done"]


@dataclass(frozen=True, slots=True)
class HumanVerdict:
    """Where human review of an item stands.

    `passed` is None until enough reviews agree, or a disagreement is settled. `owed` counts reviews that are missing,
    `counted` the reviewers whose latest review counts, `stale` records that saw another output or rubric.
    """

    state: ReviewState
    passed: bool | None = None
    owed: int = 0
    counted: tuple[ReviewRecord, ...] = ()
    adjudication: ReviewRecord | None = None
    stale: int = 0


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """Where one judge stands on an item: `passed` is None while judgments are owed; `stale` ones are not counted."""

    judge: str
    gate: bool
    passed: bool | None
    owed: int
    counted: tuple[JudgmentRecord, ...] = ()
    stale: int = 0


NO_REVIEW = HumanVerdict("none")


def reviewed_artifacts(result: ItemResult) -> tuple[Artifact, ...]:
    """Return the artifacts that people and judges look at, in the order of their roles."""
    by_path = {artifact.path: artifact for artifact in result.artifacts}
    match result.output:
        case None:
            return ()
        case OutputFile():
            paths = [result.output.path]
        case files:
            paths = [file.path for file in files]
    return tuple(by_path[path] for path in paths if path in by_path)


def seen_of(result: ItemResult) -> dict[str, str]:
    """Return the SHA-256 of each reviewed artifact by role, as records state what they saw."""
    return {artifact.role: artifact.sha256 for artifact in reviewed_artifacts(result)}


def human_verdict(
    reviews: Sequence[ReviewRecord], seen: Mapping[str, str], rubric: Rubric, acceptance: Acceptance
) -> HumanVerdict:
    """Return what the reviews of a reviewable item amount to.

    The latest review of each reviewer counts, if it saw this output and this rubric. With fewer than required the rest
    is owed; when they differ, acceptance says whether that is a rejection or is decided by an adjudication, which
    counts as long as it settles exactly the reviews that count.
    """
    current = [one for one in reviews if one.seen == dict(seen) and one.rubric == rubric.digest]
    latest = {one.reviewer: one for one in sorted(current, key=lambda one: one.time) if not one.settles}
    counted = tuple(latest[name] for name in sorted(latest))
    stale = len(reviews) - len(current)
    owed = max(0, acceptance.required_reviews_per_item - len(counted))
    if owed:
        return HumanVerdict("owed", None, owed, counted, stale=stale)
    if len({one.passed for one in counted}) == 1:
        return HumanVerdict("done", counted[0].passed, 0, counted, stale=stale)
    if acceptance.on_disagreement == "reject":
        return HumanVerdict("done", False, 0, counted, stale=stale)
    names = {one.name for one in counted}
    settled = [one for one in current if one.settles and set(one.settles) == names]
    if not settled:
        return HumanVerdict("disagreement", None, 0, counted, stale=stale)
    last = max(settled, key=lambda one: one.time)
    return HumanVerdict("done", last.passed, 0, counted, last, stale)


def dimension_answer(verdict: HumanVerdict, names: Sequence[str]) -> bool | None:
    """Return what the reviews that count say of one dimension, by the first of its `names` that they answer.

    An adjudication decides; else everybody must say yes. None while the verdict is, or when nobody was asked that.
    """
    if verdict.passed is None:
        return None
    deciding = verdict.counted if verdict.adjudication is None else (verdict.adjudication,)
    for name in names:
        answers = [one.answers[name].passed for one in deciding if name in one.answers]
        if answers:
            return all(answers)
    return None


def judge_digest(judge: ModelJudge) -> str:
    """Return the digest of what decides a judge's verdict beside rubric and output: model, prompts, parameters.

    Recorded answers count by content; built-in prompts as the texts that they are now.
    """
    system, user = judge_prompts(judge)
    recorded: dict[str, Json] = {} if judge.recordings is None else {"recordings": judge.recordings.sha256}
    return digest(
        {
            "format": FORMAT_VERSION,
            "provider": judge.provider,
            "model": judge.model,
            "system": system.text,
            "user": user.text,
            "parameters": {name: value for name, value in judge.parameters.items() if name != "recordings"},
            **recorded,
        }
    )


def of_now(
    judge: ModelJudge, digest_now: str, record: JudgmentRecord | JudgmentFailure, seen: Mapping[str, str]
) -> bool:
    """Return whether a record is of this judge as it is now, about this output by this rubric."""
    rubric = None if judge.rubric is None else judge.rubric.digest
    return (
        record.call.judge == judge.id
        and record.call.judge_digest == digest_now
        and record.rubric == rubric
        and record.seen == dict(seen)
    )


def judge_verdict(
    judge: ModelJudge, digest_now: str, judgments: Sequence[JudgmentRecord], seen: Mapping[str, str]
) -> JudgeVerdict:
    """Return what a judge, whose `judge_digest` is given, says of an item.

    More than half of its repetitions must pass; the verdict is None while any is owed. Judgments of another output,
    rubric, model, prompt or parameters are stale.
    """
    own = [one for one in judgments if one.call.judge == judge.id]
    current = [one for one in own if of_now(judge, digest_now, one, seen)]
    counted = tuple(sorted(current, key=lambda one: one.number)[: judge.repetitions])
    owed = judge.repetitions - len(counted)
    passed = None if owed else 2 * sum(one.passed for one in counted) > judge.repetitions
    return JudgeVerdict(judge.id, judge.role == "gate", passed, owed, counted, len(own) - len(current))
