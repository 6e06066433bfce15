"""The scan for secrets over finished archives; every canary is made when a test runs."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import secrets
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin
from pyarrow import parquet

from tamesu.core.packages.leaks import Search, leaks_in, needle
from tamesu.edge.packages.known_secrets import search_for
from tamesu.edge.packages.secrets_scan import scan_file
from tests.cli.calling import Caller
from tests.cli.lint_cases import write
from tests.packing.cases import ARCHIVE, CASE, members
from tests.packing.test_pack import packed
from tests.projects import EVAL, ShapesProject

VARIABLE = "OPENAI_API_KEY"
Wrap = Callable[[bytes], bytes]


def zipped(content: bytes, name: str = "inner.json") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content * 3)
    return stream.getvalue()


def tarred(content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        member = tarfile.TarInfo("inner")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def png(content: bytes, *, packed: bool) -> bytes:
    stream, said = io.BytesIO(), PngImagePlugin.PngInfo()
    said.add_text("comment", content.decode(), zip=packed)
    Image.new("RGB", (2, 2)).save(stream, "png", pnginfo=said)
    return stream.getvalue()


def png_xmp(content: bytes) -> bytes:
    stream, said = io.BytesIO(), PngImagePlugin.PngInfo()
    said.add_itxt("XML:com.adobe.xmp", f"<x>{content.decode()}</x>", zip=True)
    Image.new("RGB", (2, 2)).save(stream, "png", pnginfo=said)
    return stream.getvalue()


def png_profile(content: bytes) -> bytes:
    said = b"\nexif\n%8d\n" % len(content) + content.hex().encode()
    body = b"Raw profile type exif\0\0" + zlib.compress(said)
    chunk = struct.pack(">I", len(body)) + b"zTXt" + body + bytes(4)
    return b"\x89PNG\r\n\x1a\n" + chunk


def jpeg(content: bytes) -> bytes:
    stream, exif = io.BytesIO(), Image.Exif()
    exif[0x9C9C] = content.decode().encode("utf-16-le")  # XPComment
    Image.new("RGB", (2, 2)).save(stream, "jpeg", exif=exif)
    return stream.getvalue()


def gif(content: bytes) -> bytes:
    pieces = [content[at : at + 7] for at in range(0, len(content), 7)]
    return b"GIF89a\x21\xfe" + b"".join(bytes([len(piece)]) + piece for piece in pieces) + b"\0;"


def pdf(content: bytes) -> bytes:
    return b"%PDF-1.4\n1 0 obj\n<<>>\nstream\n" + zlib.compress(content) + b"\nendstream\n"


def table(content: bytes) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": [content.decode()]}), stream, compression="zstd")
    return stream.getvalue()


SPELLINGS: dict[str, Wrap] = {
    "plain": lambda c: b"before " + c + b" after",
    "json": lambda c: json.dumps({"a": c.decode()}).encode(),
    "json-in-json": lambda c: json.dumps(json.dumps({"a": c.decode() + '"'})).encode(),
    "json-escapes": lambda c: b'"' + b"".join(b"\\u%04x" % byte for byte in c) + b'"',
    "base64": lambda c: base64.b64encode(b"x: " + c),
    "base64-with-another-beginning": lambda c: base64.b64encode(b"xy: " + c + b" and more"),
    "base64-for-urls": lambda c: base64.urlsafe_b64encode(b"a" + c),
    "base64-in-lines": lambda c: base64.encodebytes(b"in a long text of a mail " + c + b" and what follows it"),
    "quoted-for-a-url": lambda c: b"https://example.org/?q=" + quote(c, safe="").encode(),
    "hexadecimal": lambda c: c.hex().encode(),
    "utf-16": lambda c: c.decode().encode("utf-16"),
    "in-a-japanese-text": lambda c: "鍵は".encode() * 40 + c + "です".encode(),
    "in-a-binary-file": lambda c: bytes(range(128, 256)) * 9 + c + bytes(range(128, 256)),
    "utf-16-of-the-other-order": lambda c: ("日本" * 9 + c.decode() + "語").encode("utf-16-be"),
    "deep-in-a-long-line": lambda c: b"x" * 600_000 + c,
    "zip": zipped,
    "zip-in-zip": lambda c: zipped(zipped(c)),
    "name-in-a-zip": lambda c: zipped(b"x", c.decode() + ".txt"),
    "zip-behind-a-program": lambda c: b"#!/bin/sh\n" * 50 + zipped(c),
    "gzip": lambda c: gzip.compress(c),
    "two-gzips": lambda c: gzip.compress(b"a") + gzip.compress(c),
    "bzip2": lambda c: bz2.compress(c),
    "xz": lambda c: lzma.compress(c),
    "zlib": lambda c: zlib.compress(c * 2),
    "tar": tarred,
    "png-text": lambda c: png(c, packed=False),
    "png-compressed-text": lambda c: png(c, packed=True),
    "png-xmp": png_xmp,
    "png-profile": png_profile,
    "png-in-a-page": lambda c: b'<img src="data:image/png;base64,' + base64.b64encode(png(c, packed=True)) + b'">',
    "jpeg-exif": jpeg,
    "gif-comment": gif,
    "pdf": pdf,
    "parquet": table,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_c51_the_value_of_a_credential_is_found(spelling: str) -> None:
    canary = secrets.token_urlsafe(24)
    found = list(scan_file("datasets/a.bin", SPELLINGS[spelling](canary.encode()), search_for({VARIABLE: canary})))
    assert f"holds the value of {VARIABLE}" in {one.kind for one in found}
    assert canary not in "".join(map(str, found))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_c51_the_shape_of_an_issued_key_is_found(spelling: str) -> None:
    canary = "gh" + "p_" + secrets.token_hex(18)
    found = list(scan_file("datasets/a.bin", SPELLINGS[spelling](canary.encode()), search_for({})))
    assert "looks like a secret (GitHub Token)" in {one.kind for one in found}
    assert canary not in "".join(map(str, found))


@pytest.mark.parametrize(
    "content",
    [
        b"7z\xbc\xaf\x27\x1c....",
        b"Rar!\x1a\x07\x00",
        b"\x28\xb5\x2f\xfd....",
        b"%PDF-1.4 /Encrypt",
        gzip.compress(b"a" * 1000)[:-12],
        zipped(b"a").replace(b"inner.json", b"other.json", 1)[:-30] + zipped(b"b")[-30:],
        b"PAR1" + b"x" * 40,
        lzma.compress(b"a" * 400)[:40],
    ],
    ids=["7z", "rar", "zstd", "encrypted-pdf", "cut-gzip", "damaged-zip", "damaged-parquet", "cut-xz"],
)
def test_c51_what_cannot_be_looked_through_is_a_finding(content: bytes) -> None:
    (found,) = scan_file("datasets/a.bin", content, search_for({}))
    assert found.kind.startswith("was not looked through: it ")


def test_c49_what_expands_without_end_is_a_finding_and_is_not_expanded() -> None:
    deep = b"a"
    for _ in range(10):
        deep = gzip.compress(deep)
    bomb = gzip.compress(bytes(300 * 2**20), 1)
    kinds = [one.kind for content in (deep, bomb) for one in scan_file("a", content, search_for({}))]
    assert [kind.partition(":")[0] for kind in kinds] == ["was not looked through"] * 2
    assert "nested too deep" in kinds[0] and "more than 268,435,456 bytes" in kinds[1]


def test_values_of_every_credential_variable_are_looked_for_and_short_ones_are_not() -> None:
    variables = {"HF_TOKEN": "a" * 9, "AWS_SECRET_ACCESS_KEY": "b" * 9, "DB_PASSWORD": "c" * 9, "MY_KEY": "short"}
    variables |= {"OPENAI_BASE_URL": "https://ada:correct-horse@example.org/v1", "HOME": "/home/somebody"}
    assert {one.name for one in search_for(variables).needles} == {
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "OPENAI_BASE_URL",
    }


def test_a_finding_has_one_id_until_its_file_changes() -> None:
    canary = secrets.token_urlsafe(24)
    search = search_for({VARIABLE: canary})
    first, again = (list(scan_file("a", f"x\n{canary}".encode(), search)) for _ in range(2))
    (other,) = scan_file("a", f"y\n{canary}".encode(), search)
    assert first == again
    assert (first[0].line, other.line) == (2, 2)
    assert first[0].id != other.id


@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a!\xfe", b"PK\x03\x04", b"%PDF-stream\n"]),
)
def test_whatever_a_file_holds_the_scan_ends(content: bytes, begin: bytes) -> None:
    assert all(one.line >= 1 for one in scan_file("a", begin + content, search_for({})))


@given(st.data())
def test_a_damaged_container_is_looked_through_or_named(data: st.DataObject) -> None:
    whole = data.draw(
        st.sampled_from([zipped(b"abc"), tarred(b"abc"), png(b"abc", packed=True), gif(b"abc" * 9), table(b"a")])
    )
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + data.draw(st.integers(0, 4)) :]
    assert all(one.kind for one in scan_file("a", changed, search_for({})))


@given(st.text(min_size=8, max_size=40), st.binary(max_size=60), st.binary(max_size=60))
def test_a_value_of_any_characters_is_found_in_base64_json_and_plain(value: str, before: bytes, after: bytes) -> None:
    search = Search([needle("A_KEY", value)], ())
    plain = value.encode("utf-8", "surrogateescape") if value.isascii() else value.encode("utf-8", "ignore")
    if plain.decode("utf-8", "surrogateescape") != value:
        return
    for spelt in (plain, json.dumps(value).encode(), json.dumps(value, ensure_ascii=False).encode()):
        assert list(leaks_in("a", before + spelt + after, search))
    assert list(leaks_in("a", base64.b64encode(before + plain + after), search))


HIDDEN: dict[str, tuple[str, Wrap]] = {
    "log-at-byte-6000000": ("datasets/long.log", lambda c: b"all is well\n" * 500_000 + c),
    "name": ("datasets/{}.txt", lambda c: b"x"),
    "renamed-log-of-inspect": ("datasets/run.dat", zipped),
    "picture": ("datasets/a.png", lambda c: png(c, packed=True)),
    "readme": ("README.md", lambda c: b"# A\n\n" + c),
}


@pytest.mark.parametrize("place", HIDDEN)
def test_c51_c52_pack_refuses_a_case_that_holds_a_credential(
    case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    canary = secrets.token_urlsafe(24)
    monkeypatch.setenv(VARIABLE, canary)
    name, wrap = HIDDEN[place]
    write(CASE / name.format(canary), wrap(canary.encode()))(case)
    done = call(case, "pack", "shape-drawing")
    assert (done.code, f"holds the value of {VARIABLE} [" in done.out) == (1, True)
    assert canary not in done.out + done.err
    assert not list(case.path(ARCHIVE).parent.iterdir())


def test_c51_a_file_that_nobody_may_read_is_no_way_past(
    case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever packs may read it after all, and finds the value, or is told that it was not read."""
    canary = secrets.token_urlsafe(24)
    monkeypatch.setenv(VARIABLE, canary)
    write(CASE / "datasets/secret.txt", canary)(case)
    case.path(CASE / "datasets/secret.txt").chmod(0)
    assert call(case, "pack", "shape-drawing").code == 1


