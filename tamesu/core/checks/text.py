"""Checks of a structured text: is it JSON, does it fit its schema, is it what was expected, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import SampleScore
from tamesu.base.model.manifest import OutputSchema
from tamesu.core.checks.fields import field_matches, same, schema_fields
from tamesu.core.checks.names import FIELD
from tamesu.core.checks.reply import ParsedReply, parse_reply

_LONGEST_PROBLEM = 300


@dataclass(frozen=True, slots=True)
class TextTask:
    """What all items of an eval are checked against."""

    schema: OutputSchema | None


def text_scores(task: TextTask, expected: Json, reply: str, problem: str | None = None) -> tuple[SampleScore, ...]:
    """Return every check of one reply, 1 or 0 each: the three by name, and one per field that the item expects.

    Without a schema an expectation in words is compared with the reply as it is, blanks around it left out.
    `problem` says why a reply that came is not here.
    """
    parsed = parse_reply(reply) if problem is None else ParsedReply(None, problem)
    return (
        _score("valid_json", parsed.problem is None, parsed.problem),
        _schema_valid(task, parsed),
        _exact_match(expected, reply, parsed),
        *_field_scores(task, expected, parsed),
    )


def _score(name: str, passed: bool, explanation: str | None, metadata: Mapping[str, Json] | None = None) -> SampleScore:
    number = 1.0 if passed else 0.0
    return SampleScore(name, number, number, explanation=explanation, metadata=metadata)


def _schema_valid(task: TextTask, parsed: ParsedReply) -> SampleScore:
    if parsed.problem is not None:
        return _score("schema_valid", False, "the reply is no JSON")
    problem = None if task.schema is None else schema_problem(task.schema.schema, parsed.value)
    return _score("schema_valid", problem is None, problem)


def _exact_match(expected: Json, reply: str, parsed: ParsedReply) -> SampleScore:
    if expected is None:
        return _score("exact_match", False, "the item expects nothing, so nothing can match")
    if isinstance(expected, str) and reply.strip() == expected.strip():
        return _score("exact_match", True, None)
    if parsed.problem is not None:
        return _score("exact_match", False, "the reply is no JSON" if not isinstance(expected, str) else "differs")
    equal = same(expected, parsed.value)
    return _score("exact_match", equal, None if equal else "differs")


def _field_scores(task: TextTask, expected: Json, parsed: ParsedReply) -> Iterator[SampleScore]:
    for match in field_matches(schema_fields(task.schema), expected, parsed.value):
        values: dict[str, Json] = {"expected": match.expected, "actual": match.actual, "missing": match.missing}
        yield _score(f"{FIELD}{match.path}", match.equal, None, values)


def schema_problem(schema: Mapping[str, Json], value: Json) -> str | None:
    """Return the first thing that does not fit a schema, None when all does; nothing is fetched for it."""
    import jsonschema  # takes a tenth of a second, and only what checks outputs needs it
    from referencing import Registry

    nowhere: Registry[Any] = Registry()
    errors = jsonschema.Draft202012Validator(dict(schema), registry=nowhere).iter_errors(value)
    worst = min(errors, key=lambda error: [str(part) for part in error.absolute_path], default=None)
    if worst is None:
        return None
    place = ".".join(str(part) for part in worst.absolute_path)
    message = " ".join(worst.message.split())[:_LONGEST_PROBLEM]
    return f"{place}: {message}" if place else message
