"""A registry as files: `<publisher>/<name>/<version>/{entry.yml,payload/}`, `publishers/<publisher>.yml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tamesu.base.errors import InvalidDocument, shown
from tamesu.base.model.package import PackageRecord, Publisher, RegistryEntry
from tamesu.core.packages.publisher_names import PUBLISHERS
from tamesu.edge.documents.document import DocumentFault
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import MAX_BYTES, read_yaml
from tamesu.edge.packages.record_file import record_value
from tamesu.edge.packages.registry_folders import ENTRY, PAYLOAD_FOLDER, refuse_links, version_folders
from tamesu.edge.store.records import dump_record


@dataclass(frozen=True, slots=True)
class Version:
    """The folder of one published version."""

    folder: Path

    @property
    def entry(self) -> Path:
        return self.folder / ENTRY

    @property
    def payload(self) -> Path:
        return self.folder / PAYLOAD_FOLDER

    def refuse_links(self) -> None:
        """Raise InvalidDocument when something of a version, or a folder that it lies in, is a link."""
        name = self.folder.parent
        refuse_links(name.parent, name, self.folder, self.payload, self.entry)


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry in a folder."""

    root: Path

    def version(self, publisher: str, name: str, version: str) -> Version:
        return Version(self.root / publisher / name / version)

    def publisher(self, publisher: str) -> Path:
        return self.root / PUBLISHERS / f"{publisher}.yml"

    def versions(self) -> Iterator[Version]:
        """Yield every published version, by publisher, name and the order of versions; hidden folders are none.

        Raises InvalidDocument as `version_folders` does.
        """
        folders = list(version_folders(self.root))
        parts = {folder: folder.relative_to(self.root).parts for folder in folders}
        for folder in sorted(folders, key=lambda folder: (*parts[folder][:2], version_order(folder.name))):
            yield Version(folder)


def version_order(version: str) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]:
    """Return what versions are sorted by: semantic precedence, where a release follows its candidates."""
    numbers, _, candidate = version.partition("-")
    parts = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in candidate.split("."))
    return tuple(int(part) for part in numbers.split(".") if part.isdigit()), not candidate, parts


def read_entry(version: Version) -> RegistryEntry:
    """Return what an entry says.

    Raises InvalidDocument, also for one that lies in another place than it names and for a link.
    """
    version.refuse_links()
    value = _document(version.entry, DocumentKind.REGISTRY_ENTRY)
    package = msgspec.convert({"forked_from": None, **value["package"]}, PackageRecord)
    if (package.publisher, package.name, package.version) != version.folder.parts[-3:]:
        raise InvalidDocument(f"{version.entry}: is that of {package.label}; restore the registry")
    return RegistryEntry(value.get("schema_version", 1), value["published_at"], value["archive_sha256"], package)


def entry_bytes(entry: RegistryEntry) -> bytes:
    """Return an entry as YAML."""
    said = msgspec.to_builtins(entry)
    return dump_record({**said, "package": record_value(entry.package)})


def read_publisher(path: Path) -> Publisher:
    """Return who owns a name. Raises InvalidDocument, also when the file is called otherwise or is a link."""
    refuse_links(path.parent, path)
    value = _document(path, DocumentKind.PUBLISHER)
    if value["publisher"] != path.stem:
        raise InvalidDocument(f"{path}: is that of {shown(value['publisher'])}; restore the registry")
    return Publisher(value["publisher"], tuple(value["owners"]))


def publisher_bytes(publisher: Publisher) -> bytes:
    """Return a publisher as YAML."""
    return dump_record({"schema_version": 1, **msgspec.to_builtins(publisher)})


def _document(path: Path, kind: DocumentKind) -> dict[str, Any]:
    try:
        document = read_yaml(str(path), read_regular_file(path, MAX_BYTES))
    except DocumentFault as error:
        raise InvalidDocument(str(error.finding)) from None
    except OSError as error:
        raise InvalidDocument(f"{path}: cannot be read: {error.strerror}; restore the registry") from None
    for finding in validate(document, kind):
        raise InvalidDocument(str(finding))
    assert isinstance(document.value, dict)
    return document.value
