"""docs/tutorial.md does what it says, in an empty folder outside the checkout, with the real Snakemake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.tutorial import TUTORIAL, Command, Edit, Reader, matches, steps


@pytest.mark.long
def test_the_tutorial_is_exact(tmp_path: Path) -> None:
    """Every command ends well and prints what is shown; a mistake made on purpose says its exit code itself."""
    reader = Reader(tmp_path)
    typed = []
    for step in steps(TUTORIAL.read_text()):
        if isinstance(step, Edit):
            reader.change(step)
            continue
        code, seen = reader.type(step.text)
        assert code == 0, f"tutorial line {step.line}: $ {step.text}\n{seen}"
        assert matches(step.shown, seen), f"tutorial line {step.line}: $ {step.text}\n{seen}"
        typed.append(step.text)
    assert sum(text.startswith("tamesu new ") for text in typed) == 3
    assert {"tamesu lint", "tamesu activate replayed", "tamesu run replayed", "snakemake -n"} <= set(typed)
    assert (reader.folder / "build/word-problems/steps-first/replayed.html").is_file()


def test_console_blocks_become_commands_with_their_output() -> None:
    text = "a\n```console\n$ one\nx\n\ny\n$ two\n```\n```sh\n$ no\n```\n```diff\n--- f/g\n-a\n+b\n+c\n```\n"
    assert list(steps(text)) == [
        Command(3, "one", ("x", "", "y")),
        Command(7, "two", ()),
        Edit(13, "f/g", "a\n", "b\nc\n"),
    ]


@pytest.mark.parametrize(
    ("shown", "seen", "fits"),
    [
        (("a 12 s",), "a 12 s\n", True),
        (("a … s",), "a 12 s\n", True),
        (("a … s",), "a 12 m\n", False),
        (("…", "end"), "x\ny\nend\n", True),
        (("…", "end"), "x\nend\ny\n", False),
        (("a", "…", "b"), "a\nb\n", True),
        (("a.",), "ab\n", False),
        ((), "unexpected\n", False),
        (("a", "", "b"), "a  \n   \nb\n\n", True),
    ],
)
def test_the_wildcard_stands_for_what_differs(shown: tuple[str, ...], seen: str, fits: bool) -> None:
    assert matches(shown, seen) is fits
