"""What forbids a package: errors of lint and secrets, all in one round, less what a person lets pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass

from tamesu.base.errors import UsageError, shown
from tamesu.base.model.finding import Finding
from tamesu.base.model.package import MANIFEST, PAYLOAD, PackageRecord
from tamesu.core.packages.leaks import Leak, Search
from tamesu.core.packages.portable import ALLOWABLE, finding_id
from tamesu.edge.packages.payload import Payload
from tamesu.edge.packages.record_file import record_bytes
from tamesu.edge.packages.secrets_scan import scan_file


@dataclass(frozen=True, slots=True)
class NotPacked:
    """What forbids a package: errors of lint and secrets. `unknown` are IDs to let pass that none of them has."""

    findings: tuple[Finding, ...]
    leaks: tuple[Leak, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Allowance:
    """The errors of lint, and the IDs of findings that a person lets pass."""

    errors: tuple[Finding, ...]
    ids: frozenset[str]

    @property
    def left(self) -> tuple[Finding, ...]:
        """The errors that nobody let pass."""
        return tuple(one for one in self.errors if one.rule not in ALLOWABLE or finding_id(one) not in self.ids)

    def refusal(self, leaks: Collection[Leak]) -> NotPacked | None:
        """Return what is left with these leaks. Raises UsageError for an ID that none has when nothing else is left."""
        unknown = tuple(sorted(self.ids - set(map(finding_id, self.errors)) - {one.id for one in leaks}))
        secrets = tuple(one for one in leaks if one.id not in self.ids)
        if self.left or secrets:
            return NotPacked(self.left, secrets, unknown)
        if unknown:
            raise UsageError(f"--allow {shown(unknown[0])}: no finding of this package has that ID; leave it out")
        return None


def leaks_of(payload: Payload, record: PackageRecord | None, search: Search) -> tuple[Leak, ...]:
    """Return what an archive of these files would hold of secrets, sorted, without making one.

    What cannot be read is left out: lint has said so, and the archive cannot be made.
    """
    return tuple(sorted({*_record_leaks(record, search), *_payload_leaks(payload, search)}))


def _record_leaks(record: PackageRecord | None, search: Search) -> Iterator[Leak]:
    if record is not None:
        yield from scan_file(MANIFEST, record_bytes(record), search)


def _payload_leaks(payload: Payload, search: Search) -> Iterator[Leak]:
    for path in payload.paths:
        with suppress(OSError):
            content = payload.content(path)
            yield from scan_file(PAYLOAD + path, content, search)
