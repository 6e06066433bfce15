"""The sandbox that the manifest chooses, its file taken from the executed copy."""

from __future__ import annotations

import posixpath
from pathlib import Path

from tamesu.base.errors import Refused
from tamesu.base.model.plan import RunSpec


def chosen_sandbox(spec: RunSpec, sources: Path) -> str | tuple[str, str] | None:
    """Return the manifest's sandbox as Inspect takes it, None when the task's own counts.

    `sources` is the executed copy. Raises Refused for a form or a file that lint would not let pass; Inspect itself
    would go on without the option.
    """
    written = spec.options.get("sandbox")
    if isinstance(written, dict):
        written = [written[name] for name in ("type", "config") if name in written]
    match written:
        case None:
            return None
        case str(kind) | [str(kind)]:
            return kind
        case [str(kind), str(config)]:
            return kind, str(copied_source(spec, sources, "sandbox", config))
    raise Refused(f"{spec.ref}: execution.inspect.sandbox is neither a type nor `[type, path]`; correct it")


def copied_source(spec: RunSpec, sources: Path, option: str, written: str) -> Path:
    """Return the copy of a file that an option names, written relative to eval.yml.

    Raises Refused for a file that is no declared source.
    """
    ref = spec.ref
    manifest = f"cases/{ref.case}/experiments/{ref.experiment}/evals/{ref.eval}"
    path = posixpath.normpath(posixpath.join(manifest, written))
    for source in spec.executed:
        if source.path == path:
            return (sources / source.target).resolve()
    raise Refused(f"{spec.ref}: execution.inspect.{option} names '{written}', no declared source; declare it")
