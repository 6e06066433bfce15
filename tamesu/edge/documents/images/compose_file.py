"""One compose file with its surroundings: its values as text, its lines, the files it names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tamesu.base.canonical import Json
from tamesu.edge.documents.document import Document, NodePath, Position
from tamesu.edge.documents.images.env_file import read_env
from tamesu.edge.documents.images.interpolation import COMPOSE, Lookup, Missing, Resolved, Unresolved, interpolate
from tamesu.edge.documents.images.survey import Survey
from tamesu.edge.providers.isolation import differs_between_executions

MAX_FILES = 50
MAX_OPENINGS = 200

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|git@|github\.com/|.*\.git(?:[#:].*)?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a compose file and where it stands."""

    file: ComposeFile
    at: NodePath
    value: Json

    @property
    def line(self) -> int:
        return self.position.line

    @property
    def position(self) -> Position:
        return self.file.document.position(self.at)

    def inner(self, step: str | int, value: Json) -> Field:
        """Return a part of this value."""
        return Field(self.file, (*self.at, step), value)

    def text(self, missing: Missing = Missing.UNRESOLVED) -> Resolved:
        """Return a scalar as compose hands it on, its variables replaced."""
        if isinstance(self.value, str):
            return interpolate(self.value, self.file.lookup, COMPOSE, missing)
        return self.plain()

    def plain(self) -> Resolved:
        """Return a scalar as written, its variables left as they are."""
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, int | float):
            # 3.10 would arrive as 3.1
            literal = self.file.document.literals.get(self.at, "")
            return literal if literal == str(self.value) else Unresolved("a number as value; write it in quotes")
        return Unresolved("no text is written there")


@dataclass(frozen=True, slots=True)
class ComposeFile:
    """A parsed compose file; relative paths in it start from `folder`."""

    path: Path
    document: Document
    folder: Path
    lookup: Lookup

    @property
    def root(self) -> Field:
        return Field(self, (), self.document.value)

    @property
    def services(self) -> Mapping[str, Json]:
        value = self.document.value
        services = value.get("services") if isinstance(value, dict) else None
        return services if isinstance(services, dict) else {}


def remote(text: str) -> bool:
    """Return whether a build context or a file is fetched from elsewhere."""
    return _REMOTE.match(text) is not None


def below(folder: Path, written: str) -> Path:
    """Return the path that a compose file names, without looking at the disk."""
    return Path(os.path.normpath(folder / written.replace("\x00", "")))


def surroundings(survey: Survey, files: tuple[Path, ...], outer: Lookup | None = None) -> Lookup:
    """Return what variables stand for: those of the including file first, then the declared env files.

    No environment is read. A variable that an execution sees and the project does not tell is unresolved.
    """
    values: dict[str, Resolved] = {}
    for path in files:
        if survey.usable(path):
            values |= read_env(survey.reading.text(path) or "")

    def lookup(name: str) -> Resolved | None:
        if differs_between_executions(name):
            return Unresolved(f"the variable '{name}' is set by the machine that runs")
        found = None if outer is None else outer(name)
        return values.get(name) if found is None else found

    return lookup


@dataclass(slots=True)
class Loader:
    """Opens compose files, a bounded number of them, each only when it is a declared source."""

    survey: Survey
    opened: dict[Path, Document | None] = field(default_factory=dict)
    openings: int = 0

    def root(self, path: Path) -> ComposeFile | None:
        """Return a declared compose file that is read for itself."""
        return self.open(path, path.parent, surroundings(self.survey, (path.parent / ".env",)))

    def open(self, path: Path, folder: Path, lookup: Lookup) -> ComposeFile | None:
        """Return a compose file; None, with a finding, when it cannot be read."""
        if path not in self.opened:
            self.opened[path] = self.survey.yaml(path)
        document = self.opened[path]
        return None if document is None else ComposeFile(path, document, folder, lookup)

    def named(self, naming: Field) -> Path | None:
        """Return the declared file that a value names; None, with a finding, when there is none."""
        written = naming.text()
        if isinstance(written, Unresolved):
            self.survey.unpinned(naming.file.path, naming.position, str(naming.value), written.why)
            return None
        path = below(naming.file.folder, written)
        if remote(written) or not self.survey.usable(path):
            self.survey.undeclared(naming.file.path, naming.position, written)
            return None
        self.openings += 1
        if len(self.opened) > MAX_FILES or self.openings > MAX_OPENINGS:
            self.survey.shape(naming.file.path, naming.position, "too many files are extended or included")
            return None
        self.survey.reached.add(path)
        return path
