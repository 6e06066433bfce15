"""Publish: a package into a registry of files, whole or not at all, and never over a version that is there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.errors import Refused, UsageError
from tamesu.base.model.package import PackageRecord, RegistryEntry
from tamesu.core.naming import id_fault
from tamesu.core.packages.leaks import Leak
from tamesu.core.packages.publisher_names import PUBLISHERS, publisher_fault
from tamesu.edge.packages.extraction import move_into_place, remove_leftovers
from tamesu.edge.packages.known_secrets import search_of
from tamesu.edge.packages.registry import Registry, Version, entry_bytes, read_entry
from tamesu.edge.packages.secrets_scan import scan_archive
from tamesu.edge.store.files import full_disk_named, write_atomic
from tamesu.edge.store.locks import folder_held
from tamesu.stages.clock import now
from tamesu.stages.registry_owners import owners_of
from tamesu.stages.unpack import Verified, extracted_payload, verify_package

_PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Published:
    """A version in a registry: its folder, who owns its publisher's name, and whether it was there before.

    `leftovers` counts interrupted publications that were cleaned away before.
    """

    record: PackageRecord
    folder: Path
    owners: tuple[str, ...]
    already: bool
    leftovers: int


def publish_package(
    archive: Path, root: Path, allowed: Collection[str] = (), named: Sequence[str] = ()
) -> Published | tuple[Leak, ...]:
    """Add a package to the registry in a folder that is there; what it holds of secrets instead, when it does.

    `allowed` are IDs of findings that a person lets pass. A publisher that the registry does not know yet is given
    as owners those `named`, the package's authors when there are none, once the version is there; a death between the
    two is healed by the next publication. Raises InvalidPackage, Refused for other content under the same version
    and for other owners than are there, RunHeld, UsageError.
    """
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; make it, or name the folder of a registry")
    sound = verify_package(archive)
    record = sound.record
    for fault in (publisher_fault(record.publisher), id_fault("package", record.name)):
        if fault is not None:
            raise Refused(f"{record.label}: {fault.message}; {fault.fix}")
    leaks = scan_archive(archive, search_of(Path.cwd()))
    left = tuple(one for one in leaks if one.id not in allowed)
    if left:
        return left
    registry = Registry(root)
    with folder_held(root, f"{root}", _PATIENCE_SECONDS) as alone:
        version = registry.version(record.publisher, record.name, record.version)
        version.refuse_links()
        leftovers = _cleaned(registry) if alone else 0
        owners = owners_of(registry, record, named)
        already = os.path.lexists(version.folder)
        if already:
            _check_same(version, record)
        else:
            _add(archive, sound, version)
        owners.write()
    return Published(record, version.folder, owners.names, already, leftovers)


def _cleaned(registry: Registry) -> int:
    """Remove what interrupted publications left, and return how many."""
    places = [
        place
        for place in registry.root.glob("*/*")
        if place.is_dir() and not (place.is_symlink() or place.parent.is_symlink())
    ]
    begun = [path for path in (registry.root / PUBLISHERS).glob(".*.yml.*") if path.is_file() and not path.is_symlink()]
    for path in begun:
        path.unlink()
    return sum(map(remove_leftovers, places)) + len(begun)


def _check_same(version: Version, record: PackageRecord) -> None:
    if read_entry(version).package != record:
        what = "holds other content under the same version"
        raise Refused(f"{version.folder}: {what}; raise `version` in publication.yml and pack again")


def _add(archive: Path, sound: Verified, version: Version) -> None:
    above = version.folder.parent
    with full_disk_named(version.folder), _folders(above), extracted_payload(archive, above, sound) as folder:
        entry = RegistryEntry(1, now(), sound.archive_sha256, sound.record)
        write_atomic(folder / "entry.yml", entry_bytes(entry))
        try:
            move_into_place(folder, version.folder)
        except OSError as error:
            if os.path.lexists(version.folder):
                raise Refused(f"{version.folder}: was published by somebody else meanwhile; publish again") from None
            raise error


@contextmanager
def _folders(above: Path) -> Iterator[None]:
    """Make the folders of a package, which go again when no version came into them."""
    above.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what holds something stays
            above.rmdir()
            above.parent.rmdir()
        raise
