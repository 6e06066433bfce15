"""The catalogue of lint: every rule that code can tell is explained, and every rule explained is told by a case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import FAMILIES, lint_page
from tamesu.core.lint.catalogue import find_rule, rules
from tests.cli.lint_catalogue import CASES
from tests.corpus import INVALID

ROOT = Path(__file__).parents[2]
SOURCES = [*(ROOT / "tamesu" / "edge" / "documents").rglob("*.py"), *(ROOT / "tamesu" / "core" / "lint").glob("*.py")]
LITERAL = re.compile(r'"([a-z-]+/[A-Za-z-]+)"')

# Told in tests of their own: a state of the machine, or a warning.
ELSEWHERE = {
    "dataset/not-as-promoted": "tests/cli/test_promote.py",
    "file/unreadable": "tests/cli/test_bad_input.py",
    "portable/absolute-path": "tests/packing/test_portable.py",
    "portable/collision": "tests/packing/test_portable.py",
    "portable/data-review": "tests/packing/test_portable.py",
    "portable/endpoint": "tests/packing/test_portable.py",
    "portable/home-path": "tests/packing/test_portable.py",
    "portable/left-out": "tests/packing/test_portable.py",
    "portable/link": "tests/packing/test_portable.py",
    "portable/long-path": "tests/packing/test_portable.py",
    "portable/mutable-image": "tests/packing/test_portable.py",
    "portable/name": "tests/packing/test_portable.py",
    "portable/publication": "tests/packing/test_portable.py",
    "portable/size": "tests/packing/test_portable.py",
    "portable/special-file": "tests/packing/test_portable.py",
    "acceptance/ignores-judge": "tests/cli/test_lint_judges.py",
    "judge/no-bound": "tests/cli/test_lint_judges.py",
    "judge/no-price": "tests/cli/test_lint_judges.py",
    "run/edited-in-flight": "tests/cli/test_lint_scopes.py",
    "secret/in-manifest": "tests/unit/test_secrets.py",
    "support/missing": "tests/cli/test_lint_scopes.py",
    "task/sandbox": "tests/unit/test_sandboxes.py",
    "prompt/not-a-template": "tests/cli/test_lint_prompts.py",
    "parameter/no-bound": "tests/cli/test_lint_scopes.py",
    "parameter/not-sent": "tests/cli/test_lint_scopes.py",
    "parameter/unknown": "tests/cli/test_lint_scopes.py",
    "replay/no-answer": "tests/cli/test_lint_scopes.py",
    "replay/picture": "tests/pictures/test_replayed.py",
    "replay/same-prompt": "tests/cli/test_replay_prompts.py",
    "role/no-grader": "tests/cli/test_example_agent.py",
    "role/unused": "tests/cli/test_example_agent.py",
}
# Keywords that no schema uses today; their messages exist for the day that one does.
UNUSED_KEYWORDS = {"schema/exclusiveMaximum", "schema/maxItems"}


def told_by_corpus() -> set[str]:
    return {expected.rule for sample in INVALID for expected in sample.expected}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_rule_in_code_is_explained(path: Path) -> None:
    found = LITERAL.findall(path.read_text(encoding="utf-8"))
    named = {literal for literal in found if literal.split("/")[0] in FAMILIES}
    assert {name for name in named if find_rule(name) is None} == set()


def test_every_expected_finding_is_explained() -> None:
    told = told_by_corpus() | {case.rule for case in CASES}
    assert {rule for rule in told if find_rule(rule) is None} == set()


def test_every_rule_has_a_case() -> None:
    told = told_by_corpus() | {case.rule for case in CASES} | set(ELSEWHERE) | UNUSED_KEYWORDS
    assert set(rules()) - told == set()


@pytest.mark.parametrize(("rule", "file"), ELSEWHERE.items())
def test_cases_elsewhere_are_there(rule: str, file: str) -> None:
    assert rule in (ROOT / file).read_text(encoding="utf-8")


def test_the_page_explains_each_rule_once() -> None:
    headings = re.findall(r"^### (\S+)$", lint_page(), re.MULTILINE)
    assert headings == sorted(rules())


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.id)
def test_a_rule_says_what_why_and_how(rule: object) -> None:
    texts = [getattr(rule, name) for name in ("what", "why", "fix")]
    assert all(text[0].isupper() or text[0] == "`" for text in texts)
    assert all(text.endswith(".") for text in texts)
