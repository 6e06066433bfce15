"""Home folders taken out of logs: whose machine it was is nobody's business, and must not change the bytes."""

from __future__ import annotations

import json
import re

from tamesu.base.canonical import Json

# A user's folder by the customs of Linux, macOS and Windows; a quote or a backslash ends a name inside nested JSON.
HOME = re.compile(
    r"(?<![\w./-])/(?:var/)?(?:home|Users)/[^/\s\"'\\:,;)<>\]}]+"
    r"|(?<![\w./-])/(?:var/)?root(?![\w.-])"
    r"|(?<!\w)[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)[^\\/\s\"':,;)<>\]}]+"
)


def without_homes(text: str) -> str:
    """Return a text with `~` in the place of every home folder."""
    return HOME.sub("~", text)


def scrubbed(log: bytes) -> bytes:
    """Return a JSONL log without home folders; lines that name none keep every byte."""
    return b"\n".join(_line(line) for line in log.split(b"\n"))


def _line(line: bytes) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return without_homes(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    clean = _clean(value)
    if clean == value:
        return line
    return json.dumps(clean, separators=(",", ":")).encode()


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return without_homes(value)
    if isinstance(value, list):
        return [_clean(part) for part in value]
    if isinstance(value, dict):
        return {without_homes(name): _clean(part) for name, part in value.items()}
    return value
