"""Secrets in spellings and places that only a close look sees; every canary is made when a test runs."""

from __future__ import annotations

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.packages.shapes import Shape
from tamesu.core.packages.spellings import spelt_parts, unescapings
from tamesu.edge.documents.secrets import issued_shapes
from tamesu.edge.packages.known_secrets import search_for
from tamesu.edge.packages.secrets_scan import scan_file
from tests.packing.test_secrets import VARIABLE, Wrap, pdf


def dump(content: bytes, *, beside: bool) -> bytes:
    """Return a dump as `hexdump` writes it, with or without the characters beside the digits."""
    lines = []
    for at in range(0, len(content), 16):
        piece = content[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)
        lines.append(f"{at:08x}  {piece.hex(' '):<47}" + (f"  |{shown}|" if beside else ""))
    return "\n".join(lines).encode()


def words(content: bytes) -> bytes:
    """Return a dump as `xxd` writes it."""
    pieces = [content[at : at + 16] for at in range(0, len(content), 16)]
    return "\n".join(f"{number * 16:08x}: {piece.hex(' ', -2)}  ..." for number, piece in enumerate(pieces)).encode()


def each(form: str) -> Wrap:
    return lambda content: "".join(form % byte for byte in content).encode()


SPELLINGS: dict[str, Wrap] = {
    "hex": lambda c: c.hex().encode(),
    "hex-in-capitals": lambda c: c.hex().upper().encode(),
    "hex-with-spaces": lambda c: c.hex(" ").encode(),
    "hex-with-colons": lambda c: c.hex(":").upper().encode(),
    "hex-with-dashes": lambda c: c.hex("-").encode(),
    "hex-behind-a-digit": lambda c: b"a" + c.hex().encode() + b"0",
    "hex-in-lines": lambda c: b"\n".join(c.hex().encode()[at : at + 40] for at in range(0, 2 * len(c), 40)),
    "hex-of-a-list": each("0x%02x, "),
    "hex-among-bytes": lambda c: (bytes(range(128, 256)) + c + bytes(range(128, 256))).hex().encode(),
    "dump": lambda c: dump(c, beside=False),
    "dump-with-characters": lambda c: dump(c, beside=True),
    "dump-in-words": words,
    "hex-of-pdf": lambda c: (
        b"%PDF-1.4\n1 0 obj <</Title <feff" + c.decode().encode("utf-16-be").hex().encode() + b">>>"
    ),
    "hex-of-packed-pdf": lambda c: pdf(b"<FEFF" + c.decode().encode("utf-16-be").hex().upper().encode() + b">"),
    "escapes-of-c": each("\\x%02x"),
    "escapes-of-c-in-json": each("\\\\x%02X"),
    "escapes-of-urls": each("%%%02X"),
    "entities": each("&#%d;"),
    "entities-in-hex": each("&#x%x;"),
    "entities-with-zeros": each("&#x00%02X;"),
    "octal-escapes": each("\\%03o"),
    "some-escapes": lambda c: b"".join(b"%%%02x" % byte if byte % 3 else bytes([byte]) for byte in c),
    "utf-32": lambda c: c.decode().encode("utf-32"),
    "utf-32-of-the-other-order": lambda c: ("日本" * 9 + c.decode() + "語").encode("utf-32-be"),
    "behind-letters": lambda c: b"prIv" + c + b"tail",
    "behind-letters-in-noise": lambda c: bytes(range(128, 256)) + b"prIv" + c + bytes(range(128, 256)),
}


def kinds(content: bytes, variables: dict[str, str] | None = None) -> set[str]:
    found = list(scan_file("datasets/a.bin", content, search_for(variables or {})))
    return {one.kind for one in found}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_c51_the_value_of_a_credential_is_found_in_any_spelling(spelling: str) -> None:
    canary = secrets.token_urlsafe(24)
    assert kinds(SPELLINGS[spelling](canary.encode()), {VARIABLE: canary}) == {f"holds the value of {VARIABLE}"}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("prefix", ["sk" + "-", "h" + "f_"])
def test_c51_the_shape_of_an_issued_key_is_found_in_any_spelling(spelling: str, prefix: str) -> None:
    canary = prefix + secrets.token_hex(24)
    assert any(kind.startswith("looks like a secret") for kind in kinds(SPELLINGS[spelling](canary.encode())))


