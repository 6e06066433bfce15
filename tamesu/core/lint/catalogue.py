"""Every rule of lint: what it says, why it exists, how to fix it. docs/lint.md is made from these tables.

IDs are stable: they stand in CI configurations. A rule may go, its ID never means something else.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tamesu.core.lint.rules_of_evals import EVAL_RULES
from tamesu.core.lint.rules_of_files import FILE_RULES
from tamesu.core.lint.rules_of_packages import PACKAGE_RULES
from tamesu.core.lint.rules_of_shape import SHAPE_RULES

Row: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what is wrong, why that matters, how to fix it."""

    id: str
    what: str
    why: str
    fix: str

    @property
    def family(self) -> str:
        return self.id.split("/", 1)[0]


@functools.cache
def rules() -> Mapping[str, Rule]:
    """Return every rule by its ID, sorted."""
    tables: tuple[Mapping[str, Row], ...] = (FILE_RULES, SHAPE_RULES, EVAL_RULES, PACKAGE_RULES)
    return {name: Rule(name, *row) for name, row in sorted(pair for table in tables for pair in table.items())}


def find_rule(rule_id: str) -> Rule | None:
    """Return the rule of an ID, None when there is none."""
    return rules().get(rule_id)
