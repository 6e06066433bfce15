"""A `.env` file as compose reads it: names and values; what needs more than the file stays unresolved."""

from __future__ import annotations

import re

from tamesu.edge.documents.images.interpolation import Resolved, Unresolved

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*?)\s*")
_SINGLE = re.compile(r"'([^']*)'(?:\s+#.*)?")
_DOUBLE = re.compile(r'"([^"\\$]*)"(?:\s+#.*)?')


def read_env(text: str) -> dict[str, Resolved]:
    """Return the variables of a `.env` file with LF line ends; the last value of a name counts."""
    values: dict[str, Resolved] = {}
    for line in text.split("\n"):
        match = None if line.lstrip().startswith("#") else _LINE.fullmatch(line)
        if match is not None:
            values[match[1]] = _value(match[1], match[2])
    return values


def _value(name: str, written: str) -> Resolved:
    quoted = _SINGLE.fullmatch(written) or _DOUBLE.fullmatch(written)
    if quoted is not None:
        return quoted[1]
    if written.startswith(("'", '"')) or "$" in written:
        return Unresolved(f"the value of '{name}' in .env is not plain text")
    return re.sub(r"(?:^|\s+)#.*", "", written)
