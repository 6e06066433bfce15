"""Malicious and damaged archives, each with the line that refuses it; made here, none is kept as a file."""

from __future__ import annotations

import gzip
import io
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Mapping

from tests.packages.archives import (
    BLOCK,
    CASE,
    END,
    extended,
    header,
    hostile,
    member,
    packed,
    record,
    tar,
    zeros_for_ever,
)

Archive = Callable[[], bytes]
_PAYLOAD = {f"payload/{path}": content for path, content in CASE.items()}


def _places(*paths: str) -> Archive:
    return lambda: hostile(*(member(path, b"x") for path in paths))


def _kind(kind: bytes, link: bytes = b"") -> Archive:
    return lambda: hostile(header("payload/odd", 0, kind, link=link))


def _fields(**fields: bytes) -> Archive:
    return lambda: hostile(member("payload/odd", b"x", **fields))


def _pax(*records: tuple[str, str]) -> Archive:
    return lambda: hostile(extended(*records), member("payload/odd", b"x"))


def _bytes(change: Callable[[bytes], bytes]) -> Archive:
    return lambda: change(packed(tar()))


def _tar(change: Callable[[bytes], bytes]) -> Archive:
    return lambda: packed(change(tar()))


def _links_in_turn() -> bytes:
    """C48: a link out, a hard link through it, and a file behind both."""
    link = header("payload/d", 0, b"2", link=b"/tmp/out")
    hard = header("payload/h", 0, b"1", link=b"payload/d/x")
    return hostile(link, hard, member("payload/d/x", b"x"))


def _by_tarfile(kind: bytes, form: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=form) as archive:
        for path, content in {"package.yml": record(CASE), **_PAYLOAD}.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        odd = tarfile.TarInfo("payload/" + "long-" * 30)
        odd.type, odd.linkname = kind, "case.yml"
        archive.addfile(odd)
    return buffer.getvalue()


def _flipped_checksum(content: bytes) -> bytes:
    return content[:-8] + bytes([content[-8] ^ 1]) + content[-7:]


