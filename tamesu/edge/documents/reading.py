"""Reading an eval's files while gathering everything that is wrong with them, instead of stopping at the first."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.finding import Finding, Severity
from tamesu.base.model.manifest import FileDigest
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.pruning import Remainder, remainder
from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.secrets import secret_findings
from tamesu.edge.documents.yaml_reader import read_yaml

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Shelved:
    """What a part of an eval was read to: its value, the findings about it, the files that it consists of."""

    value: object
    findings: tuple[Finding, ...]
    files: Mapping[str, FileDigest]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one command has read already: many evals share a dataset, a rubric, a case."""

    parts: dict[tuple[str, Path], _Shelved] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """The files read so far, by project path, and the findings about them."""

    root: Path
    shelf: Shelf = field(default_factory=Shelf)
    findings: list[Finding] = field(default_factory=list)
    files: dict[str, FileDigest] = field(default_factory=dict)

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

    def content(self, path: Path) -> bytes:
        """Return a file's bytes and count it as read."""
        content = path.read_bytes()
        label = self.relative(path)
        self.files[label] = FileDigest(label, digest_bytes(content), len(content))
        return content

    def digest(self, path: Path) -> FileDigest:
        """Return a file by content and count it as read."""
        self.content(path)
        return self.files[self.relative(path)]

    def shared(self, kind: str, path: Path, read: Callable[[Reading, Path], T]) -> T:
        """Return what `read` makes of a path; once per shelf, each time with its findings and files."""
        known = self.shelf.parts.get((kind, path))
        if known is None:
            own = Reading(self.root, self.shelf)
            value = read(own, path)
            known = _Shelved(value, tuple(own.findings), own.files)
            self.shelf.parts[kind, path] = known
        self.findings.extend(known.findings)
        self.files.update(known.files)
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
            content = self.content(path)
            document = read_yaml(label, content)
        except DocumentFault as error:
            self.findings.append(error.finding)
            return None
        except OSError as error:
            fix = "write the file or correct its path"
            message = f"cannot be read: {error.strerror}"
            self.findings.append(Finding(label, 1, 1, "error", "file/unreadable", message, fix))
            return None
        self.findings.extend(secret_findings(document, content.decode("utf-8-sig")))
        return document

    def _fits(self, document: Document, kind: DocumentKind) -> bool:
        shape = validate(document, kind)
        self.findings.extend(shape)
        return all(finding.severity != "error" for finding in shape)

    def reference(self, document: Document, path: NodePath, written: str) -> Path | None:
        """Return the file that a manifest names, inside the project and present; otherwise None, with a finding.

        Paths are relative to the manifest, with forward slashes; symlinks may not lead out either.
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
        base = (self.root / document.label).parent
        target = Path(os.path.normpath(base / written))
        if not _inside(self.root, target) or not self.contains(target):
            self.note(
                document, path, "path/escapes", f"'{written}' leads out of the project",
                "keep every file below the project's folder",
            )  # fmt: skip
            return None
        if not target.exists():
            self.note(
                document, path, "path/missing", f"'{written}' does not exist",
                _nearest(target) or f"write {self.relative(target)} or correct the path",
            )  # fmt: skip
            return None
        return target

    def file(self, document: Document, path: NodePath, written: object) -> Path | None:
        """Return the regular file that a manifest names; otherwise None, with a finding."""
        if not isinstance(written, str):
            self.note(document, path, "path/form", f"{written!r} is no path", "write one path as text")
            return None
        target = self.reference(document, path, written)
        if target is not None and not target.is_file():
            self.note(document, path, "path/not-a-file", f"'{written}' is no file", "name a file, not a folder")
            return None
        return target

    def contains(self, path: Path) -> bool:
        """Return whether a path stays inside the project when its symlinks are followed."""
        try:
            return _inside(self.root.resolve(), path.resolve())
        except (OSError, RuntimeError):  # a symlink to itself leads nowhere
            return False

    def text(self, path: Path) -> str | None:
        """Return a text with its BOM removed and LF line ends; None, with a finding, when it is not UTF-8."""
        try:
            text = self.content(path).decode("utf-8-sig")
        except (UnicodeDecodeError, IsADirectoryError):
            label = self.relative(path)
            fix = "save it as UTF-8"
            self.findings.append(Finding(label, 1, 1, "error", "file/encoding", "is not a UTF-8 text", fix))
            return None
        return text.replace("\r\n", "\n").replace("\r", "\n")


def _nearest(target: Path) -> str | None:
    """Name the file beside a missing one that was probably meant."""
    if not target.parent.is_dir():
        return None
    near = difflib.get_close_matches(target.name, [path.name for path in target.parent.iterdir()], n=1)
    return f"did you mean {near[0]}?" if near else None


def _inside(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents
