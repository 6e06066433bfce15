"""What a look through compose files and Dockerfiles gathers: images with their places, folders that builds read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tamesu.base.model.finding import Finding, Severity
from tamesu.edge.documents.document import Document, DocumentFault, Position
from tamesu.edge.documents.images.dockerfile import NamedImage
from tamesu.edge.documents.images.dockerignore import IgnoreRule
from tamesu.edge.documents.images.interpolation import Unresolved
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.yaml_reader import MAX_BYTES, MergeKeys, read_yaml

NOT_PINNED = "image/not-pinned"
UNDECLARED_CONTEXT = "image/undeclared-context"
UNDECLARED_FILE = "image/undeclared-file"
COMPOSE_SHAPE = "image/compose-shape"


@dataclass(frozen=True, slots=True)
class Declared:
    """The executed sources: every file, the entries that are folders or single files, and the task's own file.

    `sandbox` are the compose files and Dockerfiles that configure a sandbox, whatever they are called; `foreign` those
    of sandboxes that are no compose projects.
    """

    files: frozenset[Path]
    folders: frozenset[Path]
    named: frozenset[Path]
    task: Path
    sandbox: frozenset[Path] = frozenset()
    foreign: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An external image and the file that names it."""

    file: Path
    image: NamedImage


@dataclass(frozen=True, slots=True)
class BuildContext:
    """A folder that a build reads: the Dockerfile that decides what of it is ignored, and where it is written."""

    folder: Path
    dockerfile: Path | None
    file: Path
    position: Position


@dataclass(slots=True)
class Survey:
    """What one compose file or Dockerfile leads to; nothing it holds is noted in `reading` yet."""

    reading: Reading
    declared: Declared
    images: list[PlacedImage] = field(default_factory=list)
    contexts: list[BuildContext] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reached: set[Path] = field(default_factory=set)
    ignore_rules: dict[Path, tuple[IgnoreRule, ...]] = field(default_factory=dict)

    def note(
        self, file: Path, place: Position, rule: str, message: str, fix: str, severity: Severity = "error"
    ) -> None:
        """Add a finding at a place in a file."""
        label = self.reading.relative(file)
        self.findings.append(Finding(label, place.line, place.column, severity, rule, message, fix))

    def shape(self, file: Path, place: Position, message: str) -> None:
        """Add the finding that a compose file does not hold what it must."""
        self.note(file, place, COMPOSE_SHAPE, message, "write it as the Compose file reference says, without cycles")

    def undeclared(self, file: Path, place: Position, written: str) -> None:
        """Add the finding that a file which is read is not declared."""
        self.note(
            file, place, UNDECLARED_FILE, f"'{written}' is no declared source of the project",
            "add the file to execution.sources, inside the project",
        )  # fmt: skip

    def name(self, file: Path, image: NamedImage) -> None:
        """Add an external image."""
        self.images.append(PlacedImage(file, image))

    def unpinned(self, file: Path, place: Position, written: str, why: str) -> None:
        """Add something that is used for an image and cannot be pinned."""
        self.name(file, NamedImage(place.line, written, Unresolved(why), place.column))

    def yaml(self, path: Path) -> Document | None:
        """Return a YAML file; None, with its finding, when it cannot be read."""
        try:
            content = self.reading.content(path, MAX_BYTES, "yaml/size")
            return read_yaml(self.reading.relative(path), content, merges=MergeKeys.ALLOW)
        except DocumentFault as error:
            self.findings.append(error.finding)
            return None

    def usable(self, path: Path) -> bool:
        """Return whether a file is a declared source that lies inside the project."""
        return path in self.declared.files and self.reading.contains(path) and path.is_file()
