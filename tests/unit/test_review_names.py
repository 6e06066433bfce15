"""Names that give a run away are found as words, whatever their case, and told by entry."""

from __future__ import annotations

import pytest

from tamesu.core.review.names import Secret, name_warnings, names_said, secret_names
from tests.factories import make_spec


def test_a_model_is_known_by_its_parts_and_by_the_word_it_begins_with() -> None:
    spec = make_spec(("a",), provider="openrouter", model="acme/Parrot-4o-mini", arm="worked-example")
    found = {one.name: one.what for one in secret_names([spec])}
    assert found == {
        spec.run_id.lower(): "a run",
        "openrouter": "a provider",
        "worked-example": "an arm",
        "acme/parrot-4o-mini": "a model",
        "acme": "a model",
        "parrot-4o-mini": "a model",
        "parrot": "a model",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am PARROT!", True),
        ("parrot", True),
        ("as parrot-4 would", True),
        ("_parrot_", True),
        ("parrots", False),
        ("reparrot", False),
        ("pärrot", False),
        ("", False),
    ],
)
def test_a_name_is_a_word_of_its_own(text: str, found: bool) -> None:
    assert bool(names_said(text, [Secret("parrot", "a model")])) is found


def test_a_warning_names_the_entries_and_no_more_than_three() -> None:
    texts = {(f"e-{number}", "the output"): "by parrot" for number in range(5)} | {("e-0", "the input"): "nothing"}
    assert name_warnings(texts, (Secret("parrot", "a model"),)) == (
        "e-0, e-1, e-2 and 2 more: the output says 'parrot', the name of a model; its reviewer will see that",
    )
