"""What a page shows per item: input and expectation, and of each run outputs, verdicts by kind, and what it took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import ItemResult, ScoreRecord
from tamesu.base.model.judgement import Answer
from tamesu.base.model.manifest import Item, MechanicalCheck, Policy
from tamesu.core.checks.picture import judged_problem, judged_value
from tamesu.core.report.checks import named
from tamesu.core.report.figures import count, usd
from tamesu.core.report.summary import failure_reason
from tamesu.core.report.text import clean, clean_lines
from tamesu.core.rows import ItemRow, SlotEvidence
from tamesu.core.votes import HumanVerdict, JudgeVerdict

MOST_INPUT = 2_000  # characters of an item's input or expectation
_MOST_GIST = 140
MOST_SAID = 600  # characters of an explanation, an answer or a note
_ALL_SAID = 3_000_000  # characters of all explanations of an eval
_ITEMS_A_PAGE = 50
_CARDS_A_PAGE = 400

PASS, FAIL, OPEN, PLAIN = "pass", "fail", "open", ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One file of an output: its words, or the number of its picture in the gallery; `note` names the file."""

    role: str
    note: str
    text: str | None = None
    picture: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of evidence: its tone (pass, fail, open or none), its text, and what was said with it."""

    tone: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One kind of evidence about an output, never blended with another."""

    tone: str
    text: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One item in one run; `run` counts from 0. `flags` holds f(ailed), d(isagreement), n(ot accepted), o(wed)."""

    run: int
    tone: str
    state: str
    flags: str
    outputs: tuple[Shown, ...]
    scorers: Verdict
    judges: Verdict
    people: Verdict
    accepted: Line
    took: str
    error: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One item with a card per run; `expected` is for the reader, the model never saw it.

    `gist` is the input in one line, `tally` sums the cards up.
    """

    item: str
    gist: str
    input: str
    expected: str | None
    tally: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class BookRun:
    """A run as cards name it."""

    model: str
    arm: str
    repetition: int
    run_id: str


@dataclass(frozen=True, slots=True)
class Book:
    """The evidence of an eval item by item, so many items a page."""

    per_page: int
    runs: tuple[BookRun, ...]
    entries: tuple[Entry, ...]

    @property
    def pages(self) -> int:
        return -(-len(self.entries) // self.per_page)

    @property
    def first_page(self) -> tuple[Entry, ...]:
        return self.entries[: self.per_page]

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.model for run in self.runs))

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.arm for run in self.runs))


Outputs = Mapping[tuple[str, str], tuple[Shown, ...]]


