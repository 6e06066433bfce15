"""What an analysis was written about: the digest of evidence that its first line may name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

_MARK = re.compile(r"\ufeff?<!-- evidence: sha256:([0-9a-f]{64}) -->\s*")


@dataclass(frozen=True, slots=True)
class Analysis:
    """analysis.md as a page shows it, and the evidence that it names; None when it names none."""

    text: Markup
    written_about: str | None

    def warning(self, evidence: str) -> str | None:
        """Return what stands over an analysis that is not about the evidence of now; None when it is."""
        if self.written_about == evidence:
            return None
        if self.written_about is None:
            return "This analysis does not say which evidence it was written about; figures may differ."
        return f"Written about other evidence (sha256:{self.written_about[:12]}…); figures may differ."


def written_about(text: str) -> str | None:
    """Return the SHA-256 that the first line of an analysis names, None when it names none."""
    found = _MARK.fullmatch(text.split("\n", 1)[0])
    return found.group(1) if found else None


def binding_line(evidence: str) -> str:
    """Return the first line of an analysis about this evidence."""
    return f"<!-- evidence: sha256:{evidence} -->"
