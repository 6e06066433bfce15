"""Listed scorers and checks in words: from which value they pass, and under which settings."""

from __future__ import annotations

from collections.abc import Iterator

from tamesu.base.model.manifest import MechanicalCheck, Policy
from tamesu.core.checks.names import PREREQUISITE
from tamesu.core.report.text import clean, markdown, table

SCORERS = "Scorers"
ALL_OF_THEM = "The mechanical verdict needs all of them."
_PREREQUISITE = "prerequisite of review and judging"


def settings_text(check: MechanicalCheck) -> str:
    """Return the settings of a check, such as `width 320, height 320`; empty where it has none."""
    told = [f"{name} {value}" for name, value in check.settings.items() if name != PREREQUISITE]
    told += [_PREREQUISITE] if check.settings.get(PREREQUISITE) is True else []
    return clean(", ".join(told))


def named(check: MechanicalCheck) -> str:
    """Return a check by its name, its settings in brackets behind it."""
    settings = settings_text(check)
    return f"{clean(check.scorer)} ({settings})" if settings else clean(check.scorer)


def scorers_section(policy: Policy) -> Iterator[str]:
    """Yield the section of evaluation-report.md on what is listed; nothing where nothing is."""
    if policy.mechanical:
        rows = [(check.scorer, f"{check.pass_at:g}", settings_text(check)) for check in policy.mechanical]
        yield f"## {SCORERS}\n\n{table(('scorer', 'passes at', 'settings'), rows, (1,))}"
        yield f"{markdown(ALL_OF_THEM)}\n"