def make_book(
    rows: Sequence[ItemRow], slots: Sequence[SlotEvidence], items: Iterable[Item], policy: Policy, outputs: Outputs
) -> Book:
    """Return the evidence of all planned items in the order of the dataset; `outputs` by run ID and item ID."""
    at = {slot.spec.run_id: index for index, slot in enumerate(slots)}
    results = {slot.spec.run_id: slot.results for slot in slots}
    said = max(80, min(MOST_SAID, _ALL_SAID // max(1, len(rows) * len(policy.mechanical))))
    groups: dict[str, list[Card]] = {}
    for row in rows:
        shown = outputs.get((row.run_id, row.item), ())
        card = _card(row, at[row.run_id], results[row.run_id].get(row.item), shown, policy, said)
        groups.setdefault(row.item, []).append(card)
    entries = tuple(
        Entry(clean(item.id), *_asked(item), _tally(groups[item.id]), tuple(groups[item.id]))
        for item in items
        if item.id in groups
    )
    runs = tuple(BookRun(*_named(slot), clean(slot.spec.run_id)) for slot in slots)
    return Book(max(5, min(_ITEMS_A_PAGE, _CARDS_A_PAGE // max(1, len(runs)))), runs, entries)


def excerpt(text: str, most: int, source: str) -> str:
    """Return the beginning of a text, harmless, and after it how much more `source` holds."""
    left = len(text) - most
    shown = clean_lines(text[:most])
    return shown if left <= 0 else f"{shown}… [{left:,} more characters in {clean(source)}]"


def json_text(value: Json) -> str:
    """Return a value as people read it: text as it is, anything else as indented JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def _tally(cards: Sequence[Card]) -> str:
    """Sum up the cards of an item: acceptance where it is decided, what is open, what failed."""
    tones = [card.accepted.tone for card in cards]
    told = [f"{tones.count(PASS)} of {len(cards)} accepted"] if OPEN not in tones else []
    scored = sum(card.scorers.tone == PASS for card in cards)
    told += [] if told else [f"{scored} of {len(cards)} pass the scorers"]
    for flag, word in (("f", "failed"), ("i", "without a valid output"), ("d", "in disagreement"), ("o", "owed")):
        number = sum(flag in card.flags for card in cards)
        told += [f"{number} {word}"] if number else []
    return ", ".join(told)


def _named(slot: SlotEvidence) -> tuple[str, str, int]:
    spec = slot.spec
    return clean(f"{spec.provider}/{spec.model}"), clean(spec.arm), spec.repetition


def _asked(item: Item) -> tuple[str, str, str | None]:
    text = json_text(item.input)
    only = list(item.input.values()) if isinstance(item.input, dict) else []
    words = only[0] if len(only) == 1 and isinstance(only[0], str) else text
    line = clean(" ".join(words[: 4 * _MOST_GIST].split()))
    gist = f"{line[:_MOST_GIST]}…" if len(line) > _MOST_GIST else line
    expected = None if item.expected is None else excerpt(json_text(item.expected), MOST_INPUT, "the dataset")
    return gist, excerpt(text, MOST_INPUT, "the dataset"), expected


def _card(
    row: ItemRow, run: int, result: ItemResult | None, shown: tuple[Shown, ...], policy: Policy, said: int
) -> Card:
    tone, state = _state(row)
    counted = result if row.state != "owed" else None
    return Card(
        run=run,
        tone=tone,
        state=state,
        flags=_flags(row),
        outputs=shown if counted else (),
        scorers=_scorers(row, counted, policy, said),
        judges=_judges(row.judges),
        people=_people(row.human, policy),
        accepted=_accepted(row),
        took=_took(row, counted),
        error=excerpt(failure_reason(row) or "", MOST_SAID, "result.yml"),
    )


def _state(row: ItemRow) -> tuple[str, str]:
    if row.state == "owed":
        return OPEN, "owed"
    if row.state == "failed":
        return FAIL, "failed" if row.final else "failed, to be asked again"
    if failure_reason(row) is None:
        return PLAIN, "complete"
    withheld = row.outcome_status == "safety_filtered"
    return FAIL, f"complete, {'withheld by a filter' if withheld else 'invalid artifact'}"


def _flags(row: ItemRow) -> str:
    """Return what a card can be found by; an item that came with no valid output is complete, and has not failed."""
    flags = "f" if row.state == "failed" else "i" if failure_reason(row) is not None else ""
    flags += "d" if row.review == "disagreement" else ""
    flags += "n" if row.accepted is False else ""
    return flags + ("o" if row.state == "owed" or row.review_owed or row.judgments_owed else "")


def _scorers(row: ItemRow, result: ItemResult | None, policy: Policy, said: int) -> Verdict:
    if row.mechanical_pass is None or result is None:
        return Verdict(OPEN, "not scored yet")
    lines = tuple(_scorer(check, result.scores.get(check.scorer), said) for check in policy.mechanical)
    return Verdict(*_passing(row.mechanical_pass), lines if row.state == "complete" else ())


def _scorer(check: MechanicalCheck, record: ScoreRecord | None, said: int) -> Line:
    if record is None or record.value is None:
        return Line(FAIL, f"{clean(check.scorer)}: no number")
    judged = judged_value(check, record.metadata)
    value = record.value if judged is None else judged
    said_of_it = record.explanation if judged is None else judged_problem(check, record.metadata)
    passed = value >= check.pass_at
    parts = [part for part in (said_of_it, record.answer and f"answer: {record.answer}") if part]
    detail = excerpt("\n".join(parts), said, "result.yml")
    return Line(PASS if passed else FAIL, f"{named(check)}: {value:.3f}, passes at {check.pass_at:g}", detail)


def _judges(judges: Sequence[JudgeVerdict]) -> Verdict:
    if not judges:
        return Verdict(PLAIN, "none asked")
    gates = [judge for judge in judges if judge.gate]
    lines = tuple(line for judge in judges for line in _judge(judge))
    owed = sum(judge.owed for judge in judges)
    if owed:
        return Verdict(OPEN, f"{count(owed, 'judgment')} owed", lines)
    if not gates:
        return Verdict(PLAIN, "screening only", lines)
    return Verdict(*_passing(all(judge.passed for judge in gates)), lines)


def _judge(judge: JudgeVerdict) -> Iterator[Line]:
    role = "gate" if judge.gate else "screen, does not decide"
    passes = sum(one.passed for one in judge.counted)
    told = "owed" if judge.passed is None else "passed" if judge.passed else "not passed"
    tone = OPEN if judge.passed is None else PASS if judge.passed else FAIL
    recorded = ", recorded" if any(one.call.recorded for one in judge.counted) else ""
    stale = f"; {judge.stale} stale, not counted" if judge.stale else ""
    text = f"{clean(judge.judge)} ({role}{recorded}): {told}, {passes} of {len(judge.counted)} judgments pass{stale}"
    details = "\n".join(f"{one.number}: {_answers(one.answers)}" for one in judge.counted)
    yield Line(tone, text, excerpt(details, MOST_SAID, "judgments/"))


def _people(human: HumanVerdict, policy: Policy) -> Verdict:
    if policy.human_rubric is None:
        return Verdict(PLAIN, "not asked for")
    if human.state == "none":
        return Verdict(PLAIN, "nothing to review")
    lines = [
        Line(PASS if one.passed else FAIL, f"{clean(one.reviewer)}, {clean(one.time)}", _said(one.answers, one.note))
        for one in human.counted
    ]
    if human.adjudication is not None:
        one = human.adjudication
        text = f"settled by {clean(one.reviewer)}, {clean(one.time)}"
        lines.append(Line(PASS if one.passed else FAIL, text, _said(one.answers, one.note)))
    if human.stale:
        lines.append(Line(PLAIN, f"{count(human.stale, 'review')} of another output or rubric, not counted"))
    if human.state == "owed":
        return Verdict(OPEN, f"{count(human.owed, 'review')} owed", tuple(lines))
    if human.state == "disagreement":
        return Verdict(OPEN, "reviewers disagree, to be settled", tuple(lines))
    return Verdict(*_passing(human.passed), tuple(lines))


def _said(answers: Mapping[str, Answer], note: str | None) -> str:
    return excerpt("; ".join(part for part in (_answers(answers), note) if part), MOST_SAID, "reviews/")


def _answers(answers: Mapping[str, Answer]) -> str:
    return "; ".join(f"{name}: {_answer(answer)}" for name, answer in answers.items())


def _answer(answer: Answer) -> str:
    told = "yes" if answer.passed else f"no ({answer.reason})"
    return f"{told}, {answer.note}" if answer.note else told


def _passing(passed: bool | None) -> tuple[str, str]:
    return (OPEN, "owed") if passed is None else (PASS, "passed") if passed else (FAIL, "not passed")


def _accepted(row: ItemRow) -> Line:
    if row.accepted is None:
        return Line(OPEN, "acceptance: not decided")
    return Line(PASS, "accepted") if row.accepted else Line(FAIL, "not accepted")


def _took(row: ItemRow, result: ItemResult | None) -> str:
    if result is None:
        return ""
    parts = [count(row.attempts, "attempt")]
    if row.total_tokens is not None:
        parts.append(f"{row.total_tokens:,} tokens ({row.input_tokens or 0:,} in, {row.output_tokens or 0:,} out)")
    parts.append("cost not known" if row.cost_usd is None else f"{usd(row.cost_usd)} USD")
    if row.latency_ms is not None:
        parts.append(f"{row.latency_ms / 1000:.1f} s")
    parts.append(f"stop: {clean(row.stop_reason)}" if row.stop_reason else f"answer: {row.answer}")
    parts += [f"limit hit: {clean(row.limit)}"] if row.limit else []
    parts += [f"missing: {clean(', '.join(row.missing_artifacts))}"] if row.missing_artifacts else []
    parts += [
        f"rejected: {clean(one.path)} ({clean(one.sizes or one.reason)})" for one in result.rejected_artifacts[:3]
    ]
    parts += [f"{result.rejected_calls} tool calls not approved"] if result.rejected_calls else []
    return " · ".join(parts)
