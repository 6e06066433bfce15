"""The verdict of a judging model: what is asked for, and the one way in which a reply is read as one.

A reply is exactly one JSON object or it is no verdict. Nothing is looked for in prose, so that a draft, a quotation or
an aside can never count; where a reply leaves room for doubt it is a fault, which is kept and never counted.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Fault
from tamesu.base.model.judgement import NO_REASON, Answer
from tamesu.base.model.manifest import Dimension

FORMAT_VERSION = 1  # raised when the same reply would be read otherwise, or another format is asked for
UNSPECIFIED = "unspecified"  # the reason of a fail in a dimension that lists no codes
LONGEST_REPLY = 200_000  # characters

NO_OBJECT = "NotOneObject"
TWO_OBJECTS = "TwoObjects"
TRAILING = "TrailingText"
REPEATED = "RepeatedField"
UNKNOWN_FIELD = "UnknownField"
MISSING = "MissingDimension"
WRONG_TYPE = "WrongType"
UNKNOWN_CODE = "UnknownReason"
COPIED = "CopiedVerdict"

_FENCES = ("```json\n", "```\n")
_FIELDS = frozenset({"pass", "reason", "note"})
_MOST_CANDIDATES = 1000
_WINDOW = 20_000  # characters in which a copied verdict would end


class _Unreadable(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(kind, message)


def verdict_schema(dimensions: Sequence[Dimension]) -> dict[str, Json]:
    """Return the JSON Schema of a verdict; the note comes first, so that a model may think before it decides."""
    return _object({one.id: _dimension_schema(one) for one in dimensions})


def _dimension_schema(dimension: Dimension) -> Json:
    reasons: list[Json] = [NO_REASON, *reasons_of(dimension)]
    return _object(
        {
            "note": {"type": "string"},
            "pass": {"type": "boolean"},
            "reason": {"type": "string", "enum": reasons},
        }
    )


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reasons_of(dimension: Dimension) -> tuple[str, ...]:
    """Return the codes that a fail of a dimension may carry."""
    return dimension.reason_codes or (UNSPECIFIED,)


def verdict_instruction(dimensions: Sequence[Dimension]) -> str:
    """Return what a judge is told about the form of its answer."""
    lines = [
        "Answer with exactly one JSON object and nothing else: no other text, no second object. It has one field per",
        "question, each an object with `note` (at most two sentences of why), `pass` (true for yes, false for no) and",
        f'`reason` ("{NO_REASON}" when it passes, else one of the listed codes):',
    ]
    lines += [f"- {one.id}: {', '.join(reasons_of(one))}" for one in dimensions]
    example = {dimensions[0].id: {"note": "...", "pass": False, "reason": reasons_of(dimensions[0])[0]}}
    return "\n".join([*lines, f"The form is {json.dumps(example, ensure_ascii=False)}, with all questions."]) + "\n"


def read_verdict(reply: str, dimensions: Sequence[Dimension], outputs: Sequence[str]) -> Mapping[str, Answer] | Fault:
    """Return the answers of a reply by dimension, or why it is no verdict.

    White space and invisible characters around the object, and one code fence around all of it, are passed over.
    `outputs` are the judged texts: a verdict that one of them already holds may be a quotation, so it does not count.
    """
    try:
        answers = _answers(_only_object(reply), dimensions)
    except _Unreadable as error:
        return error.fault
    if any(_holds(output, answers, dimensions) for output in outputs):
        return Fault(COPIED, "the judged output holds this very verdict, so the reply may only repeat it")
    return {one.id: answers[one.id] for one in dimensions}


def contradicts(reply: str, answers: Mapping[str, Answer]) -> bool:
    """Return whether a reply is a verdict on these dimensions, and says something else than `answers`.

    A reply that is not read as a verdict now was one by the rules of its time, so it contradicts nothing.
    """
    try:
        said = _only_object(reply)
        found = _answers(said, [Dimension(name, "", _codes_of(said, name)) for name in answers])
    except _Unreadable:
        return False
    return found != dict(answers)


def _codes_of(said: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the code that a reply itself gives, since a record does not hold the codes of its rubric."""
    value = said.get(name)
    reason = value.get("reason") if isinstance(value, dict) else None
    return (reason,) if isinstance(reason, str) and reason not in {NO_REASON, UNSPECIFIED} else ()


