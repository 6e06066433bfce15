"""A pack: what a reviewer sees of each entry, as values that a page shows as text and pictures only."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tamesu.base.canonical import Json, digest_bytes
from tamesu.base.model.judgement import Answer, ReviewRecord
from tamesu.base.model.manifest import Rubric
from tamesu.base.model.review import PackKind, ShownFile
from tamesu.core.media import Kind, container_of
from tamesu.core.review.pictures import normalised
from tamesu.core.review.recordings import without_metadata

_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg"}
TURNED = "holds characters that turn the direction of reading"
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
NOT_CUT = "the recording is handed over as it is, and its container may say what made it"


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing that is shown: a text, or bytes of a media type that a browser shows without running anything.

    `label` is what it is called: the role of an output, the field of an input; empty when there is one only.
    """

    label: str
    kind: Kind | Literal["nothing"]
    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    transparent: bool = False
    remarks: tuple[str, ...] = ()

    def as_file(self, role: str, sha256: str) -> ShownFile:
        """Return how the key records it; of a text the bytes shown are its UTF-8."""
        content = self.data if self.data is not None else (self.text or "").encode("utf-8", "replace")
        return ShownFile(role, sha256, digest_bytes(content), self.remarks)


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One entry: the item's input, the output, and in an adjudication what reviewers said of it, without names."""

    id: str
    inputs: tuple[Shown, ...]
    outputs: tuple[Shown, ...]
    earlier: tuple[ReviewRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything that leaves the project for a reviewer; `token` tells packs of one name apart in a browser."""

    name: str
    kind: PackKind
    rubric: Rubric
    token: str
    entries: tuple[PackEntry, ...]


def shown_file(label: str, kind: Kind | None, content: bytes) -> Shown:
    """Return how a file is shown. Kinds come from a media type that was checked, bytes are hostile all the same."""
    match kind:
        case "image":
            return _picture(label, content)
        case "text":
            text = content.decode("utf-8-sig", "replace")
            return Shown(label, "text", text=text, remarks=(TURNED,) if _TURNING.search(text) else ())
        case "audio" | "video":
            return _recording(label, kind, content)
    return Shown(label, "nothing", remarks=(f"a file of {len(content):,} bytes that a page cannot show",))


def shown_input(value: Json) -> tuple[Shown, ...]:
    """Return an item's input: a text as it is, fields one by one, everything else as JSON."""
    if isinstance(value, dict) and value:
        return tuple(Shown(name, "text", text=_text(part)) for name, part in value.items())
    return (Shown("", "text", text=_text(value)),)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _picture(label: str, content: bytes) -> Shown:
    picture = normalised(content)
    if picture is None:
        return Shown(label, "nothing", remarks=("a picture that cannot be decoded",))
    return Shown(
        label,
        "image",
        data=picture.png,
        media_type="image/png",
        transparent=picture.transparent,
        remarks=picture.remarks,
    )


def _recording(label: str, kind: Literal["audio", "video"], content: bytes) -> Shown:
    container = container_of(content)
    if container is None:
        return Shown(label, "nothing", remarks=(f"is no {kind} that browsers play",))
    media_type = _SOUNDS.get(container, f"audio/{container}") if kind == "audio" else f"video/{container}"
    bare = without_metadata(content)
    return Shown(label, kind, data=content if bare is None else bare, media_type=media_type)


def keeps_metadata(shown: Shown, content: bytes) -> bool:
    """Whether a sound or film is shown with whatever its container says."""
    return shown.kind in ("audio", "video") and without_metadata(content) is None


def page_data(pack: Pack) -> dict[str, Json]:
    """Return what the page of a pack is made from."""
    return {
        "pack": pack.name,
        "token": pack.token,
        "kind": pack.kind,
        "rubric": {
            "name": pack.rubric.name,
            "rationale": pack.rubric.rationale,
            "dimensions": [
                {"id": one.id, "question": one.question, "codes": list(one.reason_codes)}
                for one in pack.rubric.dimensions
            ],
        },
        "entries": [_entry(entry) for entry in pack.entries],
    }


def _entry(entry: PackEntry) -> Json:
    return {
        "id": entry.id,
        "inputs": [_shown(one) for one in entry.inputs],
        "outputs": [_shown(one) for one in entry.outputs],
        "earlier": [_voice(one) for one in entry.earlier],
    }


def _shown(one: Shown) -> Json:
    source = None
    if one.data is not None:
        source = f"data:{one.media_type};base64,{b64encode(one.data).decode()}"
    return {
        "label": one.label,
        "kind": one.kind,
        "text": one.text,
        "source": source,
        "transparent": one.transparent,
        "remarks": list(one.remarks),
    }


def _voice(review: ReviewRecord) -> Json:
    return {"note": review.note, "answers": {name: _answer(answer) for name, answer in review.answers.items()}}


def _answer(answer: Answer) -> Json:
    return {"passed": answer.passed, "reason": answer.reason, "note": answer.note}


def texts_of(entries: Sequence[PackEntry]) -> dict[tuple[str, str], str]:
    """Return what could say a name: by entry and kind of place, in words for a warning."""
    found: dict[tuple[str, str], str] = {}
    for entry in entries:
        found[entry.id, "the input"] = "\n".join(map(_words, entry.inputs))
        found[entry.id, "the output"] = "\n".join(map(_words, entry.outputs))
        notes = [note for review in entry.earlier for note in _notes(review)]
        found[entry.id, "an earlier review"] = "\n".join(notes)
    return found


def _words(one: Shown) -> str:
    sound = one.data.decode("ascii", "replace") if one.data is not None and one.kind != "image" else ""
    return "\n".join((one.label, one.text or "", sound))


def _notes(review: ReviewRecord) -> list[str]:
    return [note for note in (review.note, *(one.note for one in review.answers.values())) if note]
