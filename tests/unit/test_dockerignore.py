"""What an ignore file leaves out of a build context."""

from __future__ import annotations

import time

import pytest

from tamesu.edge.documents.images.dockerignore import is_ignored, read_ignore_rules


@pytest.mark.parametrize(
    ("rules", "path", "ignored"),
    [
        ("", "a", False),
        ("# a\n\na", "a", True),
        ("a", "a/b/c", True),
        ("a/", "a/b", True),
        ("/a", "a", True),
        ("/a", "b/a", False),
        ("a", "b/a", False),
        ("*", "a/b", True),
        ("*.log", "a.log", True),
        ("*.log", "b/a.log", False),
        ("*/*.log", "b/a.log", True),
        ("**/*.log", "a.log", True),
        ("**/*.log", "b/c/a.log", True),
        ("b/**", "b/c/d", True),
        ("b/**", "b", False),
        ("b/**/d", "b/d", True),
        ("b/**/d", "b/c/e/d", True),
        ("b/**/d", "bd", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[^a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("*\n!a", "a", False),
        ("*\n!a", "a/b", False),
        ("*\n!a\na/b", "a/b", True),
        ("!a\n*", "a", True),
        ("* \n ! a ", "a", False),
        ("./a/../b", "b", True),
        ("[", "[", False),
    ],
)
def test_the_last_rule_that_matches_decides(rules: str, path: str, ignored: bool) -> None:
    assert is_ignored(path, read_ignore_rules(rules)) is ignored


def test_hostile_patterns_take_no_time() -> None:
    rules = read_ignore_rules("*a" * 200 + "b\n" + "**/" * 200 + "b")
    started = time.process_time()
    assert not is_ignored("a" * 250, rules)
    assert not is_ignored("/".join("a" * 100), rules)
    assert time.process_time() - started < 3
