"""Publish: a package into a registry of files, whole or not at all, and never over a version that is there."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import Refused, UsageError, shown
from tamesu.base.model.package import PackageRecord, Publisher, RegistryEntry
from tamesu.core.naming import id_fault
from tamesu.core.packages.leaks import Leak
from tamesu.core.packages.publisher_names import publisher_fault
from tamesu.edge.credentials import read_environment
from tamesu.edge.packages.extraction import move_into_place
from tamesu.edge.packages.registry import (
    Registry,
    Version,
    entry_bytes,
    publisher_bytes,
    read_entry,
    read_publisher,
)
from tamesu.edge.packages.secrets_scan import scan_archive, search_for
from tamesu.edge.store.files import full_disk_named, write_atomic, write_exclusive
from tamesu.stages.clock import now
from tamesu.stages.unpack import Verified, extracted_payload, verify_package

_LONGEST_OWNER = 200  # as in the schema


@dataclass(frozen=True, slots=True)
class Published:
    """A version in a registry: its folder, who owns its publisher's name, and whether it was there before."""

    record: PackageRecord
    folder: Path
    owners: tuple[str, ...]
    already: bool


def publish_package(
    archive: Path, root: Path, allowed: Collection[str] = (), owners: Sequence[str] = ()
) -> Published | tuple[Leak, ...]:
    """Add a package to the registry in a folder that is there; what it holds of secrets instead, when it does.

    `allowed` are IDs of findings that a person lets pass. A publisher that the registry does not know yet is given
    these `owners`, the package's authors when there are none. Raises InvalidPackage, Refused for other content
    under the same version, UsageError.
    """
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; make it, or name the folder of a registry")
    sound = verify_package(archive)
    record = sound.record
    for fault in (publisher_fault(record.publisher), id_fault("package", record.name)):
        if fault is not None:
            raise Refused(f"{record.label}: {fault.message}; {fault.fix}")
    leaks = scan_archive(archive, search_for(read_environment(Path.cwd()).values))
    left = tuple(one for one in leaks if one.id not in allowed)
    if left:
        return left
    registry = Registry(root)
    version = registry.version(record.publisher, record.name, record.version)
    version.refuse_links()
    if os.path.lexists(version.folder):
        return _already(registry, version, record)
    owned_by = _owners(registry, record, owners)
    _add(archive, sound, version)
    return Published(record, version.folder, owned_by, False)


def _already(registry: Registry, version: Version, record: PackageRecord) -> Published:
    known = read_entry(version).package
    if known != record:
        what = "holds other content under the same version"
        raise Refused(f"{version.folder}: {what}; raise `version` in publication.yml and pack again")
    return Published(record, version.folder, read_publisher(registry.publisher(record.publisher)).owners, True)


def _owners(registry: Registry, record: PackageRecord, named: Sequence[str]) -> tuple[str, ...]:
    """Return who owns the name of a publisher; when nobody does yet, those named or the authors do from now on."""
    place = registry.publisher(record.publisher)
    if not os.path.lexists(place):
        wrong = [name for name in named if not (name.isprintable() and 0 < len(name) <= _LONGEST_OWNER)]
        if wrong:
            raise UsageError(
                f"--owner {shown(wrong[0])}: is no line of at most {_LONGEST_OWNER} characters; shorten it"
            )
        if (registry.root / record.publisher).exists():
            raise Refused(f"{place}: is missing although packages are there; write it again: publisher, owners")
        place.parent.mkdir(parents=True, exist_ok=True)
        write_exclusive(place, publisher_bytes(Publisher(record.publisher, tuple(named) or record.authors)))
    return read_publisher(place).owners


def _add(archive: Path, sound: Verified, version: Version) -> None:
    above = version.folder.parent
    above.mkdir(parents=True, exist_ok=True)
    with full_disk_named(version.folder), extracted_payload(archive, above, sound) as folder:
        entry = RegistryEntry(1, now(), sound.archive_sha256, sound.record)
        write_atomic(folder / "entry.yml", entry_bytes(entry))
        try:
            move_into_place(folder, version.folder)
        except OSError as error:
            if os.path.lexists(version.folder):
                raise Refused(f"{version.folder}: was published by somebody else meanwhile; publish again") from None
            raise error
