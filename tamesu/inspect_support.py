"""What a scorer of an Inspect task may import: artifact staging, and guarded reads of the model output.

    from tamesu.inspect_support import stager

    stage = stager(state.sample_id)
    stage.add("source", "source/main.c", body, "text/x-c")

A sample's staging area is `<root>/<sample_id>/`, with one JSON object per line in `manifest.jsonl` (role,
path, media_type, blob) and the content in `blobs/0001`, `blobs/0002` and so on. Nothing is judged here:
roles, paths and sizes are checked at ingestion. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

__all__ = ["Stager", "bound_staging", "first_choice", "stager", "stop_reason", "stopped_on_length"]

MANIFEST = "manifest.jsonl"
KEPT = "kept.jsonl"
BLOBS = "blobs"

_LENGTH_STOPS = ("max_tokens", "model_length")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class _Binding:
    root: pathlib.Path
    sample: str


_bound: ContextVar[_Binding | None] = ContextVar("tamesu_staging", default=None)
_manifest_lock = threading.Lock()


@contextlib.contextmanager
def bound_staging(root: pathlib.Path, sample_id: str | int) -> Iterator[None]:
    """Bind the staging root for one sample; the backend wraps every scorer call in it.

    Raises ValueError when the sample ID is not a plain file name.
    """
    sample = str(sample_id)
    if sample in ("", ".", "..") or any(mark in sample for mark in "/\\\0"):
        raise ValueError(f"sample ID {sample!r} cannot name a folder; use lowercase kebab-case")
    token = _bound.set(_Binding(root, sample))
    try:
        yield
    finally:
        _bound.reset(token)


def stager(sample_id: str | int) -> Stager:
    """Return the stager of the sample that is being scored.

    Raises RuntimeError outside a scorer that Tamesu runs, or for the ID of another sample.
    """
    return Stager(_binding(str(sample_id)))


def list_as_kept(stage: Stager) -> None:
    """Write which files a stager added, in the place of an earlier list; Tamesu calls it for what a model said.

    Raises OSError when the disk fails.
    """
    stage._folder.mkdir(parents=True, exist_ok=True)
    part = stage._folder / f"{KEPT}.part"
    part.write_bytes(b"".join(stage._staged))
    part.replace(stage._folder / KEPT)


class Stager:
    """Adds files to the staging area of one sample."""

    def __init__(self, binding: _Binding) -> None:
        self._binding = binding
        self._folder = binding.root / binding.sample
        self._next = 1
        self._staged: list[bytes] = []

    def add(self, role: str, path: str, body: bytes | str, media_type: str) -> None:
        """Stage one file under a role; text is written as UTF-8, lone surrogates as backslash escapes.

        Every call is recorded, a repeated path too. Raises TypeError for other types, RuntimeError when used
        for another sample than the one it was made for, OSError when the disk fails.
        """
        for name, value in (("role", role), ("path", path), ("media_type", media_type)):
            if not isinstance(value, str):
                raise TypeError(f"stage.add: {name} must be text, not {type(value).__name__}")
        content = _as_bytes(body)
        if _binding(self._binding.sample) != self._binding:
            raise RuntimeError("this stager belongs to another run; call stager(state.sample_id) in every scorer")
        (self._folder / BLOBS).mkdir(parents=True, exist_ok=True)
        blob = self._write_blob(content)
        entry = {"role": role, "path": path, "media_type": media_type, "blob": blob}
        line = json.dumps(entry).encode("ascii") + b"\n"
        _append(self._folder / MANIFEST, line)
        self._staged.append(line)

    def _write_blob(self, content: bytes) -> str:
        name = self._reserve()
        part = self._folder / BLOBS / f"{name}.part"
        with os.fdopen(os.open(part, _NEW_FILE, 0o666), "wb") as file:
            file.write(content)
        part.replace(self._folder / BLOBS / name)
        return f"{BLOBS}/{name}"

    def _reserve(self) -> str:
        # An empty file under the final name holds the number against every other scorer and process.
        while True:
            name = f"{self._next:04d}"
            self._next += 1
            try:
                os.close(os.open(self._folder / BLOBS / name, _NEW_FILE, 0o666))
            except FileExistsError:
                continue
            return name


def first_choice(state: Any) -> Any | None:
    """Return the first choice of the model output, or None when there is no output or no choice."""
    choices = getattr(getattr(state, "output", None), "choices", None)
    return choices[0] if choices else None


def stop_reason(state: Any) -> str | None:
    """Return why generation stopped, or None when the output holds no choice."""
    reason = getattr(first_choice(state), "stop_reason", None)
    return None if reason is None else str(reason)


def stopped_on_length(state: Any) -> bool:
    """Say whether the answer was cut at a token limit; False when there is no answer."""
    return stop_reason(state) in _LENGTH_STOPS


def _binding(sample: str) -> _Binding:
    binding = _bound.get()
    if binding is None:
        raise RuntimeError(f"no staging area is bound for sample '{sample}'; stage inside a scorer run by Tamesu")
    if binding.sample != sample:
        raise RuntimeError(f"sample '{binding.sample}' is being scored, not '{sample}'; pass state.sample_id")
    return binding


def _as_bytes(body: bytes | str) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(f"stage.add: body must be bytes or text, not {type(body).__name__}")


def _append(manifest: pathlib.Path, line: bytes) -> None:
    with _manifest_lock, os.fdopen(os.open(manifest, _APPEND, 0o666), "r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            # A line cut by a crash must not swallow this one.
            line = b"\n" + line
        if file.write(line) != len(line):
            file.truncate(end)
            raise OSError(f"{manifest}: the line could not be written in full; is the disk full?")
