"""Names that people give to cases, experiments and evals: they become folders, and parts of run IDs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from tamesu.base.errors import UsageError, shown
from tamesu.core.artifacts import RESERVED_STEM

LONGEST_ID = 100
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class IdFault:
    """Why a name is no ID: the rule of lint, what is wrong, and what to do."""

    rule: str
    message: str
    fix: str


def id_fault(kind: str, name: str) -> IdFault | None:
    """Return why a name cannot name a case, an experiment or an eval; None when it can."""
    if _ID.fullmatch(name) is None:
        near = _as_id(name)
        hint = f"did you mean {near}?" if near else "for example word-problems"
        message = f"'{shown(name)}' cannot name {_a(kind)}: use lowercase letters, digits and single hyphens"
        return IdFault("id/form", message, hint)
    if len(name) > LONGEST_ID:
        message = f"the name of {_a(kind)} has {len(name)} characters"
        return IdFault("id/form", message, f"use at most {LONGEST_ID}")
    if RESERVED_STEM.fullmatch(name):
        message = f"'{name}' cannot name {_a(kind)}: it is a device's name on some systems"
        return IdFault("id/reserved", message, "choose another name")
    return None


def check_id(kind: str, name: str) -> None:
    """Accept a kebab-case ID, by the rule of the schemas. Raises UsageError with a name that would do."""
    fault = id_fault(kind, name)
    if fault is not None:
        raise UsageError(f"{fault.message}; {fault.fix}")


def _as_id(name: str) -> str:
    """Return the nearest kebab-case ID, or nothing where no letter or digit is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_ID].rstrip("-")


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