def test_c51_a_log_of_inspect_and_what_is_private_stay_out_whatever_they_hold(
    banked_case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = secrets.token_urlsafe(24)
    monkeypatch.setenv(VARIABLE, canary)
    run = sorted((banked_case.eval / "runs").iterdir())[0].relative_to(banked_case.root)
    for name in (run / "inspect/attempt-01.eval", run / "wire.jsonl", EVAL / "old.eval", CASE / ".env"):
        write(name, zipped(canary.encode()))(banked_case)
    held = members(packed(banked_case, call, "--profile", "full"))
    assert not any(canary.encode() in content or content.startswith(b"PK") for content in held.values())


def test_a_finding_that_is_none_may_pass_by_its_id(
    case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_TOKEN", "two-red-squares")
    write(CASE / "README.md", "# A\n\ntwo-red-squares\n")(case)
    write(CASE / "datasets/more.md", "two-red-squares\n")(case)
    lines = call(case, "pack", "shape-drawing").out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["payload/README.md:3", "payload/datasets/more.md:1"]
    ids = [line.rpartition("[")[2].rstrip("]") for line in lines]
    assert call(case, "pack", "shape-drawing", "--allow", ids[0]).out.splitlines() == lines[1:]
    packed(case, call, "--allow", ids[0], "--allow", ids[1])
