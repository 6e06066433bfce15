"""The sandboxes that a manifest and its task module name, and the files that Inspect would take for them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tamesu.base.model.finding import Finding, Severity
from tamesu.edge.documents.document import Document, DocumentFault, NodePath, Position
from tamesu.edge.documents.images.survey import COMPOSE_SHAPE, NOT_PINNED, UNDECLARED_FILE
from tamesu.edge.documents.reading import Reading

_AT: NodePath = ("execution", "inspect", "sandbox")
_KNOWN_TYPES = ("docker", "local", "k8s", "podman", "proxmox", "ec2", "modal", "daytona")
# Whose files are compose files or Dockerfiles; the others pass through to their plug-ins.
_COMPOSE_TYPES = frozenset({"docker", "podman"})
# What the plug-in of a type looks for in the task's folder when a sandbox names no file.
_FOUND_BY_PLUGIN = {"k8s": ("helm-values.yaml", "values.yaml")}
# What Inspect looks for in the task's folder when a sandbox names no file.
FOUND_BY_INSPECT = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "Dockerfile")


@dataclass(frozen=True, slots=True)
class SandboxFiles:
    """The declared files that configure sandboxes: those read as compose file or Dockerfile, and all others."""

    compose: frozenset[Path] = frozenset()
    foreign: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox by its type and the file that configures it, as written; where it stands."""

    type: str
    config: str | None
    file: str
    position: Position


def sandbox_files(
    reading: Reading, document: Document, execution: dict[str, Any], task: Path, declared: frozenset[Path]
) -> SandboxFiles:
    """Return the declared files that sandboxes name; notes files that are none, and images nobody named.

    An option of the manifest goes before the task's own sandbox; only what the module's text holds literally is
    seen.
    """
    written = execution.get("inspect", {}).get("sandbox")
    option = None if written is None else _option(reading, document, written)
    if written is not None and option is None:
        return SandboxFiles()
    tasks = tuple(_in_module(reading, task))
    # a bare type in the manifest keeps the task's own file for that type
    kept = [one for one in tasks if one.config is not None and (option is None or one.type == option.type)]
    named: list[tuple[Sandbox, Path]] = []
    if option is None or option.config is None:
        named += [(one, path) for one in kept if (path := _of_module(reading, one, task, declared)) is not None]
    elif (target := reading.reference(document, _config_at(written), option.config)) is not None:
        if target in declared:
            named.append((option, target))
        else:
            reading.findings.append(_undeclared(option, option.config))
    mutable = bool(execution.get("allow_mutable_images"))
    for sandbox in tasks if option is None else (option,):
        _check_type(reading, sandbox)
        named += [(sandbox, path) for path in _found_by_plugin(sandbox, task) if path in declared]
        if not mutable and not (option and kept) and _takes_default_image(sandbox, task, declared):
            reading.findings.append(_default_image(sandbox))
    return _sorted_out(named)


def _sorted_out(named: list[tuple[Sandbox, Path]]) -> SandboxFiles:
    """Part the files by what reads them; a plug-in may read a compose file too, under its usual name."""
    compose = {path for one, path in named if one.type in _COMPOSE_TYPES or _called_compose(path)}
    return SandboxFiles(frozenset(compose), frozenset(path for _, path in named) - compose)


def _called_compose(path: Path) -> bool:
    return "compose" in path.name.lower() or path.name in FOUND_BY_INSPECT


def _found_by_plugin(sandbox: Sandbox, task: Path) -> tuple[Path, ...]:
    names = _FOUND_BY_PLUGIN.get(sandbox.type, ()) if sandbox.config is None else ()
    return tuple(task.with_name(name) for name in names)


