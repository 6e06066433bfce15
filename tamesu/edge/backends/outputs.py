"""What a reply leaves behind: its files, staged as a scorer would, durable before the journal says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tamesu.base.canonical import Json
from tamesu.base.model.evidence import Usage
from tamesu.core.checks.reply import parse_reply
from tamesu.core.pictures import picture_kind
from tamesu.core.tasks import FURTHER, IMAGES, OUTPUT, PARSED, WORDS
from tamesu.edge.providers.calls import Called, ReplyPicture
from tamesu.edge.store.files import sync_folder, write_durable
from tamesu.inspect_support import BLOBS, MANIFEST

RAW_FILE, PARSED_FILE, WORDS_FILE = "output.txt", "output.json", "words.txt"


@dataclass(frozen=True, slots=True)
class Output:
    """One file of an output, by its role and its path among the item's artifacts."""

    role: str
    path: str
    media_type: str
    content: bytes

    @property
    def says_anything(self) -> bool:
        """Whether it is more than nothing: words are more than blanks, a picture is any byte."""
        return bool(self.content.strip() if self.media_type == "text/plain" else self.content)


def answered(task: str, called: Called) -> Called:
    """Return what a task makes of a call: a picture that was withheld is an answer, and asking again would not help.

    What a provider refused with an error is not billed.
    """
    if task == IMAGES and called.withheld and not called.pictures:
        words = called.text if called.fault is None else called.fault.message
        called = replace(called, text=words, stop_reason="content_filter", fault=None, passing=False)
    free = called.refused and called.fault is None and called.usage is None
    return replace(called, usage=Usage(0, 0, 0, 0, 0, 0)) if free else called


def outputs_of(task: str, called: Called) -> tuple[Output, ...]:
    """Return the files that a task makes of a reply, none without one."""
    if task == IMAGES:
        return picture_outputs(called)
    return () if called.text is None else text_outputs(called.text)


def picture_outputs(called: Called) -> tuple[Output, ...]:
    """Return the pictures of a reply in its order, the first as the output, and the text that came beside them."""
    pictures = tuple(_picture(number, picture) for number, picture in enumerate(called.pictures, 1))
    if called.text is None or not called.text.strip():
        return pictures
    return (*pictures, Output(WORDS, WORDS_FILE, "text/plain", called.text.encode("utf-8", "backslashreplace")))


def _picture(number: int, picture: ReplyPicture) -> Output:
    """Return a picture under the name that its bytes give it; what is none is kept and never shown as one."""
    role, content = OUTPUT if number == 1 and not picture.interim else FURTHER, picture.content
    kind = picture_kind(content)
    if kind is None:
        return Output(role, f"invalid-{number:04d}.bin", "application/octet-stream", content)
    return Output(role, f"output-{number:04d}.{kind.extension}", kind.media_type, content)


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
