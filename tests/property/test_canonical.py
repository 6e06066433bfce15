"""The canonical form is RFC 8785 for every JSON value, whichever encoder makes it."""

from __future__ import annotations

from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.base.canonical import canonical_bytes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20
)


@given(VALUES)
@settings(max_examples=500)
def test_every_value_has_the_form_of_the_library(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(st.dictionaries(st.sampled_from(["\U00010000", "\ufb33", "e", "é", "Z", "~", "\x7f"]), st.integers(0, 9)))
def test_keys_are_ordered_by_utf_16(value: dict[str, int]) -> None:
    """Characters beyond the basic plane sort before some within it, unlike code points do."""
    assert canonical_bytes(value) == rfc8785.dumps(value)


def test_control_characters_are_escaped_as_the_standard_says() -> None:
    text = "".join(map(chr, range(0x80))) + "\u2028\u2029"
    assert canonical_bytes([text]) == rfc8785.dumps([text])
