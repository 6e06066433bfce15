"""Sounds are handed over without what their containers say; what cannot be cut safely is not touched."""

from __future__ import annotations

import io
import wave

from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.media import container_of
from tamesu.core.review.recordings import without_metadata

SAMPLES = bytes(range(200))


def chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)


def wav(*extra: bytes) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(SAMPLES)
    body = buffer.getvalue()[8:] + b"".join(extra)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def block(kind: int, body: bytes, last: bool = False) -> bytes:
    return bytes([kind | (0x80 if last else 0)]) + len(body).to_bytes(3, "big") + body


def test_a_wav_keeps_its_sound_alone() -> None:
    said = (
        chunk(b"LIST", b"INFOISFT\x0b\0\0\0candidate-b\0"),
        chunk(b"id3 ", b"candidate-b"),
        chunk(b"bext", b"candidate-b"),
    )
    bare = without_metadata(wav(*said))
    assert bare is not None
    assert b"candidate" not in bare
    assert int.from_bytes(bare[4:8], "little") == len(bare) - 8
    with wave.open(io.BytesIO(bare)) as sound:
        assert (sound.getframerate(), sound.readframes(1000)) == (8000, SAMPLES)


def test_what_stands_behind_a_wav_is_gone() -> None:
    bare = without_metadata(wav() + b"candidate-b")
    assert bare is None or b"candidate" not in bare


def test_a_wav_without_an_end_is_kept_to_what_there_is() -> None:
    bare = without_metadata(wav()[:-50])
    assert bare is not None
    with wave.open(io.BytesIO(bare)) as sound:
        assert sound.readframes(1000) == SAMPLES[:-50]


def test_a_flac_keeps_its_stream_alone() -> None:
    info, seek, frames = bytes(34), bytes(18), b"\xff\xf8 frames"
    said = block(4, b"candidate-b") + block(6, b"candidate-b picture")
    whole = b"fLaC" + block(0, info) + said + block(3, seek) + block(1, bytes(9), last=True) + frames
    assert without_metadata(whole) == b"fLaC" + block(0, info) + block(3, seek, last=True) + frames


def test_other_containers_are_left_alone() -> None:
    for content in (b"ID3\x04" + bytes(20), b"OggS" + bytes(20), b"\0\0\0\x18ftypmp42", b"", b"RIFF\0\0\0\0WAVE"):
        assert without_metadata(content) is None


@given(
    st.binary(max_size=60), st.sampled_from([b"RIFF\x24\0\0\0WAVE", b"fLaC", wav()[:44], b"fLaC" + block(0, bytes(34))])
)
def test_hostile_bytes_yield_a_sound_of_the_same_container_or_nothing(tail: bytes, head: bytes) -> None:
    bare = without_metadata(head + tail)
    assert bare is None or container_of(bare) == container_of(head + tail)
    assert bare is None or without_metadata(bare) == bare