def _other_length(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _spoiled_header(content: bytes) -> bytes:
    """A second header that is none: Python's reader takes it for the end and says nothing."""
    at = content.index(b"payload/case.yml")
    return content[:at] + b"Payload" + content[at + 7 :]


def _spoiled_padding(content: bytes) -> bytes:
    at = content.index(CASE["README.md"]) + len(CASE["README.md"])
    return content[:at] + b"hidden" + content[at + 6 :]


def _declares_less() -> bytes:
    """C49: a member that declares 1 KB and goes on for 16 MB that do not compress."""
    noise = b"".join(zlib.compress(bytes([n % 256]) * n) for n in range(1500))
    return packed(tar(end=b"") + header("payload/odd", 1024) + noise * 20 + END)


def _expands(mebibytes: int, size: int) -> Archive:
    return lambda: zeros_for_ever(tar(end=b"") + header("payload/zeros", size), mebibytes)


NOT_PLAIN = "is not written in its plain form (Unicode NFC, no '.', no empty segment)"
RESERVED = "has a name that some systems cannot hold"
BESIDE = "is neither package.yml nor below payload/ or presentation/"
MARKED = "is the name by which cases from elsewhere are marked, which no package may bring"
TWICE = "is there twice, or differs from another only by case or Unicode form"
FOLDER_TWICE = "lies in a folder whose name differs from another only by case or Unicode form"
UNSOUND = "is no sound gzip stream: its bytes or its checksum are wrong"
AFTER_END = "goes on behind the mark of its end"
NO_TEXT = "holds a name that is no UTF-8 text or goes on behind its end"
E = "é"

CORPUS: dict[str, tuple[Archive, str]] = {
    # places outside
    "absolute path": (_places("/tmp/out"), "'/tmp/out' is an absolute path"),
    "parent": (_places("payload/../../out"), "'payload/../../out' leads out of its folder"),
    "parent of the archive": (_places("../out"), "'../out' leads out of its folder"),
    "parent that comes back": (_places("payload/a/../b"), "'payload/a/../b' leads out of its folder"),
    "parent in a long name": (
        lambda: hostile(extended(("path", "payload/../../out")), member("payload/x")),
        "'payload/../../out' leads out of its folder",
    ),
    "parent in the prefix of a name": (
        lambda: hostile(member("out", b"x", prefix=b"payload/../..")),
        "'payload/../../out' leads out of its folder",
    ),
    "backslash": (_places("payload\\..\\evil"), "'payload\\..\\evil' holds a backslash"),
    "backslash below the payload": (_places("payload/..\\evil"), "'payload/..\\evil' holds a backslash"),
    "drive": (_places("C:evil"), "'C:evil' is an absolute path"),
    "drive below the payload": (_places("payload/C:evil"), f"'payload/C:evil' {RESERVED}"),
    "stream of a file": (_places("payload/case.yml:stream"), f"'payload/case.yml:stream' {RESERVED}"),
    "beside the payload": (_places("evil.txt"), f"'evil.txt' {BESIDE}"),
    "a file in the place of the payload": (_places("presentation"), f"'presentation' {BESIDE}"),
    "package.yml as a folder": (
        lambda: packed(member("package.yml/", b"", b"5") + END),
        f"'package.yml/' {BESIDE}",
    ),
    # names
    "dot part": (_places("payload/./a"), f"'payload/./a' {NOT_PLAIN}"),
    "dot in front": (_places("./payload/a"), f"'./payload/a' {NOT_PLAIN}"),
    "empty part": (_places("payload//a"), f"'payload//a' {NOT_PLAIN}"),
    "a file that ends with a slash": (_places("payload/a/"), f"'payload/a/' {NOT_PLAIN}"),
    "no name": (_places(""), "'' is an empty path"),
    "newline": (_places("payload/a\nb"), "'payload/a\\u000ab' holds a character that cannot be seen"),
    "escape sequence": (_places("payload/\x1b[2J"), "'payload/\\u001b[2J' holds a character that cannot be seen"),
    "text that runs backwards": (
        _places("payload/\u202etxt.exe"),
        "'payload/\\u202etxt.exe' holds a character that cannot be seen",
    ),
    "not in normal form": (
        lambda: hostile(member("payload/" + unicodedata.normalize("NFD", E))),
        f"'payload/e\u0301' {NOT_PLAIN}",
    ),
    "no text": (
        lambda: hostile(member(b"payload/\xff")),
        "holds a name that is no UTF-8 text or goes on behind its end",
    ),
    "a name behind the name": (
        lambda: hostile(member(b"payload/a\0evil")),
        NO_TEXT,
    ),
    "name of a device": (_places("payload/NUL"), f"'payload/NUL' {RESERVED}"),
    "name of a device with an ending": (_places("payload/com1.txt"), f"'payload/com1.txt' {RESERVED}"),
    "ends with a dot": (_places("payload/x."), f"'payload/x.' {RESERVED}"),
    "ends with a space": (_places("payload/x "), f"'payload/x ' {RESERVED}"),
    "a repository": (_places("payload/.git/config"), f"'payload/.git/config' {RESERVED}"),
    "hidden": (_places("payload/.env"), "'payload/.env' is hidden"),
    "too long": (
        lambda: hostile(extended(("path", "payload/" + "a" * 300)), member("payload/x")),
        f"'{('payload/' + 'a' * 300)[:200]}' is too long a path",
    ),
    "too deep": (
        lambda: hostile(extended(("path", "payload" + "/a" * 40)), member("payload/x")),
        f"'payload{'/a' * 40}' is too long a path",
    ),
    "the marker": (_places("payload/.untrusted-origin"), f"'payload/.untrusted-origin' {MARKED}"),
    "the marker below": (_places("payload/a/.Untrusted-Origin"), f"'payload/a/.Untrusted-Origin' {MARKED}"),
    "the marker as a folder": (
        lambda: hostile(member("presentation/.untrusted-origin/", b"", b"5")),
        f"'presentation/.untrusted-origin/' {MARKED}",
    ),
    "a log": (
        _places("payload/logs/run.EVAL"),
        "'payload/logs/run.EVAL' is a log of Inspect and never part of a package",
    ),
    "requests": (
        _places("payload/experiments/e/evals/v/runs/r/wire.jsonl"),
        "'payload/experiments/e/evals/v/runs/r/wire.jsonl' is what was said to a model and never part of a package",
    ),
    "a word for its own code": (
        _places("payload/experiments/e/evals/v/runs/r/inspect/trust-01.json"),
        "'payload/experiments/e/evals/v/runs/r/inspect/trust-01.json' is private to a run and never part of a package",
    ),
    "compiled code beside its source": (
        _places("payload/experiments/e/inspect/__pycache__/task.cpython-311.pyc"),
        "'payload/experiments/e/inspect/__pycache__/task.cpython-311.pyc' is a cache and never part of a package",
    ),
    # one place twice
    "twice": (_places("payload/a", "payload/a"), f"'payload/a' {TWICE}"),
    "package.yml twice": (_places("package.yml"), f"'package.yml' {TWICE}"),
    "twice but for case": (_places("payload/a", "payload/A"), f"'payload/A' {TWICE}"),
    "twice but for Unicode": (_places("payload/\u2160", "payload/I"), f"'payload/I' {TWICE}"),
    "folders that differ by case": (_places("payload/d/a", "payload/D/b"), f"'payload/D/b' {FOLDER_TWICE}"),
    "below a file": (_places("payload/a", "payload/a/b"), "'payload/a/b' lies below a file"),
    "a file over a folder": (_places("payload/a/b", "payload/a"), "'payload/a' is a file and a folder"),
    "a folder over a file": (
        lambda: hostile(member("payload/a", b"x"), member("payload/a/", b"", b"5")),
        f"'payload/a/' {TWICE}",
    ),
    # kinds
    "links in turn": (_links_in_turn, "'payload/d' is a symbolic link"),
    "symbolic link": (_kind(b"2", b"../../out"), "'payload/odd' is a symbolic link"),
    "hard link": (_kind(b"1", b"payload/case.yml"), "'payload/odd' is a hard link"),
    "character device": (_kind(b"3"), "'payload/odd' is a device"),
    "block device": (_kind(b"4"), "'payload/odd' is a device"),
    "named pipe": (_kind(b"6"), "'payload/odd' is a named pipe"),
    "contiguous file": (_kind(b"7"), "'payload/odd' is a contiguous file"),
    "sparse file": (_kind(b"S"), "'payload/odd' is a sparse file, whose size is another than that of its content"),
    "old form": (_kind(b"\0"), "'payload/odd' is of the form of 1979, which has no kinds"),
    "unknown kind": (_kind(b"Z"), "'payload/odd' is of a kind that no package holds"),
    "continued": (_kind(b"M"), "'payload/odd' goes on from another volume"),
    "global pax header": (
        lambda: hostile(extended(("path", "payload/all"), kind=b"g")),
        "'PaxHeaders/x' is a record that changes all members behind it",
    ),
    "GNU long name": (
        lambda: _by_tarfile(tarfile.REGTYPE, tarfile.GNU_FORMAT),
        "'package.yml' is not of the POSIX form (ustar)",
    ),
    "GNU long name on a POSIX archive": (
        lambda: hostile(member("././@LongLink", b"payload/../../out\0", b"L")),
        "'././@LongLink' carries a GNU record that renames a member",
    ),
    "a link as the standard library writes it": (
        lambda: _by_tarfile(tarfile.SYMTYPE, tarfile.PAX_FORMAT),
        f"'{'payload/' + 'long-' * 18 + 'lo'}' is a symbolic link",
    ),
    # fields
    "a file that names a link": (_fields(link=b"/etc/passwd"), "'payload/odd' names a link"),
    "setuid": (_fields(mode=b"0004755\0"), "'payload/odd' would run as another user (setuid, setgid or sticky)"),
    "size in base 256": (
        _fields(size=b"\x80" + b"\0" * 10 + b"\x01"),
        "'payload/odd' states a size or a mode that is no octal number",
    ),
    "negative size": (_fields(size=b"-0000000001\0"), "'payload/odd' states a size or a mode that is no octal number"),
    "a folder with content": (
        lambda: hostile(member("payload/d/", b"x", b"5")),
        "'payload/d/' is a folder with content",
    ),
    "content behind a header": (_fields(rest=b"hidden"), "'payload/odd' has content behind its header"),
    "checksum of a header": (_fields(checksum=b"000000\0 "), "holds a header whose checksum is wrong"),
    "pax size": (_pax(("size", "9999999999")), "'size' is a pax record that no package needs"),
    "pax link": (_pax(("linkpath", "/etc/passwd")), "'linkpath' is a pax record that no package needs"),
    "pax sparse": (_pax(("GNU.sparse.realsize", "1")), "'GNU.sparse.realsize' is a pax record that no package needs"),
    "pax character set": (_pax(("hdrcharset", "BINARY")), "'hdrcharset' is a pax record that no package needs"),
    "two pax paths": (
        _pax(("path", "payload/a"), ("path", "payload/b")),
        "'payload/b' is the second pax record of one kind for one member (path)",
    ),
    "pax path that is empty": (_pax(("path", "")), "'' is an empty path"),
    "malformed pax": (
        lambda: hostile(member("PaxHeaders/x", b"999 path=x\n", b"x"), member("payload/a")),
        "holds a pax record that is malformed",
    ),
    "pax of nothing": (lambda: hostile(extended(("mtime", "1"))), "holds pax records that belong to no member"),
    "pax of pax": (
        lambda: hostile(extended(("mtime", "1")), extended(("mtime", "1")), member("payload/a")),
        "holds pax records that belong to no member",
    ),
    "large pax": (_pax(("mtime", "1" * 5000)), "holds pax records of more than 4096 bytes"),
    # sizes
    "10 GB of zeros": (_expands(10 * 1024, 0), AFTER_END),
    "zeros in a member": (_expands(64, 64 << 20), "expands to more than 200 times its size"),
    "a member that is larger than any": (
        _expands(200, 200 << 20),
        "'payload/zeros' is larger than 104857600 bytes",
    ),
    "a member that declares less": (_declares_less, "holds a header whose checksum is wrong"),
    "a member that declares more": (
        lambda: packed(tar(end=b"") + header("payload/odd", 9 << 20)),
        "ends in the middle",
    ),
    # the stream
    "empty": (lambda: b"", "is cut off"),
    "no gzip": (lambda: tar(), UNSOUND),
    "a zip": (lambda: b"PK\x03\x04" + bytes(100), UNSOUND),
    "an empty archive": (lambda: packed(END), "holds no package.yml"),
    "cut off": (_bytes(lambda content: content[:-40]), "is cut off"),
    "cut off before its checksum": (_bytes(lambda content: content[:-8]), "is cut off"),
    "wrong checksum": (_bytes(_flipped_checksum), UNSOUND),
    "wrong length": (_bytes(_other_length), UNSOUND),
    "trailing zeros": (_bytes(lambda content: content + bytes(512)), "goes on behind its end"),
    "trailing byte": (_bytes(lambda content: content + b"x"), "goes on behind its end"),
    "two streams": (_bytes(lambda content: content + packed(tar(member("payload/evil")))), "goes on behind its end"),
    "an archive in two streams": (
        lambda: packed(tar()[:BLOCK]) + packed(tar()[BLOCK:]),
        "ends in the middle of a member",
    ),
    "no mark of the end": (_tar(lambda content: content[: -2 * BLOCK]), "ends in the middle of a member"),
    "half a mark of the end": (_tar(lambda content: content[:-BLOCK]), "ends in the middle of a member"),
    "members behind the end": (_tar(lambda content: content + member("payload/evil", b"x") + END), AFTER_END),
    "members behind one block of zeros": (
        _tar(lambda content: content[:-BLOCK] + member("payload/evil", b"x") + END),
        AFTER_END,
    ),
    "a header that is none": (_tar(_spoiled_header), "holds a header whose checksum is wrong"),
    "content in the padding": (_tar(_spoiled_padding), "holds content behind the end of a member"),
    "endless zeros behind the end": (
        lambda: packed(tar() + gzip.decompress(packed(bytes(2 << 20))), 0),
        AFTER_END,
    ),
    # what package.yml says
    "no package.yml": (lambda: packed(member("payload/case.yml") + END), "holds no package.yml"),
    "a large package.yml": (
        lambda: packed(member("package.yml", b"#" * (1 << 21)) + END, 0),
        "'package.yml' is larger than 1048576 bytes",
    ),
    "an altered file": (
        lambda: packed(tar().replace(b"name: shapes\n", b"name: shaped\n")),
        "the payload was altered: its content digest is",
    ),
    "one file more": (_places("payload/more"), "the payload was altered: its content digest is"),
    "one file less": (
        lambda: packed(member("package.yml", record(CASE)) + member("payload/case.yml", CASE["case.yml"]) + END),
        "the payload was altered: its content digest is",
    ),
}

BYTES = sum(map(len, CASE.values()))
NOT_SAID = "package.yml and payload/publication.yml differ in `"


def _holding(profile: str, drop: str = "", **more: bytes) -> Archive:
    payload = {path: content for path, content in CASE.items() if path != drop}
    payload |= {path.replace("_", "-") + ".yml": content for path, content in more.items()}
    return lambda: _of(payload, profile=profile)


def _of(payload: Mapping[str, bytes], **changes: object) -> bytes:
    members = [member(f"payload/{path}", content) for path, content in payload.items()]
    return packed(b"".join([member("package.yml", record(payload, **changes)), *members, END]))


def _manifest(**changes: object) -> Archive:
    return lambda: _of(CASE, **changes)


def _text(text: bytes) -> Archive:
    return lambda: packed(member("package.yml", text) + member("payload/case.yml") + END, 0)


_LAUGHS = b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b"*a%d," % (n - 1) * 10) for n in range(1, 9))
CORPUS |= {
    "another count of files": (_manifest(files=2), "the payload was altered: its count of files is 3"),
    "another count of bytes": (
        _manifest(bytes=3),
        f"the payload was altered: its count of bytes is {sum(map(len, CASE.values()))}",
    ),
    "a name that is a path": (_manifest(name="../../out"), "package.yml:"),
    "a name with an escape sequence": (_manifest(publisher="a\x1b[31m"), "package.yml:"),
    "a later form": (_manifest(schema_version=2), "package.yml:"),
    "an unknown profile": (_manifest(profile="everything"), "package.yml:"),
    "a field too many": (_manifest(run_this="evil.py"), "package.yml:"),
    "a missing field": (_manifest(content_digest=None), "package.yml:1"),
    "a tag": (_text(b"name: !!python/object/apply:os.system [touch evil]\n"), "package.yml:1"),
    "many aliases": (_text(_LAUGHS), "package.yml:"),
    "deep nesting": (_text(b"[" * 100_000), "package.yml:1"),
    "no mapping": (_text(b"- a\n"), "package.yml:1"),
    "nothing in it": (_text(b""), "package.yml:1"),
    "no UTF-8": (_text(b"name: \xff\n"), "package.yml:1"),
    "no case": (
        lambda: packed(member("package.yml", record({"README.md": b"x"})) + member("payload/README.md", b"x") + END),
        "its payload holds no case.yml",
    ),
}
CORPUS |= {
    f"another {field}": (_manifest(**{field: value}), f"{NOT_SAID}{field}`")
    for field, value in {
        "publisher": "evil",
        "name": "forms",
        "version": "1.0.1",
        "licence": "MIT",
        "authors": ["Mallory"],
        "tags": [],
        "data_review": {"reviewer": "Ada", "date": "2026-01-30", "statement": "Made by hand."},
        "forked_from": {"publisher": "b", "name": "c", "version": "1.0.0", "content_digest": "0" * 64},
    }.items()
}
CORPUS |= {
    "no publication.yml": (
        _holding("full", "publication.yml"), "its profile is full, but its payload holds no publication.yml"
    ),
    "a publication.yml that does not read": (
        _holding("full", publication=b"publisher: acme\n"), "payload/publication.yml:1: the required field"
    ),
    "a publication.yml that is no YAML": (_holding("full", publication=b"a: [\n"), "payload/publication.yml:"),
    "a publication.yml of a day that is none": (
        _holding("full", publication=CASE["publication.yml"].replace(b"2026-01-31", b"2026-02-31")),
        "payload/publication.yml:4: 'date': '2026-02-31' is in no calendar",
    ),
    "a large publication.yml": (
        _holding("full", publication=b"#" * (8 << 20 | 1)), "'payload/publication.yml' is larger than 8388608 bytes"
    ),
    "reports alone without their mark": (
        _holding("report-only"), "its profile is report-only, but its payload holds no view-only.yml"
    ),
    "the mark of reports alone in more": (
        _holding("rescorable", view_only=b"schema_version: 1\nreason: a\n"),
        "its profile is rescorable, but its payload holds view-only.yml",
    ),
}  # fmt: skip
