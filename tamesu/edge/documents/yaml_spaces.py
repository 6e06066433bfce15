"""Characters that look like a space and are none to YAML."""

from __future__ import annotations

import unicodedata

from tamesu.edge.documents.document import DocumentFault, Position, fault


def is_other_space(character: str) -> bool:
    """Return whether a character, or nothing, is a space other than U+0020."""
    return character not in ("", " ") and unicodedata.category(character) == "Zs"


def space_fault(label: str, place: Position, character: str) -> DocumentFault:
    """Return the error for such a character where a key is due."""
    name = f"{unicodedata.name(character)} (U+{ord(character):04X})"
    return fault(label, place, "yaml/space", f"{name} is used as indentation", "indent with ordinary spaces")
