"""docs/review.md names every rule and option that there is."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tamesu.cli.reviewing import review

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
NOTED = re.compile(r'\.note\(\s*[^"]*?"(?:responses/)?([a-z-]+)"|finding\("([a-z-]+)"')


def test_every_rule_is_explained() -> None:
    sources = [
        "tamesu/core/review/check.py",
        "tamesu/edge/documents/responses_sheet.py",
        "tamesu/stages/review_import.py",
    ]
    found = {a or b for path in sources for a, b in NOTED.findall((ROOT / path).read_text(encoding="utf-8"))}
    explained = set(re.findall(r"^\| `responses/([a-z-]+)` \|", PAGE, flags=re.MULTILINE))
    assert len(found) >= 25
    assert found == explained


def test_every_option_is_explained() -> None:
    options = {
        name
        for command in review.commands.values()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for name in parameter.opts
    }
    assert {name for name in options if name not in PAGE} == {"--json"}
