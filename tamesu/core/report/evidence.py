"""The mark in a derived file that names the evidence it was made from."""

from __future__ import annotations

import re

META_NAME = "tamesu-evidence"
_DIGEST = "sha256:([0-9a-f]{64})"
_LINE = re.compile(f"Evidence: {_DIGEST}")
_META = re.compile(f'<meta name="{META_NAME}" content="{_DIGEST}">')


def evidence_line(evidence: str) -> str:
    """Return the last line of a Markdown view, without its line end."""
    return f"Evidence: sha256:{evidence}"


def recorded_evidence(text: str) -> str | None:
    """Return the SHA-256 of the evidence that a Markdown view or page names, or None.

    Only the last line of a Markdown file and the first mark of a page count; foreign text can be neither.
    """
    if text.lstrip().lower().startswith("<!doctype html"):
        found = _META.search(text)
    else:
        lines = text.rstrip("\n").split("\n")
        found = _LINE.fullmatch(lines[-1])
    return found.group(1) if found else None