def _option(reading: Reading, document: Document, written: Any) -> Sandbox | None:
    """Return the sandbox of the manifest: a type, `[type, path]`, or a mapping of `type` and `config`."""
    parts = [written] if isinstance(written, str) else written
    if isinstance(written, dict):
        parts = [written.get("type"), written["config"]] if "config" in written else [written.get("type")]
        parts = parts if written.keys() <= {"type", "config"} else []
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, str) for part in parts):
        message = "the sandbox is neither a type nor a type with the path of its file"
        reading.note(document, _AT, COMPOSE_SHAPE, message, "write `docker` or `[docker, ../../inspect/compose.yaml]`")
        return None
    return Sandbox(parts[0], parts[1] if len(parts) == 2 else None, document.label, document.position(_AT))


def _config_at(written: Any) -> NodePath:
    return (*_AT, "config" if isinstance(written, dict) else 1)


def _of_module(reading: Reading, sandbox: Sandbox, task: Path, declared: frozenset[Path]) -> Path | None:
    """Return the declared file that the task module names, relative to its own folder; or note what is wrong."""
    if sandbox.config is None:
        return None
    module = Document(reading.relative(task), None, {(): sandbox.position})
    target = reading.reference(module, (), sandbox.config)
    if target is not None and target not in declared:
        reading.findings.append(_undeclared(sandbox, sandbox.config))
        return None
    return target


def _undeclared(sandbox: Sandbox, written: str) -> Finding:
    message = f"'{written}' configures the sandbox and is no declared source"
    return _finding(sandbox, UNDECLARED_FILE, message, "add the file to execution.sources, inside the project")


def _takes_default_image(sandbox: Sandbox, task: Path, declared: frozenset[Path]) -> bool:
    beside = {task.with_name(name) for name in FOUND_BY_INSPECT}
    return sandbox.type == "docker" and sandbox.config is None and not beside & declared


def _default_image(sandbox: Sandbox) -> Finding:
    message = "no compose file is declared beside the task, and Inspect's own default image has no digest"
    return _finding(sandbox, NOT_PINNED, message, "declare a compose file whose images are pinned")


def _check_type(reading: Reading, sandbox: Sandbox) -> None:
    if sandbox.type in _KNOWN_TYPES:
        return
    near = difflib.get_close_matches(sandbox.type, _KNOWN_TYPES, n=1)
    fix = f"did you mean {near[0]}?" if near else "see that the package which brings it is installed"
    message = f"sandbox type '{sandbox.type}' is none that is known here"
    reading.findings.append(_finding(sandbox, "task/sandbox", message, fix, "warning"))


def _finding(sandbox: Sandbox, rule: str, message: str, fix: str, severity: Severity = "error") -> Finding:
    return Finding(sandbox.file, sandbox.position.line, sandbox.position.column, severity, rule, message, fix)


def _in_module(reading: Reading, task: Path) -> Iterator[Sandbox]:
    """Yield the sandboxes that calls in a task module name literally."""
    try:
        content = reading.content(task)
        if b"sandbox" not in content:  # parsing takes longer than all else that is read of one more eval
            return
        tree = ast.parse(content)
    except (DocumentFault, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    label = reading.relative(task)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            parts = _literal(keyword.value) if keyword.arg == "sandbox" else None
            if parts is not None:
                place = Position(keyword.value.lineno, keyword.value.col_offset + 1)
                yield Sandbox(parts[0], parts[1], label, place)


def _literal(value: ast.expr) -> tuple[str, str | None] | None:
    """Return type and file of a sandbox that is written out, None for any other expression."""
    match value:
        case ast.Constant(value=str(kind)):
            return kind, None
        case ast.Tuple(elts=[ast.Constant(value=str(kind)), ast.Constant(value=str(config))]):
            return kind, config
        case ast.Call(func=ast.Name(id="SandboxEnvironmentSpec"), args=arguments, keywords=keywords):
            given = [*arguments, *(one.value for one in keywords if one.arg in {"type", "config"})]
            texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            return (texts[0], texts[1] if len(texts) > 1 else None) if len(texts) == len(given) > 0 else None
        case _:
            return None
