"""Archives for tests: sound packages by the standard library, and anything else byte by byte."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

BLOCK = 512
PRIVATE = ("*.eval", "runs/*/inspect/*", "runs/*/wire.jsonl")
SAID: Mapping[str, Any] = {
    "publisher": "acme",
    "name": "shapes",
    "version": "1.0.0",
    "licence": "Apache-2.0",
    "authors": ["Ada"],
    "tags": ["drawing"],
    "data_review": {"reviewer": "Ada", "date": "2026-01-31", "statement": "Made by hand."},
}
PUBLICATION = yaml.safe_dump(dict(SAID)).encode()
CASE = {"case.yml": b"name: shapes\n", "README.md": b"# Shapes\n", "publication.yml": PUBLICATION}
NAME = "acme-shapes-1.0.0.tamesu.tar.gz"


def content_digest(payload: Mapping[str, bytes]) -> str:
    """The digest as the contract words it, by other means than the product's."""
    lines = [f"{hashlib.sha256(content).hexdigest()}  {path}\n".encode() for path, content in payload.items()]
    return hashlib.sha256(b"".join(sorted(lines, key=lambda line: line[66:]))).hexdigest()


def record(payload: Mapping[str, bytes], **changes: Any) -> bytes:
    """A package.yml that fits a payload; a change to None leaves the field out."""
    fields = {
        "schema_version": 1,
        **SAID,
        "profile": "report-only" if "view-only.yml" in payload else "rescorable",
        "content_digest": content_digest(payload),
        "files": len(payload),
        "bytes": sum(map(len, payload.values())),
        "tamesu": "0.1.0",
        **changes,
    }
    return yaml.safe_dump({name: value for name, value in fields.items() if value is not None}).encode()


def published(payload: Mapping[str, bytes], **changes: Any) -> dict[str, bytes]:
    """A payload with a publication.yml that says what its package.yml does, unless it holds one of its own."""
    own = payload.get("publication.yml", PUBLICATION)
    said = {**SAID, **{name: value for name, value in changes.items() if name in {*SAID, "forked_from"}}}
    return {**payload, "publication.yml": yaml.safe_dump(said).encode() if own == PUBLICATION else own}


def package(payload: Mapping[str, bytes] = CASE, manifest: bytes | None = None, **changes: Any) -> bytes:
    """A sound package, or one whose package.yml differs, as Python's own tarfile writes it."""
    payload = published(payload, **changes)
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        members = {f"payload/{path}": content for path, content in payload.items()}
        for path, content in {"package.yml": manifest or record(payload, **changes), **members}.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def payload_of(case: Path) -> dict[str, bytes]:
    """The files of a case that a full package holds."""
    files = {path.relative_to(case).as_posix(): path for path in sorted(case.rglob("*")) if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in files.items()
        if not any(part.startswith(".") for part in name.split("/"))
        and not any(Path(name).match(pattern) for pattern in PRIVATE)
        and not ("/runs/" in name and "/inspect/" in name.partition("/runs/")[2])
    }


# --- byte by byte


def header(path: str | bytes, length: int = 0, kind: bytes = b"0", /, **fields: bytes) -> bytes:
    """One header block with a true checksum; `fields` overwrite parts of it by name."""
    name = path.encode() if isinstance(path, str) else path
    block = bytearray(BLOCK)
    parts: dict[str, tuple[int, bytes]] = {
        "name": (0, name[:100]),
        "mode": (100, b"0000644\0"),
        "uid": (108, b"0000000\0"),
        "gid": (116, b"0000000\0"),
        "size": (124, b"%011o\0" % length),
        "mtime": (136, b"00000000000\0"),
        "kind": (156, kind),
        "link": (157, b""),
        "magic": (257, b"ustar\x0000"),
        "prefix": (345, b""),
        "rest": (500, b""),
    }
    for part, (at, content) in parts.items():
        value = fields.get(part, content)
        block[at : at + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = fields.get("checksum", b"%06o\0 " % sum(block))
    return bytes(block)


def filled(content: bytes) -> bytes:
    return content + bytes(-len(content) % BLOCK)


def member(path: str | bytes, content: bytes = b"", kind: bytes = b"0", /, **fields: bytes) -> bytes:
    return header(path, len(content), kind, **fields) + filled(content)


def extended(*records: tuple[str, str], kind: bytes = b"x") -> bytes:
    """A pax header; each record states its own length."""
    lines = b""
    for key, value in records:
        body = f" {key}={value}\n".encode()
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length = len(str(length)) + len(body)
        lines += str(length).encode() + body
    return member("PaxHeaders/x", lines, kind)


END = bytes(2 * BLOCK)


def tar(*members: bytes, payload: Mapping[str, bytes] = CASE, end: bytes = END) -> bytes:
    """A tar of a sound package and further members behind it."""
    sound = [member(f"payload/{path}", content) for path, content in payload.items()]
    return b"".join([member("package.yml", record(payload)), *sound, *members, end])


def packed(content: bytes, level: int = 6) -> bytes:
    return gzip.compress(content, level, mtime=0)


def hostile(*members: bytes, end: bytes = END) -> bytes:
    """A package that is sound but for what follows its members."""
    return packed(tar(*members, end=end))


def zeros_for_ever(begin: bytes, mebibytes: int) -> bytes:
    """A gzip stream that begins so and goes on with zeros, made without compressing them all."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    again = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = again.compress(bytes(1 << 20)) + again.flush(zlib.Z_FULL_FLUSH)
    return head + block * mebibytes + zlib.compressobj(9, zlib.DEFLATED, -15).flush() + bytes(8)
