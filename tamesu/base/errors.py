"""The tree of errors that a user can meet, each with its exit code.

TamesuError                 2
|-- UsageError              2   a wrong name, option or place
|   |-- UnknownName         2   with the nearest known names
|   `-- NoProject           2   no folder upwards holds cases/
|-- InvalidDocument         1   a file that people write does not hold what it must
|-- InvalidPackage          1   an archive from elsewhere that is damaged, altered or unsafe
|-- Refused                 2   policy says no
|   |-- BudgetRefused       2   exposure above budget_usd or pay_usd
|   |-- PaymentNeeded       2   paid work without a hand on the lever
|   |-- PreflightFailed     1   a check before paid work failed
|   |-- NothingAccepted     1   no output was accepted, so there is none to go on with
|   |-- UntrustedCode       2   code that came from elsewhere and was not reviewed
|   `-- ChangedSincePlan    2   the eval no longer yields the run that was planned
|-- EvidenceError           1   evidence that is missing, altered or contradictory
|   |-- LogAbsent           2   the log is not on this machine
|   |-- LogRefused          2   the log was altered or belongs to another identity
|   |-- DamagedLedger       1   a ledger with a line that is no entry
|   |-- FrameworkFault      1   a log that cannot be mapped to the planned items
|   `-- ImpossibleUsage     1   token counts or a cost that cannot be
|-- ContainerFault          2   no Docker client or engine, or an image that cannot be had
|-- RunHeld                 1   another live process holds the run
|-- NotVisible              1   evidence that must be there and is not seen yet
`-- StorageFull             2   the disk is full
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST_SHOWN = 200


def shown(name: str) -> str:
    """Return a name as it fits into one line; what does not print is escaped."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name[:_LONGEST_SHOWN])


def meant(kind: str, name: str, known: Iterable[str], most: int = 10) -> str:
    """Return what to say after a name that nothing carries: the nearest names, or `most` of those there are."""
    known = sorted(set(known))
    likeness = {near: _likeness(name, near) for near in difflib.get_close_matches(name, known, n=3, cutoff=0.4)}
    near = [other for other, alike in likeness.items() if alike >= 0.8 * max(likeness.values())]
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(known[:most])}" if known else f"there is no {kind} here"


def _likeness(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, name).ratio()


class TamesuError(Exception):
    """One line for the user: where, what, and what to do."""

    exit_code = 2


class UsageError(TamesuError):
    """The command was called in a way that cannot work."""


class UnknownName(UsageError):
    """A name that nothing carries, with the nearest names that exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], most: int = 10) -> None:
        super().__init__(f"no {kind} named '{shown(name)}'; {meant(kind, name, known, most)}")


class AmbiguousName(UsageError):
    """A name that several things carry."""

    def __init__(self, kind: str, name: str, found: Iterable[str]) -> None:
        super().__init__(f"several {kind}s are named '{shown(name)}': {', '.join(sorted(found))}; say which")


class NoProject(UsageError):
    """No folder upwards of the working directory holds `cases/`."""


class InvalidDocument(TamesuError):
    """A file that people write does not hold what it must."""

    exit_code = 1


class InvalidPackage(TamesuError):
    """The archive of a package is damaged, was altered, or would do what no package needs."""

    exit_code = 1


class Refused(TamesuError):
    """Policy forbids what was asked."""


class BudgetRefused(Refused):
    """The exposure exceeds what the manifest or the caller allows."""


class PaymentNeeded(Refused):
    """Paid work was reached without a hand on the lever."""


class PreflightFailed(Refused):
    """A check before paid work failed; nothing was asked."""

    exit_code = 1


class NothingAccepted(Refused):
    """No output of an eval was accepted, so there is none to go on with."""

    exit_code = 1


class UntrustedCode(Refused):
    """Code of a case that came from elsewhere would run, and nobody said that it may."""


class ChangedSincePlan(Refused):
    """The files no longer yield the run that was planned."""


class EvidenceError(TamesuError):
    """Evidence is missing, altered or contradictory."""

    exit_code = 1


class DamagedLedger(EvidenceError):
    """A ledger holds a line that is no entry; what was spent is not known."""


class LogAbsent(EvidenceError):
    """The log is not on this machine (a clone or an unpacked package)."""

    exit_code = 2


class LogRefused(EvidenceError):
    """The log was altered after it was recorded, or belongs to another identity."""

    exit_code = 2


class FrameworkFault(EvidenceError):
    """A log whose samples cannot be mapped to the planned items."""


class ImpossibleUsage(EvidenceError):
    """Token counts that cannot be, or a cost below nothing; what it cost is unknown."""


class ContainerFault(TamesuError):
    """There is no Docker client, its engine does not answer, or it cannot get an image."""


class RunHeld(TamesuError):
    """Another live process holds the run."""

    exit_code = 1


class NotVisible(TamesuError):
    """Evidence that must lie somewhere is not seen yet, as on a network file system."""

    exit_code = 1


class StorageFull(TamesuError):
    """The disk is full; nothing that was finished is lost."""
