"""Results computed again that come out otherwise than they were recorded: what they said, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from tamesu.base.canonical import Json
from tamesu.base.errors import shown
from tamesu.base.model.evidence import ItemResult, ScoreRecord

_MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class Correction:
    """A result.yml that is replaced: the SHA-256 of the old file and of the new one, and what both say.

    `was` is None when the old file does not parse.
    """

    was_sha256: str
    now_sha256: str
    was: ItemResult | None
    now: ItemResult


def corrects(was: ItemResult | None, now: ItemResult) -> bool:
    """Return whether a result stands in for one of the same attempt; a later attempt is no correction."""
    return was is None or was.attempt >= now.attempt


def correction_fields(correction: Correction) -> Mapping[str, Json]:
    """Return what the call log keeps of a result that is replaced."""
    was, now = correction.was, correction.now
    return {
        "item": now.item,
        "attempt": now.attempt,
        "was": {"sha256": correction.was_sha256, **({} if was is None else _kept(was))},
        "now": {"sha256": correction.now_sha256, **_kept(now)},
    }


def correction_lines(corrections: Sequence[Correction], results: int) -> Iterator[str]:
    """Yield how many results of a run differ from what was recorded, then the first of them."""
    if not corrections:
        return
    verb = "differs" if len(corrections) == 1 else "differ"
    yield f"{len(corrections)} of {results} results {verb} from what was recorded; the call log keeps what they said"
    for correction in corrections[:_MOST_TOLD]:
        yield f"{shown(correction.now.item)}: {_difference(correction)}"
    if len(corrections) > _MOST_TOLD:
        yield f"{len(corrections) - _MOST_TOLD} more"


def _kept(result: ItemResult) -> Mapping[str, Json]:
    scores: dict[str, Json] = {
        name: {"value": score.value, "passed": score.passed} for name, score in result.scores.items()
    }
    return {"state": result.state, "attempt": result.attempt, "scores": scores, "cost_usd": result.cost_usd}


def _difference(correction: Correction) -> str:
    was, now = correction.was, correction.now
    if was is None:
        return "its result was damaged"
    told = [f"{was.state} -> {now.state}"] if was.state != now.state else []
    for name in sorted({*was.scores, *now.scores}):
        then, since = _score(was.scores.get(name)), _score(now.scores.get(name))
        if then != since:
            told.append(f"{shown(name)} {then} -> {since}")
    return ", ".join(told) or f"other {', '.join(_other_fields(was, now)) or 'bytes'}"


def _score(score: ScoreRecord | None) -> str:
    if score is None:
        return "none"
    return f"{'no number' if score.value is None else score.value} {'passed' if score.passed else 'not passed'}"


def _other_fields(was: ItemResult, now: ItemResult) -> list[str]:
    return [one.name for one in fields(ItemResult) if getattr(was, one.name) != getattr(now, one.name)]
