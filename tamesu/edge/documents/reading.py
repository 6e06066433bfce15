"""Reading an eval's files while gathering everything that is wrong with them, instead of stopping at the first."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, cast

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.finding import Finding, Severity
from tamesu.base.model.manifest import FileDigest
from tamesu.core.signatures import picture_type
from tamesu.edge.documents.confinement import bounds, within
from tamesu.edge.documents.document import START, Document, DocumentFault, NodePath, fault
from tamesu.edge.documents.pruning import Remainder, remainder
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.secrets import Secret, masked, secrets_in_fields, secrets_in_text
from tamesu.edge.documents.source_files import is_folder, present
from tamesu.edge.documents.yaml_reader import MAX_BYTES, read_yaml

T = TypeVar("T")
_KEEP_INSIDE = "keep every file below the project's folder"
_FOREIGN = "leads out of a case that came from elsewhere"
_OWN_COPY = "put a copy into its case; or review the case, then delete its file .untrusted-origin"
_OF_TOOLS = frozenset({".git", ".tamesu", ".snakemake"})


@dataclass(frozen=True, slots=True)
class _Shelved:
    """What a part of an eval was read to: its value, the findings about it, the files that it consists of.

    `pictures` are the media types of those files that are pictures.
    """

    value: object
    findings: tuple[Finding, ...]
    files: Mapping[str, FileDigest]
    pictures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one command has read already: many evals share a dataset, a rubric, a case."""

    parts: dict[tuple[str, Path], _Shelved] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """The files read so far, by project path, the findings about them, and the secrets that must not be repeated.

    `pictures` are the media types of those that models take as pictures. Nothing is read outside the folder
    `bounds`, if one is given: that of a case that came from elsewhere.
    """

    root: Path
    shelf: Shelf = field(default_factory=Shelf)
    findings: list[Finding] = field(default_factory=list)
    files: dict[str, FileDigest] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    pictures: dict[str, str] = field(default_factory=dict)
    bounds: Path | None = None

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def note(
        self,
        document: Document,
        path: NodePath,
        rule: str,
        message: str,
        fix: str,
        severity: Severity = "error",
    ) -> None:
        """Add a finding at a place in a document."""
        place = document.position(path)
        self.findings.append(Finding(document.label, place.line, place.column, severity, rule, message, fix))

    @property
    def failed(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    def content(self, path: Path, most: int | None = None, too_large: str = "file/unreadable") -> bytes:
        """Return a file's bytes, `most` at most, and count it as read; everything that is read is read here.

        Raises DocumentFault for a file that leads out of the project, is no regular one, or cannot be read, and by
        the rule `too_large` for one that holds more.
        """
        label = self.relative(path)
        if not self.contains(path):
            raise fault(label, START, "path/escapes", "leads out of the project", _KEEP_INSIDE)
        if self.bounds is not None and not within(self.bounds, path):
            raise fault(
                label, START, "path/foreign", f"is named by {self.relative(self.bounds)} and {_FOREIGN}", _OWN_COPY
            )
        try:
            content = read_regular_file(path, most)
        except OSError as error:
            rule = too_large if error.errno == errno.EFBIG else "file/unreadable"
            raise DocumentFault(replace(self._unreadable(path, error), rule=rule)) from None
        self.files[label] = FileDigest(label, digest_bytes(content), len(content))
        if (kind := picture_type(content)) is not None:
            self.pictures[label] = kind
        return content

    def read(self, path: Path, most: int | None = None) -> bytes | None:
        """Return a file's bytes; None, with a finding, when it cannot be read."""
        try:
            return self.content(path, most)
        except DocumentFault as error:
            self.findings.append(error.finding)
            return None

    def digest(self, path: Path) -> FileDigest | None:
        """Return a file by content; None, with a finding, when it cannot be read."""
        return None if self.read(path) is None else self.files[self.relative(path)]

    def source(self, path: Path) -> FileDigest | None:
        """Return an executed source by content and look through its text; None, with a finding, if unreadable."""
        content = self.read(path)
        if content is None:
            return None
        self._search(self.relative(path), content)
        return self.files[self.relative(path)]

    def _search(self, label: str, content: bytes) -> None:
        """Note what has the shape of a secret; what is no text is not searched."""
        with suppress(UnicodeDecodeError):
            self._found(secrets_in_text(label, content.decode("utf-8-sig")))

    def _found(self, secrets: Iterable[Secret]) -> None:
        for secret in secrets:
            self.secrets.add(secret.value)
            self.findings.append(secret.finding)

    def told(self) -> tuple[Finding, ...]:
        """Return the findings as they may be shown: each once, in order, and no secret repeated."""
        return tuple(sorted({masked(finding, self.secrets) for finding in self.findings}))

    def unreadable(self, error: OSError) -> None:
        """Add the finding that the file or folder of an error cannot be read."""
        self.findings.append(self._unreadable(Path(error.filename), error))

    def _unreadable(self, path: Path, error: OSError) -> Finding:
        fix = "write the file, or correct its path, kind, size or permissions"
        message = f"cannot be read: {error.strerror}"
        return Finding(self.relative(path), 1, 1, "error", "file/unreadable", message, fix)

    def shared(self, kind: str, path: Path, read: Callable[[Reading, Path], T]) -> T:
        """Return what `read` makes of a path; once per shelf, each time with its findings and files."""
        known = self.shelf.parts.get((kind, path))
        if known is None:
            own = Reading(self.root, self.shelf, secrets=self.secrets, bounds=bounds(self.root, path))
            value = read(own, path)
            known = _Shelved(value, own.told(), own.files, own.pictures)
            self.shelf.parts[kind, path] = known
        self.findings.extend(known.findings)
        self.files.update(known.files)
        self.pictures.update(known.pictures)
        return cast(T, known.value)

    def document(self, path: Path, kind: DocumentKind) -> Document | None:
        """Return a manifest that parses and has the right shape; otherwise None, with findings."""
        document = self._parsed(path)
        return None if document is None or not self._fits(document, kind) else document

    def rest_of(self, path: Path, kind: DocumentKind) -> Remainder | None:
        """Return what has the right shape of a manifest that parses; otherwise None. All else is in findings."""
        document = self._parsed(path)
        if document is None:
            return None
        return Remainder(document, frozenset()) if self._fits(document, kind) else remainder(document, kind)

    def _parsed(self, path: Path) -> Document | None:
        label = self.relative(path)
        try:
            content = self.content(path, MAX_BYTES, "yaml/size")
            self._search(label, content)
            document = read_yaml(label, content)
        except DocumentFault as error:
            self.findings.append(error.finding)
            return None
        self._found(secrets_in_fields(document))
        return document

    def _fits(self, document: Document, kind: DocumentKind) -> bool:
        shape = validate(document, kind)
        self.findings.extend(shape)
        return all(finding.severity != "error" for finding in shape)

    def reference(self, document: Document, path: NodePath, written: str, base: Path | None = None) -> Path | None:
        """Return the file that a manifest names, inside the project and present; otherwise None, with a finding.

        Paths are relative to `base`, the manifest's folder when left out, with forward slashes; symlinks may not lead
        out either.
        """
        if "://" in written:
            self.note(document, path, "path/url", f"'{written}' is a URL", "name a file of the project")
            return None
        if "\\" in written or written.startswith("/") or written[1:2] == ":":
            self.note(
                document, path, "path/form", f"'{written}' is no relative path with forward slashes",
                "write it relative to this manifest",
            )  # fmt: skip
            return None
        target = Path(os.path.normpath((base or (self.root / document.label).parent) / written))
        if not _inside(self.root, target) or not self.contains(target):
            self.note(
                document, path, "path/escapes", f"'{written}' leads out of the project",
                _KEEP_INSIDE,
            )  # fmt: skip
            return None
        if self._private(target):
            self.note(
                document, path, "path/private", f"'{written}' holds credentials or what tools keep for themselves",
                "name a file of the case",
            )  # fmt: skip
            return None
        home = bounds(self.root, self.root / document.label)
        if home is not None and not within(home, target):
            self.note(document, path, "path/foreign", f"'{written}' {_FOREIGN}", _OWN_COPY)
            return None
        if not present(target):
            self.note(
                document, path, "path/missing", f"'{written}' does not exist",
                _nearest(target) or f"write {self.relative(target)} or correct the path",
            )  # fmt: skip
            return None
        return target

    def file(self, document: Document, path: NodePath, written: object, base: Path | None = None) -> Path | None:
        """Return the file that a manifest names, whether it can be read or not; otherwise None, with a finding."""
        if not isinstance(written, str):
            self.note(document, path, "path/form", f"{written!r} is no path", "write one path as text")
            return None
        target = self.reference(document, path, written, base)
        if target is not None and is_folder(target):
            self.note(document, path, "path/not-a-file", f"'{written}' is no file", "name a file, not a folder")
            return None
        return target

    def _private(self, path: Path) -> bool:
        """Return whether a path, or what it links to, is no file of anybody's measurement."""
        places = (path.relative_to(self.root), path.resolve().relative_to(self.root.resolve()))
        return any(place.name.startswith(".env") or _OF_TOOLS.intersection(place.parts) for place in places)

    def contains(self, path: Path) -> bool:
        """Return whether a path stays inside the project when its symlinks are followed."""
        try:
            return _inside(self.root.resolve(), path.resolve())
        except (OSError, RuntimeError):  # a symlink to itself leads nowhere
            return False

    def text(self, path: Path) -> str | None:
        """Return a text of at most 8 MiB with its BOM removed and LF line ends; None, with a finding, for any other."""
        content = self.read(path, MAX_BYTES)
        if content is None:
            return None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            label = self.relative(path)
            fix = "save it as UTF-8"
            self.findings.append(Finding(label, 1, 1, "error", "file/encoding", "is not a UTF-8 text", fix))
            return None
        self._search(self.relative(path), content)
        return text.replace("\r\n", "\n").replace("\r", "\n")


def _nearest(target: Path) -> str | None:
    """Name the file beside a missing one that was probably meant."""
    try:
        beside = [path.name for path in target.parent.iterdir()]
    except OSError:
        return None
    near = difflib.get_close_matches(target.name, beside, n=1)
    return f"did you mean {near[0]}?" if near else None


def _inside(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents
