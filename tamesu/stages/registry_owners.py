"""Owners of the publishers of a registry: given with the first version, kept afterwards, never overwritten."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import Refused, UsageError, shown
from tamesu.base.model.package import PackageRecord, Publisher
from tamesu.edge.packages.registry import Registry, publisher_bytes, read_entry, read_publisher
from tamesu.edge.store.files import write_exclusive

_LONGEST_OWNER = 200  # as in the schema


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns the name of a publisher; `written` says whether the registry says so yet."""

    place: Path
    publisher: str
    names: tuple[str, ...]
    written: bool

    def write(self) -> None:
        """Let the registry say so, once a version is there."""
        if not self.written:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            write_exclusive(self.place, publisher_bytes(Publisher(self.publisher, self.names)))


def owners_of(registry: Registry, record: PackageRecord, named: Sequence[str]) -> Owners:
    """Return who owns the publisher of a package; when nobody does yet, those named, else who made its first package.

    Raises Refused for names that are not those of the owners there and for a publisher of several packages whose
    owners are missing, UsageError for a name that is none and for a fork whose owners nobody names.
    """
    place = registry.publisher(record.publisher)
    _check_names(named)
    if os.path.lexists(place):
        owners = read_publisher(place).owners
        if named and set(named) != set(owners):
            told = ", ".join(map(shown, owners))
            raise Refused(f"{place}: says that {record.publisher} is owned by {told}; leave out --owner, or ask them")
        return Owners(place, record.publisher, owners, True)
    there = [one for one in registry.versions() if one.folder.parent.parent.name == record.publisher]
    if len(there) > 1:
        raise Refused(f"{place}: is missing although packages are there; write it again: publisher, owners")
    first = read_entry(there[0]).package if there else record  # a death came before its owners were written
    return Owners(place, record.publisher, tuple(named) or _makers(first), False)


def _check_names(named: Sequence[str]) -> None:
    for name in named:
        if not (name.isprintable() and 0 < len(name) <= _LONGEST_OWNER):
            what = f"is no line of at most {_LONGEST_OWNER} characters"
            raise UsageError(f"--owner {shown(name)}: {what}; shorten it")


def _makers(first: PackageRecord) -> tuple[str, ...]:
    """Return the authors of a publisher's first package."""
    if first.forked_from is not None:
        what = f"{first.label} is a fork, and its authors need not own the name {first.publisher}"
        raise UsageError(f"{what}; say who does with --owner NAME")
    return first.authors
