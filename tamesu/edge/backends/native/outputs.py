"""What a reply leaves behind: its files, staged as a scorer would, durable before the journal says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import Json
from tamesu.core.checks.reply import parse_reply
from tamesu.core.tasks import OUTPUT, PARSED
from tamesu.edge.providers.calls import Called
from tamesu.edge.store.files import sync_folder, write_durable
from tamesu.inspect_support import BLOBS, MANIFEST

RAW_FILE, PARSED_FILE = "output.txt", "output.json"


@dataclass(frozen=True, slots=True)
class Output:
    """One file of an output, by its role and its path among the item's artifacts."""

    role: str
    path: str
    media_type: str
    content: bytes


def outputs_of(called: Called) -> tuple[Output, ...]:
    """Return the files of a reply, none without one: a text as it came and, where it is JSON, the value it is."""
    if called.text is None:
        return ()
    return text_outputs(called.text)


def text_outputs(text: str) -> tuple[Output, ...]:
    """Return a text as it came and, where it is one JSON value, that value."""
    raw = Output(OUTPUT, RAW_FILE, "text/plain", text.encode("utf-8", "backslashreplace"))
    parsed = parse_reply(text)
    if parsed.problem is not None:
        return (raw,)
    return (raw, Output(PARSED, PARSED_FILE, "application/json", _pretty(parsed.value)))


def _pretty(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"


def stage_outputs(root: Path, item: str, outputs: Sequence[Output]) -> None:
    """Write an item's files and, last, the manifest that names them; durable on return. Raises StorageFull.

    Nothing reads them before the journal says that the item ended, so a death may leave parts of them.
    """
    folder, lines = root / item, []
    for number, output in enumerate(outputs, 1):
        blob = f"{BLOBS}/{number:04d}"
        write_durable(folder / blob, output.content)
        entry = {"role": output.role, "path": output.path, "media_type": output.media_type, "blob": blob}
        lines.append(json.dumps(entry).encode("ascii") + b"\n")
    write_durable(folder / MANIFEST, b"".join(lines))
    for changed in (folder / BLOBS, folder, root) if outputs else (folder, root):
        sync_folder(changed)
