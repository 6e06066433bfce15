"""What a judge owes on one output, and how much of that is asked for now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamesu.base.model.judgement import ItemJudged, JudgmentFailure
from tamesu.base.model.manifest import ModelJudge
from tamesu.core.votes import JudgeVerdict, judge_verdict, of_now

UNAVAILABLE = "ProviderUnavailable"
REFUSED = "ProviderRefused"
DRIFT = "Drift"
TRUNCATED = "Truncated"
FILTERED = "Filtered"
EMPTY = "Empty"
NOT_RECORDED = "NotRecorded"
NOT_SHOWABLE = "OutputNotShowable"
TOO_LARGE = "OutputTooLarge"
CHANGED = "OutputChanged"

# What the next call of the command may ask again by itself: it says nothing about judge or output.
RETRYABLE = frozenset({UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class Owed:
    """How a judge stands on an output: its verdict, how many calls are due now, how many were made as it is now."""

    verdict: JudgeVerdict
    askable: int
    made: int


def owed_of(
    judge: ModelJudge,
    digest_now: str,
    judged: ItemJudged,
    seen: Mapping[str, str],
    max_attempts: int,
    again: bool = False,
) -> Owed:
    """Return what a judge, whose `judge_digest` is given, owes on an output.

    A verdict that is owed stays so; but a failure that would repeat itself uses it up, and so do `max_attempts` that
    may not, until it is asked for `again`.
    """
    verdict = judge_verdict(judge, digest_now, judged.judgments, seen)
    failures = [one for one in judged.failures if of_now(judge, digest_now, one, seen)]
    spent = 0 if again else used_up(failures, max_attempts)
    made = len(failures) + sum(of_now(judge, digest_now, one, seen) for one in judged.judgments)
    return Owed(verdict, max(0, verdict.owed - spent), made)


def used_up(failures: list[JudgmentFailure], max_attempts: int) -> int:
    """Return for how many verdicts these failures are final."""
    passing = sum(one.fault.type in RETRYABLE for one in failures)
    return len(failures) - passing + passing // max_attempts
