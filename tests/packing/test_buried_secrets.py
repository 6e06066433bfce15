"""Secrets in streams that nothing names, and under the many names of credentials; canaries are made at test time."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tamesu.core.packages.leaks import Search
from tamesu.edge.packages.buried import buried
from tamesu.edge.packages.known_secrets import search_for, search_of
from tamesu.edge.packages.secrets_scan import scan_file
from tests.packing.test_secrets import VARIABLE

SAID = b"the key of this account is %s and nothing else\n"


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("hidden.txt", content)
        archive.writestr("shown.txt", b"plain")
    return stream.getvalue()


def without_directory(content: bytes) -> bytes:
    whole = zipped(content)
    return whole[: whole.index(b"PK\x01\x02")]


def left_out_of_directory(content: bytes) -> bytes:
    """Return a ZIP whose directory names its second member alone."""
    whole = zipped(content)
    directory = whole.index(b"PK\x01\x02")
    second = whole.index(b"PK\x01\x02", directory + 4)
    end = whole.index(b"PK\x05\x06")
    rest = bytearray(whole[:directory] + whole[second:])
    at = rest.index(b"PK\x05\x06")
    struct.pack_into("<HHII", rest, at + 8, 1, 1, end - second, directory)
    return bytes(rest)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def in_picture(kind: bytes, make: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def made(content: bytes) -> bytes:
        stream = io.BytesIO()
        Image.new("RGB", (8, 8)).save(stream, "PNG")
        whole = stream.getvalue()
        at = whole.index(b"IDAT") - 4
        return whole[:at] + chunk(kind, make(content)) + whole[at:]

    return made


def behind_picture(content: bytes) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8)).save(stream, "PNG")
    return stream.getvalue() + gzip.compress(content)


HIDINGS: dict[str, Callable[[bytes], bytes]] = {
    "zip-without-directory": without_directory,
    "member-left-out": left_out_of_directory,
    "gzip-behind-zip": lambda c: zipped(b"nothing") + gzip.compress(c),
    "gzip-behind-junk": lambda c: os.urandom(300) + gzip.compress(c),
    "gzip-before-junk": lambda c: b"junk" + gzip.compress(c) + os.urandom(300),
    "zlib-behind-junk": lambda c: b"\0junk" + zlib.compress(c) + b"\0",
    "zlib-in-private-chunk": in_picture(b"prIv", zlib.compress),
    "text-in-private-chunk": in_picture(b"prIv", bytes),
    "gzip-behind-picture": behind_picture,
}


@pytest.mark.parametrize("hiding", HIDINGS)
def test_c51_a_value_in_a_stream_that_nothing_names_is_found(hiding: str) -> None:
    canary = secrets.token_urlsafe(24)
    hidden = HIDINGS[hiding](SAID % canary.encode())
    found = list(scan_file("datasets/a.bin", hidden, search_for({VARIABLE: canary})))
    assert {one.kind for one in found} == {f"holds the value of {VARIABLE}"}
    assert canary not in "".join(map(str, found))


def test_noise_holds_no_stream_and_is_no_finding() -> None:
    noise = os.urandom(1 << 20)
    assert list(buried(noise, 1 << 20)) == []
    assert list(scan_file("datasets/a.bin", noise, search_for({}))) == []


def test_a_file_of_streams_without_end_is_a_finding() -> None:
    stream = gzip.compress(b"sixteen letters!")
    (found,) = scan_file("datasets/a.bin", b"\0" + stream * 10_001, search_for({}))
    assert found.kind.startswith("was not looked through: it holds more than 10,000 streams")


def test_samples_that_look_like_beginnings_are_none() -> None:
    sound = b"\x78\x01" * 200_000  # samples of 16 bits, as a WAV file holds
    assert list(scan_file("datasets/a.wav", b"RIFF" + sound, search_for({}))) == []


def names(search: Search) -> set[str]:
    return {one.name for one in search.needles}


def test_credentials_go_by_many_names_and_places_are_none() -> None:
    value = secrets.token_urlsafe(24)
    telling = ("DB_PASS", "GPG_PASSPHRASE", "REGISTRY_AUTH", "SITE_COOKIE", "SENTRY_DSN", "APIKEY", "AUTH")
    silent = ("PATH", "COMPASS", "AUTHOR", "KEYBOARD", "MONKEYS")
    found = search_for(
        dict.fromkeys((*telling, *silent), value)
        | {"SSH_AUTH_SOCK": "/tmp/agent/socket", "XDG_AUTH": "unix:path=/run/user/1/bus"}
    )
    assert names(found) == set(telling)


def test_the_password_of_a_url_is_looked_for_as_spelt_and_as_meant() -> None:
    begin, end = secrets.token_hex(6), secrets.token_hex(6)
    search = search_for({"OPENAI_BASE_URL": f"https://ada:{begin}%40{end}@example.org/v1"})
    for spelt in (f"{begin}%40{end}", f"{begin}@{end}"):
        assert list(scan_file("a.md", spelt.encode(), search)) != []


def test_what_lies_in_a_file_for_secrets_counts_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, replaced = "a1" + secrets.token_hex(12), "b2" + secrets.token_hex(12)
    (tmp_path / ".env").write_text(
        f"ODD_NAME={kept}\nHF_TOKEN={replaced}\nMODEL=gpt-4o-mini\nLIMIT=12345678901234567890\nPLACE=/data/of/2026/here\n"
    )
    monkeypatch.setenv("HF_TOKEN", secrets.token_hex(12))
    search = search_of(tmp_path)
    for value in (kept, replaced):  # what the process replaces is a secret still
        assert list(scan_file("a.md", value.encode(), search)) != []
    assert {"MODEL", "LIMIT", "PLACE"} & names(search) == set()