# The beginnings are in two parts, so that no scanner takes this file for what it looks for.
ISSUED = {
    "Amazon Bedrock API key": ("AB" + "SK", secrets.token_hex(60)),
    "GitHub Token": ("github" + "_pat_", secrets.token_hex(11) + "_" + secrets.token_hex(29)),
    "NPM tokens": ("np" + "m_", secrets.token_hex(18)),
    "NVIDIA API key": ("nv" + "api-", secrets.token_hex(32)),
    "Perplexity API key": ("pp" + "lx-", secrets.token_hex(24)),
    "Replicate API token": ("r" + "8_", secrets.token_hex(18) + "a"),
    "Vault token": ("hv" + "s.", "a1" + secrets.token_urlsafe(24)),
    "Google access token": ("ya" + "29.", "a0" + secrets.token_urlsafe(60)),
    "LangSmith API key": ("lsv2" + "_pt_", secrets.token_hex(16) + "_" + secrets.token_hex(5)),
    "DigitalOcean token": ("dop" + "_v1_", secrets.token_hex(32)),
    "Databricks token": ("da" + "pi", secrets.token_hex(16)),
    "age secret key": ("AGE-SECRET" + "-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE"),
    "Tavily API key": ("tv" + "ly-", "1" + secrets.token_urlsafe(24)),
    "Jina API key": ("ji" + "na_", secrets.token_hex(30)),
    "Hugging Face token": ("h" + "f_", secrets.token_hex(17)),
    "Groq API key": ("gs" + "k_", secrets.token_hex(26)),
    "xAI API key": ("xa" + "i-", secrets.token_hex(40)),
    "Google API key": ("AI" + "za", secrets.token_hex(17) + "_"),
    "API key with the prefix sk-": ("sk" + "-ant-api03-", "-".join(secrets.token_hex(4) for _ in range(12))),
    "Authorization header": ("Authorization: " + "Bearer ", "a1" + secrets.token_hex(12)),
    "assigned key": ('"api' + '_key": "', "a1" + secrets.token_hex(12) + '"'),
}


@pytest.mark.parametrize("kind", ISSUED)
@pytest.mark.parametrize("before", ["", "key ", "prIv", "a", "_"])
def test_c51_keys_of_these_issuers_are_found_whatever_stands_before_them(kind: str, before: str) -> None:
    canary = before + "".join(ISSUED[kind])
    assert f"looks like a secret ({kind})" in kinds(b"first\n" + canary.encode() + b"\n")


@pytest.mark.parametrize(
    "harmless",
    [
        "the task-" + "name_of_some_length_and_more and disk-" + "usage_of_every_partition",
        "an eval of task-shapes_" + "AbCdEf0123456789xyzw.eval",
        "Authorization: Bearer $OPENAI_API_KEY_OF_THE_PROJECT",
        "curl -H 'Authorization: Bearer YOUR_API_KEY_GOES_HERE'",
        '{"api_key": "OPENAI_API_KEY_OF_THE_PROJECT"}',
        '{"api_key": null, "access_token": "", "secret_key": "<your key, 1 line>"}',
        "sha256:" + "0123456789abcdef" * 4,
        "hf_hub_download_and_more_of_a_long_name_of_a_function(r8_registers)",
    ],
)
def test_what_only_resembles_a_key_is_no_finding(harmless: str) -> None:
    assert kinds(harmless.encode()) == set()


@pytest.mark.parametrize("shape", issued_shapes(), ids=lambda shape: f"{shape.kind}-{shape.pattern.pattern[:20]}")
def test_every_match_of_a_shape_holds_what_its_texts_are_sifted_by(shape: Shape) -> None:
    """A pattern is run only where its literals are; one that an upgrade of the library changed would be lost."""

    @given(st.from_regex(shape.pattern, alphabet=st.characters(codec="latin-1")))
    def sifted(text: str) -> None:
        assert shape.may_be_in(text.encode("latin-1").lower())

    sifted()


@given(
    st.binary(max_size=300),
    st.binary(max_size=40),
    st.sampled_from([b"", b"\\x4", b"%41", b"&#65;", b"\\101", b"41 " * 20]),
)
def test_whatever_is_spelt_keeps_its_lines(content: bytes, before: bytes, spelt: bytes) -> None:
    whole = before + spelt + content
    for plain in unescapings(whole):
        assert plain.count(b"\n") == whole.count(b"\n")
    assert all(0 <= part.start < len(whole) for part in spelt_parts(whole))
