"""What a judge is sent: what it is told, the output in its parts, and the form of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.evidence import Artifact, Fault
from tamesu.core.judging.images import MEDIA_TYPE, shown_image
from tamesu.core.judging.owed import CHANGED, NOT_SHOWABLE, TOO_LARGE
from tamesu.core.judging.reply import verdict_instruction
from tamesu.core.media import kind_of
from tamesu.edge.providers.calls import ImagePart, Part, TextPart, Turn
from tamesu.stages.judge_plan import Ask

LARGEST_TEXT = 1_000_000  # bytes; a part of an output would be judged as if it were all of it


@dataclass(frozen=True, slots=True)
class Sent:
    """The messages of one call, the judged texts among them, and by role the SHA-256 of what is shown of each."""

    turns: tuple[Turn, ...]
    texts: tuple[str, ...]
    shown: Mapping[str, str]


class _Unfit(Exception):
    """An output that cannot be judged."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(kind, message)


def judge_messages(ask: Ask, item_folder: Path) -> Sent | Fault:
    """Return what a judge is sent of an output, or why it cannot be judged.

    Pictures go without file name and metadata; texts between marks that hold their own digest, which no text can.
    """
    assert ask.judge.rubric is not None, "lint refuses a judge without a rubric"
    system, user = ask.messages
    texts: list[str] = []
    shown: dict[str, str] = {}
    parts: list[Part] = [TextPart(user.content)]
    try:
        for artifact in ask.artifacts:
            parts += _shown(artifact, _content(item_folder, artifact), texts, shown)
    except _Unfit as unfit:
        return unfit.fault
    parts.append(TextPart(verdict_instruction(ask.judge.rubric.dimensions)))
    turns = (Turn("system", (TextPart(system.content),)), Turn("user", tuple(parts)))
    return Sent(turns, tuple(texts), shown)


def _content(folder: Path, artifact: Artifact) -> bytes:
    try:
        content = (folder / artifact.path).read_bytes()
    except OSError:
        content = b""
    if digest_bytes(content) != artifact.sha256:
        raise _Unfit(CHANGED, f"the artifact of role '{artifact.role}' is not what the result says")
    return content


def _shown(artifact: Artifact, content: bytes, texts: list[str], shown: dict[str, str]) -> Iterator[Part]:
    match kind_of(artifact.media_type):
        case "image":
            picture = shown_image(content)
            if picture is None:
                raise _Unfit(NOT_SHOWABLE, f"the picture of role '{artifact.role}' does not decode")
            shown[artifact.role] = digest_bytes(picture)
            yield TextPart(f"The output's {artifact.role} is this picture:")
            yield ImagePart(MEDIA_TYPE, picture)
        case "text":
            text = _text(artifact, content)
            texts.append(text)
            shown[artifact.role] = digest_bytes(text.encode())
            mark = shown[artifact.role][:16]
            yield TextPart(
                f"The output's {artifact.role} is the text between the two marks {mark}:\n{mark}\n{text}\n{mark}\n"
            )
        case kind:
            told = kind or artifact.media_type
            raise _Unfit(NOT_SHOWABLE, f"role '{artifact.role}' is {told}, which no judge is shown")


def _text(artifact: Artifact, content: bytes) -> str:
    if len(content) > LARGEST_TEXT:
        raise _Unfit(
            TOO_LARGE, f"the text of role '{artifact.role}' has {len(content)} bytes; a judge reads {LARGEST_TEXT}"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Unfit(NOT_SHOWABLE, f"the text of role '{artifact.role}' is no UTF-8") from None
