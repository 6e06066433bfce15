"""Sounds without what their container says about who made them, as far as that can be cut out without decoding."""

from __future__ import annotations

from tamesu.core.media import container_of

_WAV_KEPT = (b"fmt ", b"fact", b"data")
_FLAC_KEPT = (0, 3)  # STREAMINFO and SEEKTABLE: RFC 9639, section 8
_FLAC_LAST = 0x80


def without_metadata(content: bytes) -> bytes | None:
    """Return a WAV or FLAC whose container holds sound alone; None for every other container, or a broken one."""
    match container_of(content):
        case "wav":
            return _bare_wav(content)
        case "flac":
            return _bare_flac(content)
    return None


def _bare_wav(content: bytes) -> bytes | None:
    """Keep format and samples; chunks: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html."""
    kept, names, at = [], set(), 12
    while at + 8 <= len(content):
        name, size = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        body = content[at + 8 : at + 8 + size]
        if len(body) < size and name != b"data":
            return None
        if name in _WAV_KEPT and name not in names:
            names.add(name)
            kept.append(name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2))
        at += 8 + size + size % 2
    if not {b"fmt ", b"data"} <= names:
        return None
    chunks = b"WAVE" + b"".join(kept)
    return b"RIFF" + len(chunks).to_bytes(4, "little") + chunks


def _bare_flac(content: bytes) -> bytes | None:
    kept, at, last = [], 4, False
    while not last:
        if at + 4 > len(content):
            return None
        last, kind = bool(content[at] & _FLAC_LAST), content[at] & ~_FLAC_LAST
        size = int.from_bytes(content[at + 1 : at + 4], "big")
        body = content[at + 4 : at + 4 + size]
        if len(body) < size:
            return None
        if kind in _FLAC_KEPT:
            kept.append((kind, body))
        at += 4 + size
    if not kept or kept[0][0] != 0:
        return None
    blocks = [
        bytes([kind | (_FLAC_LAST if number == len(kept) - 1 else 0)]) + len(body).to_bytes(3, "big") + body
        for number, (kind, body) in enumerate(kept)
    ]
    return b"fLaC" + b"".join(blocks) + content[at:]
