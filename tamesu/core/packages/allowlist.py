"""What of a case a package holds, by profile: a list of what goes in, so that what nobody thought of stays out.

Paths are POSIX, relative to the case. `<run>` stands for `experiments/*/evals/*/runs/*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tamesu.base.model.package import PUBLICATION, VIEW_ONLY, Profile
from tamesu.core.packages.members import folded, member_fault

_EVAL = r"experiments/[^/]+/evals/[^/]+"
_RUN = rf"{_EVAL}/runs/[^/]+"

# What stays out of every profile, by its path as a file system without case would see it, and the reason.
_NEVER: Mapping[str, re.Pattern[str]] = {
    "is private to a run": re.compile(r"(?:.*/)?runs/[^/]+/inspect(?:/.*)?"),
    "is a log of Inspect": re.compile(r".*\.eval"),
    "is what was said to a model": re.compile(r"(?:.*/)?wire\.jsonl"),
    "holds settings of a machine": re.compile(r"(?:.*/)?\.env(?:\..*)?"),
    "is a cache": re.compile(r"(?:.*/)?(?:__pycache__|node_modules)(?:/.*)?|.*\.py[co]"),
}
_VIEWS = re.compile(rf"{_EVAL}/(?:tables/.*|leaderboard\.md|evaluation-report\.md)")
_REPORTS = re.compile(
    rf"case\.yml|{VIEW_ONLY}"
    rf"|README\.md|datasets/[^/]+/README\.md|experiments/[^/]+/(?:[^/]+/)?README\.md|{_EVAL}/README\.md"
    r"|experiments/[^/]+/(?:prompts|schemas)/.+"
    rf"|{_EVAL}/(?:eval\.yml|analysis\.md|evaluation-report\.md|leaderboard\.md)"
    rf"|{_RUN}/(?:run\.yml|report\.yml)"
    rf"|{_RUN}/items/[^/]+/result\.yml"
)
_SCRUBBED = re.compile(rf"{_EVAL}/(?:logs/[^/]+\.jsonl|ledger\.jsonl|judge-ledger\.jsonl)")


def ships(path: str, profile: Profile) -> bool:
    """Return whether a package of a profile holds a file of the case."""
    if member_fault(path) is not None or stays_out(path) is not None:
        return False
    match profile:
        case Profile.FULL:
            return path != VIEW_ONLY
        case Profile.RESCORABLE:
            return path != VIEW_ONLY and _VIEWS.fullmatch(path) is None
        case Profile.REPORT_ONLY:
            return _REPORTS.fullmatch(path) is not None


def holds_reports_alone(paths: Iterable[str]) -> bool:
    """Return whether files are those of a case that is to be read only, by what they are and not by what they say."""
    return all(ships(path, Profile.REPORT_ONLY) or path == PUBLICATION for path in paths)


def stays_out(path: str) -> str | None:
    """Return why no package of any profile holds a file, None when some may; a reason reads on after the path."""
    fold = folded(path)
    return next((reason for reason, pattern in _NEVER.items() if pattern.fullmatch(fold)), None)


def is_log(path: str) -> bool:
    """Return whether a file is an append-only log of Tamesu's own, which a package holds without home paths."""
    return _SCRUBBED.fullmatch(path) is not None
