"""Rules of the JSON Schemas, one per keyword. ID: (what is wrong, why it matters, how to fix it)."""

from __future__ import annotations

_BOUND = "A value outside its bounds cannot be acted upon."
_COUNT = "Too few or too many entries cannot be acted upon."

SHAPE_RULES: dict[str, tuple[str, str, str]] = {
    "schema/additionalProperties": (
        "A field that this kind of file does not have.",
        "A misspelled setting would silently not count.",
        "Use the nearest name that the message gives, or remove the field.",
    ),
    "schema/anyOf": (
        "A value that has none of the allowed forms.",
        "It could not be acted upon.",
        "Write one of the forms that the message names.",
    ),
    "schema/const": (
        "A value other than the only one that is allowed.",
        "Some settings have one meaning here, such as `schema_version: 1` or `epochs: 1`.",
        "Write that value, or leave the field out.",
    ),
    "schema/dependentRequired": (
        "A field without the one that it needs beside it.",
        "Alone it means nothing.",
        "Add the other field.",
    ),
    "schema/enum": (
        "A word that is not one of those allowed.",
        "It could not be acted upon.",
        "Use the nearest word that the message gives.",
    ),
    "schema/exclusiveMaximum": ("A number that is too large.", _BOUND, "Write a number below the bound."),
    "schema/exclusiveMinimum": (
        "A number that is too small, such as a limit of 0.",
        _BOUND,
        "Write a number above the bound.",
    ),
    "schema/format": (
        "A day or a time that no calendar has, such as 31 February.",
        "Nothing happened then, so it says nothing.",
        "Write the day that is meant.",
    ),
    "schema/maxItems": ("A list that is too long.", _COUNT, "Remove entries."),
    "schema/maxLength": ("A text that is too long.", "IDs become file names.", "Write a shorter one."),
    "schema/maxProperties": ("A mapping with too many entries.", _COUNT, "Split it as the message says."),
    "schema/maximum": ("A number that is too large.", _BOUND, "Write a number of at most the bound."),
    "schema/minItems": ("A list that is too short.", _COUNT, "Add entries."),
    "schema/minLength": ("A text that is empty.", "It would say nothing.", "Write the text, or remove the field."),
    "schema/minProperties": ("A mapping with too few entries.", _COUNT, "Add what the message says."),
    "schema/minimum": ("A number that is too small.", _BOUND, "Write a number of at least the bound."),
    "schema/not": (
        "A setting that is refused, with its reason.",
        "It would make figures that cannot be defended, such as answers from a cache counted as new draws.",
        "Do what the message says instead.",
    ),
    "schema/oneOf": (
        "Two fields that exclude each other, or none of those of which one is needed.",
        "Which one counts would be a guess.",
        "Give exactly one.",
    ),
    "schema/pattern": (
        "A text that has not the form it must have, such as an ID that is no lowercase kebab-case.",
        "IDs become file names on every system, and paths must mean the same everywhere.",
        "Write it in the form that the message names.",
    ),
    "schema/required": (
        "A field is missing.",
        "Without it the plan is not complete, and nothing is assumed about money or limits.",
        "Add the field.",
    ),
    "schema/type": (
        "A value of another type, such as a number where text is needed.",
        "`no`, `012` and `1:30` mean different things to different readers of YAML, so they stay text here.",
        "Quote it to make it text, or write the number plainly.",
    ),
}
