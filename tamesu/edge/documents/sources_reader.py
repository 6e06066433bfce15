"""Reading the executed sources: which files they are, whether the list is complete, which images they name."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamesu.base.model.manifest import FileDigest, Sources
from tamesu.edge.documents.approvals import check_approval
from tamesu.edge.documents.document import Document, NodePath
from tamesu.edge.documents.images.lock_file import lock_path
from tamesu.edge.documents.images.reader import LockableImage, ReadImages, read_images
from tamesu.edge.documents.images.survey import Declared
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.role_names import check_role_names
from tamesu.edge.documents.sandboxes import sandbox_files
from tamesu.edge.documents.source_files import files_below, is_folder, source_like

_AT = ("execution", "sources")


@dataclass(frozen=True, slots=True)
class ReadSources:
    """The sources and the container images that they declare."""

    sources: Sources
    images: tuple[LockableImage, ...]


def read_sources(reading: Reading, document: Document, execution: dict[str, Any], task: Path) -> ReadSources:
    """Return the executed sources; findings name what is undeclared, unpinned or tangled."""
    declared = execution.get("sources")
    if declared is None:
        generation, scoring = _Listed(list(source_like(task.parent, reading.unreadable))), _Listed()
    elif isinstance(declared, dict):
        generation = _listed(reading, document, (*_AT, "generation"), declared.get("generation", []))
        scoring = _listed(reading, document, (*_AT, "scoring"), declared.get("scoring", []))
    else:
        generation, scoring = _listed(reading, document, _AT, declared), _Listed()
    files = frozenset((*generation.files, *scoring.files))
    _check_complete(reading, document, task, files)
    _check_imports(reading, document, task, generation.files, scoring.files)
    root = Path(os.path.commonpath([path.parent for path in (*files, task)]))
    folders = frozenset((*generation.folders, *scoring.folders))
    named = frozenset((*generation.named, *scoring.named, task))
    check_approval(reading, document, execution, files | {task})
    check_role_names(reading, document, execution, files | {task})
    sandbox = sandbox_files(reading, document, execution, task, files | {task})
    every = Declared(files | {task}, folders, named, task, sandbox.compose, sandbox.foreign)
    read = read_images(reading, every, root, bool(execution.get("allow_mutable_images")))
    sources = Sources(
        root=reading.relative(root) if root != reading.root else "",
        generation=_digests(reading, _executed(generation, read)),
        scoring=_digests(reading, _executed(scoring, read)),
    )
    return ReadSources(sources, read.images)


@dataclass(slots=True)
class _Listed:
    """What a list of sources names: all files, those named one by one, and the folders."""

    files: list[Path] = field(default_factory=list)
    named: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)


def _executed(listed: _Listed, read: ReadImages) -> list[Path]:
    """Return the files that are copied: less what builds ignore, with the locks of what is listed."""
    files = [path for path in listed.files if path not in read.ignored]
    return [*files, *(read.locks[path] for path in listed.files if path in read.locks)]


def _digests(reading: Reading, paths: Sequence[Path]) -> tuple[FileDigest, ...]:
    found = (reading.source(path) for path in sorted(set(paths)))
    return tuple(digest for digest in found if digest is not None)


def _listed(reading: Reading, document: Document, at: NodePath, written: list[Any]) -> _Listed:
    found = _Listed()
    for number, name in enumerate(written):
        target = reading.reference(document, (*at, number), str(name))
        if target is None:
            continue
        if is_folder(target):
            found.folders.append(target)
            found.files.extend(_contained(reading, document, (*at, number), target))
        else:
            found.named.append(target)
            found.files.append(target)
    return found


def _contained(reading: Reading, document: Document, at: NodePath, folder: Path) -> Iterator[Path]:
    """Yield the files of a declared folder; a link out of the project is noted and left out."""
    for path in files_below(folder, reading.unreadable):
        if reading.contains(path):
            yield path
        else:
            reading.note(
                document, at, "path/escapes", f"'{reading.relative(path)}' leads out of the project",
                "keep every file below the project's folder",
            )  # fmt: skip


def _check_complete(reading: Reading, document: Document, task: Path, declared: frozenset[Path]) -> None:
    if task not in declared:
        reading.note(
            document, _AT, "sources/omits-task", f"sources omit {task.name}, the task itself",
            "add it to execution.sources",
        )  # fmt: skip
    locks = {lock_path(source) for source in declared}
    for path in source_like(task.parent, reading.unreadable):
        if path not in declared and path not in locks and path != task:
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
        for name in sorted(_imported(reading.read(path) or b"") & names):
            reading.note(
                document, (*_AT, "generation"), "sources/scoring-imported",
                f"{path.name} imports the scoring source {name}.py", f"declare {name}.py under generation",
            )  # fmt: skip


def _imported(module: bytes) -> set[str]:
    try:
        tree = ast.parse(module)
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
