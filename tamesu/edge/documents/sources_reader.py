"""Reading the executed sources: which files they are, whether the list is complete, which images they name."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import FileDigest, ImageReference, Sources
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.yaml_reader import MergeKeys, read_yaml

_SUFFIXES = frozenset({".py", ".yaml", ".yml", ".sh", ".dockerfile"})
_CACHES = frozenset({"__pycache__", "node_modules"})
_PINNED = re.compile(r"[^\s@$]+@sha256:[0-9a-f]{64}")
_FROM = re.compile(r"\s*FROM\s+(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?\s*$", re.IGNORECASE)
_COPY_FROM = re.compile(r"\s*(?:COPY|ADD)\s+(?:--\S+\s+)*?--from=(\S+)", re.IGNORECASE)
_AT = ("execution", "sources")


@dataclass(frozen=True, slots=True)
class ReadSources:
    """The sources and the container images that they declare."""

    sources: Sources
    images: tuple[ImageReference, ...]


def read_sources(reading: Reading, document: Document, execution: dict[str, Any], task: Path) -> ReadSources:
    """Return the executed sources; findings name what is undeclared, unpinned or tangled."""
    declared = execution.get("sources")
    if declared is None:
        generation, scoring = list(_source_like(task.parent)), []
    elif isinstance(declared, dict):
        generation = _files(reading, document, (*_AT, "generation"), declared.get("generation", []))
        scoring = _files(reading, document, (*_AT, "scoring"), declared.get("scoring", []))
    else:
        generation, scoring = _files(reading, document, _AT, declared), []
    _check_complete(reading, document, task, {*generation, *scoring})
    _check_imports(reading, document, task, generation, scoring)
    everything = [*generation, *scoring, task]
    root = Path(os.path.commonpath([path.parent for path in everything]))
    sources = Sources(
        root=reading.relative(root) if root != reading.root else "",
        generation=_digests(reading, generation),
        scoring=_digests(reading, scoring),
    )
    mutable = bool(execution.get("allow_mutable_images", False))
    images = [
        ImageReference(path.relative_to(root).as_posix(), reference)
        for path in everything
        for reference in _images(reading, path, mutable)
    ]
    return ReadSources(sources, tuple(dict.fromkeys(images)))


def _digests(reading: Reading, paths: Sequence[Path]) -> tuple[FileDigest, ...]:
    return tuple(reading.digest(path) for path in sorted(set(paths)))


def _files(reading: Reading, document: Document, at: NodePath, written: list[Any]) -> list[Path]:
    found: list[Path] = []
    for number, name in enumerate(written):
        target = reading.reference(document, (*at, number), str(name))
        if target is None:
            continue
        found.extend(_below(target) if target.is_dir() else [target])
    return found


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not _CACHES & set(inside):
            yield path


def _source_like(folder: Path) -> Iterator[Path]:
    for path in _below(folder):
        name = path.name.lower()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        named = name.startswith(("dockerfile", "requirements"))
        if not hidden and (path.suffix.lower() in _SUFFIXES or named):
            yield path


def _check_complete(reading: Reading, document: Document, task: Path, declared: set[Path]) -> None:
    if task not in declared:
        reading.note(
            document, _AT, "sources/omits-task", f"sources omit {task.name}, the task itself",
            "add it to execution.sources",
        )  # fmt: skip
    for path in _source_like(task.parent):
        if path not in declared and path != task:
            reading.note(
                document, _AT, "sources/undeclared", f"{reading.relative(path)} lies beside the task undeclared",
                "add it to execution.sources or move it away",
            )  # fmt: skip


def _check_imports(
    reading: Reading, document: Document, task: Path, generation: Sequence[Path], scoring: Sequence[Path]
) -> None:
    """Only the task wires generation and scoring; elsewhere an import would let scoring change what is said."""
    names = {path.stem for path in scoring if path.suffix == ".py"}
    for path in generation:
        if path == task or path.suffix != ".py" or not names:
            continue
        for name in sorted(_imported(path) & names):
            reading.note(
                document, (*_AT, "generation"), "sources/scoring-imported",
                f"{path.name} imports the scoring source {name}.py", f"declare {name}.py under generation",
            )  # fmt: skip


def _imported(path: Path) -> set[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            names.update(alias.name for alias in node.names)
    return names


def _images(reading: Reading, path: Path, mutable: bool) -> Iterator[str]:
    name = path.name.lower()
    if path.suffix in {".yaml", ".yml"}:
        found = _compose_images(reading, path)
    elif name.startswith("dockerfile") or path.suffix == ".dockerfile":
        found = _dockerfile_images(reading, path)
    else:
        return
    for line, reference in found:
        if not mutable and not _PINNED.fullmatch(reference):
            _note_image(
                reading, path, line, "image/not-pinned", f"image '{reference}' is not pinned",
                "write name@sha256:<digest>, or set execution.allow_mutable_images: true",
            )  # fmt: skip
        yield reference


def _note_image(reading: Reading, path: Path, line: int, rule: str, message: str, fix: str) -> None:
    reading.findings.append(Finding(reading.relative(path), line, 1, "error", rule, message, fix))


def _compose_images(reading: Reading, path: Path) -> Iterator[tuple[int, str]]:
    """Only literal images are understood; every other form is refused, never passed over.

    YAML that neither is called compose nor holds services is no compose file.
    """
    label = reading.relative(path)
    try:
        document = read_yaml(label, reading.content(path), merges=MergeKeys.ALLOW)
    except DocumentFault as error:
        reading.findings.append(error.finding)
        return
    value = document.value if isinstance(document.value, dict) else {}
    services = value.get("services")
    if services is None and "compose" not in path.name.lower():
        return
    if not isinstance(services, dict) or "include" in value:
        _note_image(
            reading, path, 1, "image/unresolvable", "only `services` with literal images are understood",
            "write each service with `image: name@sha256:<digest>`",
        )  # fmt: skip
        return
    for name, service in services.items():
        line = document.position(("services", name)).line
        image = service.get("image") if isinstance(service, dict) else None
        plain = isinstance(image, str) and "$" not in image
        if not plain or not isinstance(service, dict) or {"build", "extends"} & set(service):
            _note_image(
                reading, path, line, "image/unresolvable", f"the image of service '{name}' cannot be resolved",
                "write `image: name@sha256:<digest>` without build, extends or ${…}",
            )  # fmt: skip
        else:
            yield line, str(image)


def _dockerfile_images(reading: Reading, path: Path) -> Iterator[tuple[int, str]]:
    """Base images and images copied from; stage names fold case, continued lines are joined."""
    stages: set[str] = set()
    for number, line in _instructions(reading.text(path) or ""):
        copied = _COPY_FROM.match(line)
        if copied is not None and copied[1].casefold() not in stages and not copied[1].isdigit():
            yield number, copied[1]
        if not re.match(r"\s*FROM\s", line, re.IGNORECASE):
            continue
        found = _FROM.match(line)
        if found is None or "$" in found[1]:
            _note_image(
                reading, path, number, "image/unresolvable", "the base image cannot be resolved",
                "write FROM name@sha256:<digest>",
            )  # fmt: skip
        elif found[1].casefold() not in stages and found[1] != "scratch":
            yield number, found[1]
        if found is not None and found[2]:
            stages.add(found[2].casefold())


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Yield the instructions of a Dockerfile with the line they start on."""
    start, held = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        if held and line.lstrip().startswith("#"):
            continue
        if not held:
            start = number
        held += line
        if held.rstrip().endswith("\\"):
            held = held.rstrip()[:-1] + " "
            continue
        yield start, held
        held = ""
