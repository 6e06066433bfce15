"""One thing that lint found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Where, what and how to fix it; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    severity: Severity
    rule: str
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity} {self.rule} {self.message}; {self.fix}"
