"""From the executed sources to the images they name, each pinned, locked, or a finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import ImageReference
from tamesu.core.image_lock import LockedImage
from tamesu.edge.documents.images.compose import survey_compose, survey_dockerfile
from tamesu.edge.documents.images.contexts import check_context, ignored_files
from tamesu.edge.documents.images.dockerfile import NO_INPUTS
from tamesu.edge.documents.images.foreign import warn_of_images
from tamesu.edge.documents.images.interpolation import Unresolved
from tamesu.edge.documents.images.lock_file import SUFFIX, lock_path, read_lock
from tamesu.edge.documents.images.survey import NOT_PINNED, BuildContext, Declared, PlacedImage, Survey
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.source_files import is_file

_YAML = frozenset({".yaml", ".yml"})
_NO_DOCKERFILES = frozenset({".py", ".sh", ".md", ".txt", ".json", ".dockerignore"})
_OWN_COMPOSE = frozenset({"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"})


@dataclass(frozen=True, slots=True)
class LockableImage:
    """An external image with the source that names it, as an absolute path."""

    source: Path
    reference: ImageReference


@dataclass(frozen=True, slots=True)
class ReadImages:
    """The images of the sources; files that no build sees; lock files, by the source they lie beside."""

    images: tuple[LockableImage, ...]
    ignored: frozenset[Path]
    locks: Mapping[Path, Path]


def read_images(reading: Reading, declared: Declared, root: Path, mutable: bool) -> ReadImages:
    """Return every image that compose files and Dockerfiles among the sources name; notes what is not pinned.

    `root` is the common folder that paths of images start from. `mutable` says that an unpinned image is no
    finding; one that cannot be resolved always is.
    """
    surveys = _kept(dict(_surveys(reading, declared)), declared.sandbox)
    images: list[PlacedImage] = []
    contexts: list[BuildContext] = []
    sources: set[Path] = set()
    for path, survey in surveys.items():
        for context in survey.contexts:
            check_context(survey, context)
        reading.findings.extend(survey.findings)
        images.extend(survey.images)
        contexts.extend(survey.contexts)
        sources |= {path, *survey.reached}
    locks = _Locks(reading)
    found = [_image(reading, locks, root, placed, mutable) for placed in dict.fromkeys(images)]
    return ReadImages(
        images=tuple(dict.fromkeys(image for image in found if image is not None)),
        ignored=ignored_files(Survey(reading, declared), contexts),
        locks={source: lock_path(source) for source in sorted(sources) if locks.present(source)},
    )


def _surveys(reading: Reading, declared: Declared) -> Iterator[tuple[Path, Survey]]:
    """Look through every file that may be run by itself."""
    for path in sorted(declared.files):
        survey = Survey(reading, declared)
        if path in declared.foreign:
            warn_of_images(survey, path)
            reading.findings.extend(survey.findings)
            continue
        if path in declared.sandbox and not _is_dockerfile(path):
            survey_compose(survey, path)
        elif path.suffix.lower() in _YAML:
            if _is_lock(path, declared) or not _is_compose(survey, path):
                reading.findings.extend(survey.findings)
                continue
            survey_compose(survey, path)
        elif _is_dockerfile(path):
            survey_dockerfile(survey, path, NO_INPUTS)
        else:
            continue
        yield path, survey


def _is_dockerfile(path: Path) -> bool:
    suffix = path.suffix.lower()
    named = path.name.lower().startswith(("dockerfile", "containerfile"))
    return suffix in {".dockerfile", ".containerfile"} or (named and suffix not in _NO_DOCKERFILES)


def _is_lock(path: Path, declared: Declared) -> bool:
    return path.name.endswith(SUFFIX) and any(lock_path(source) == path for source in declared.files)


def _is_compose(survey: Survey, path: Path) -> bool:
    """YAML that neither is called compose nor holds services is no compose file."""
    document = survey.yaml(path)
    if document is None:
        return False
    return "compose" in path.name.lower() or (isinstance(document.value, dict) and "services" in document.value)


def _kept(surveys: dict[Path, Survey], sandbox: frozenset[Path]) -> dict[Path, Survey]:
    """Leave out what another file builds, extends or includes: it counts as that one uses it.

    Files that a sandbox names, or with a name that Inspect or Docker looks for, stay, except Dockerfiles, which need
    the arguments of the build; so do files that lead to each other in a circle.
    """

    def used(path: Path) -> bool:
        above = (one for other, one in surveys.items() if path in one.reached and other not in surveys[path].reached)
        return any(above)

    own = {path for path in surveys if path.name in _OWN_COMPOSE} | sandbox
    return {path: one for path, one in surveys.items() if path in own or not used(path)}


@dataclass(slots=True)
class _Locks:
    reading: Reading
    read: dict[Path, Mapping[str, LockedImage]] = field(default_factory=dict)

    def present(self, source: Path) -> bool:
        lock = lock_path(source)
        return is_file(lock) and self.reading.contains(lock)

    def find(self, source: Path, reference: str) -> LockedImage | None:
        if not self.present(source):
            return None
        lock = lock_path(source)
        if lock not in self.read:
            self.read[lock] = read_lock(self.reading, lock)
        return self.read[lock].get(reference)


def _image(reading: Reading, locks: _Locks, root: Path, placed: PlacedImage, mutable: bool) -> LockableImage | None:
    """Return an image, or None, with a finding, when its reference cannot be resolved."""
    reference = placed.image.reference
    if isinstance(reference, Unresolved):
        message = f"'{placed.image.written}' is not pinned: {reference.why}"
        _note(reading, placed, message, "write name@sha256:<digest>, or give each variable a value in a declared file")
        return None
    image = ImageReference(placed.file.relative_to(root).as_posix(), reference)
    if not image.pinned:
        lock = locks.find(placed.file, reference)
        if lock is not None:
            image = replace(image, locked=lock.content, platform=lock.platform, child=lock.child)
        if image.locked is None and not mutable:
            _note(
                reading, placed, f"image '{reference}' is not pinned",
                "write name@sha256:<digest>, run `tamesu lock`, or set execution.allow_mutable_images: true",
            )  # fmt: skip
    return LockableImage(placed.file, image)


def _note(reading: Reading, placed: PlacedImage, message: str, fix: str) -> None:
    label = reading.relative(placed.file)
    finding = Finding(
        label, placed.image.line, placed.image.column, "error", NOT_PINNED, " ".join(message.split()), fix
    )
    reading.findings.append(finding)