def _only_object(reply: str) -> dict[str, Any]:
    if len(reply) > LONGEST_REPLY:
        raise _Unreadable(NO_OBJECT, f"the reply is longer than {LONGEST_REPLY} characters")
    text = _bare(reply)
    value, end = _decoded(text, 0)
    rest = text[end:]
    if rest.strip():
        _second(rest.lstrip())
        raise _Unreadable(TRAILING, "text follows the JSON object")
    return value


def _decoded(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        raise _Unreadable(NO_OBJECT, "the reply is not exactly one JSON object") from None
    if not isinstance(value, dict):
        raise _Unreadable(NO_OBJECT, "the reply is JSON but no object")
    return value, end


def _second(rest: str) -> None:
    """Tell a second object from other text. Raises _Unreadable for one."""
    try:
        _decoded(rest, 0)
    except _Unreadable:
        return
    raise _Unreadable(TWO_OBJECTS, "the reply holds more than one JSON object")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unreadable(REPEATED, "a field of the reply appears twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _bare(reply: str) -> str:
    """Return a reply without what nobody sees at its ends, and without one fence around all of it."""
    text = _trimmed(reply).replace("\r\n", "\n")
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("\n```") and len(text) > len(fence) + 3:
            return _trimmed(text[len(fence) : -4])
    return text


def _trimmed(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _unseen(text[start]):
        start += 1
    while end > start and _unseen(text[end - 1]):
        end -= 1
    return text[start:end]


def _unseen(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cf"


def _answers(value: Mapping[str, Any], dimensions: Sequence[Dimension]) -> dict[str, Answer]:
    known = {one.id: one for one in dimensions}
    for name in value:
        if name not in known:
            raise _Unreadable(UNKNOWN_FIELD, f"the reply answers {_shown(name)}, which the rubric does not ask")
    missing = [name for name in known if name not in value]
    if missing:
        raise _Unreadable(MISSING, f"the reply does not answer {', '.join(missing)}")
    return {name: _answer(one, value[name]) for name, one in known.items()}


def _answer(dimension: Dimension, value: Any) -> Answer:
    where = dimension.id
    if not isinstance(value, dict):
        raise _Unreadable(WRONG_TYPE, f"{where}: is no object")
    for name in value:
        if name not in _FIELDS:
            raise _Unreadable(UNKNOWN_FIELD, f"{where}: holds {_shown(name)}, which is not asked for")
    passed, reason, note = value.get("pass"), value.get("reason"), value.get("note")
    if not isinstance(passed, bool):
        raise _Unreadable(WRONG_TYPE, f"{where}: pass is neither true nor false")
    if not (note is None or isinstance(note, str)):
        raise _Unreadable(WRONG_TYPE, f"{where}: note is no text")
    allowed = (NO_REASON,) if passed else reasons_of(dimension)
    if not isinstance(reason, str) or reason not in allowed:
        said = "a pass" if passed else "a fail"
        raise _Unreadable(
            UNKNOWN_CODE, f"{where}: {_shown(reason)} is no reason of {said}; known: {', '.join(allowed)}"
        )
    return Answer(passed, reason, note or None)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, slots=True)
class _Meaning:
    answers: tuple[tuple[str, bool, str], ...]


def _meaning(answers: Mapping[str, Answer]) -> _Meaning:
    return _Meaning(tuple(sorted((name, one.passed, one.reason) for name, one in answers.items())))


def _holds(output: str, answers: Mapping[str, Answer], dimensions: Sequence[Dimension]) -> bool:
    """Return whether a judged text holds a verdict that says the same; of too many candidates none is cleared."""
    wanted = _meaning(answers)
    for number, start in enumerate(_candidates(output, dimensions)):
        if number >= _MOST_CANDIDATES:
            return True
        try:
            value, _ = _decoded(output[start : start + _WINDOW], 0)
            if _meaning(_answers(value, dimensions)) == wanted:
                return True
        except _Unreadable:
            continue
    return False


def _candidates(output: str, dimensions: Sequence[Dimension]) -> Iterator[int]:
    """Yield where an object begins whose first field is a dimension."""
    names = tuple(json.dumps(one.id) for one in dimensions)
    start = output.find("{")
    while start >= 0:
        after = start + 1
        while after < len(output) and output[after].isspace():
            after += 1
        if output.startswith(names, after):
            yield start
        start = output.find("{", max(after, start + 1))
