"""Which kind of thing an artifact is by its media type, and whether its bytes fit: text, image, audio or video.

The bytes are hostile. Text is decoded and images are within bounds; audio and video are recognised by the signature of
their container and never decoded, since a browser plays them in a process of its own.
"""

from __future__ import annotations

from typing import Literal

from tamesu.core.images import MEDIA_TYPE_MISMATCH, inspect_image

MAX_TEXT_BYTES = 4 * 1024 * 1024

UNDECODABLE_TEXT = "undecodable_text"
TEXT_TOO_LARGE = "text_too_large"
NOT_AUDIO = "review_artifact_not_audio"
NOT_VIDEO = "review_artifact_not_video"
NOT_SHOWABLE = "review_artifact_not_showable"

Kind = Literal["text", "image", "audio", "video"]

# Sources and data that are text without saying so.
_TEXT_TYPES = frozenset(
    {
        "json", "x-ndjson", "jsonl", "xml", "yaml", "x-yaml", "toml", "javascript", "ecmascript", "typescript",
        "x-sh", "x-python", "x-httpd-php", "sql", "graphql", "x-tex", "x-latex",
    }
)  # fmt: skip
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")

# Which subtypes a container goes by; audio and video share some containers.
_SUBTYPES = {
    "wav": frozenset({"wav", "x-wav", "wave", "vnd.wave"}),
    "mp3": frozenset({"mpeg", "mp3", "x-mp3", "mpeg3", "x-mpeg"}),
    "ogg": frozenset({"ogg", "opus", "vorbis", "x-vorbis+ogg", "theora"}),
    "flac": frozenset({"flac", "x-flac"}),
    "mp4": frozenset({"mp4", "x-m4a", "m4a", "x-m4v", "quicktime", "3gpp", "3gpp2"}),
    "webm": frozenset({"webm", "x-matroska"}),
}
_SOUND_ONLY = frozenset({"wav", "mp3", "flac"})
_EBML = b"\x1a\x45\xdf\xa3"


def kind_of(media_type: str) -> Kind | None:
    """Return how an artifact is shown; None for what a page cannot show. SVG is an image that does not decode."""
    family, subtype = _parts(media_type)
    if family == "text" or (family == "application" and (subtype in _TEXT_TYPES or subtype.endswith(_TEXT_SUFFIXES))):
        return "text"
    if family in {"image", "audio", "video"}:
        return family  # type: ignore[return-value]
    return None


def review_fault(content: bytes, media_type: str) -> str | None:
    """Return why bytes are not fit to be reviewed as what their media type says, None when they are."""
    match kind_of(media_type):
        case "text":
            return _text_fault(content)
        case "image":
            return inspect_image(content, media_type).reason
        case "audio":
            return _recording_fault(content, media_type, NOT_AUDIO)
        case "video":
            return _recording_fault(content, media_type, NOT_VIDEO)
    return NOT_SHOWABLE


def container_of(content: bytes) -> str | None:
    """Return the container of a sound or film by its signature: wav, mp3, ogg, flac, mp4 or webm."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "wav"
    if content[:4] == b"OggS":
        return "ogg"
    if content[:4] == b"fLaC":
        return "flac"
    if content[4:8] == b"ftyp":
        return "mp4"
    if content[:4] == _EBML and any(name in content[:64] for name in (b"webm", b"matroska")):
        return "webm"
    return "mp3" if content[:3] == b"ID3" or _is_mpeg_frame(content) else None


def _is_mpeg_frame(content: bytes) -> bool:
    """Whether bytes begin with the header of an MPEG audio frame: sync, then version, layer, rate and frequency."""
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return False
    version, layer = content[1] >> 3 & 3, content[1] >> 1 & 3
    rate, frequency = content[2] >> 4, content[2] >> 2 & 3
    return version != 1 and layer != 0 and rate not in {0, 15} and frequency != 3


def _parts(media_type: str) -> tuple[str, str]:
    family, _, subtype = media_type.split(";")[0].strip().lower().partition("/")
    return family, subtype


def _text_fault(content: bytes) -> str | None:
    if len(content) > MAX_TEXT_BYTES:
        return TEXT_TOO_LARGE
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return UNDECODABLE_TEXT
    return UNDECODABLE_TEXT if "\0" in text else None


def _recording_fault(content: bytes, media_type: str, not_one: str) -> str | None:
    family, subtype = _parts(media_type)
    container = container_of(content)
    if container is None or (family == "video" and container in _SOUND_ONLY):
        return not_one
    return None if subtype in _SUBTYPES[container] else MEDIA_TYPE_MISMATCH
