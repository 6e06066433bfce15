"""The headers of a tar archive, read to the letter of POSIX ustar and of the one pax record that a long path needs.

The standard library's reader is not used on what comes from elsewhere. It takes a block that is no header for the end
of the archive, so that what follows is never looked at; it lets pax and GNU records replace the name, size and link of
any member; it fills in what it cannot parse; and its extraction filters, which are not the same in Python 3.11, 3.12
and 3.13, were passed by links more than once. What no package needs cannot be misread when it is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from tamesu.core.packages.refusal import Refusal

BLOCK = 512
END_BLOCK = bytes(BLOCK)

_OCTAL = re.compile(rb" *[0-7]+[ \0]*")
_RECORD = re.compile(rb"[1-9][0-9]{0,4} ", re.ASCII)
_SPECIAL_BITS = 0o7000  # setuid, setgid, sticky
_FORM = b"ustar\x0000"
_OTHER_KINDS = {
    b"\0": "is of the form of 1979, which has no kinds",
    b"1": "is a hard link",
    b"2": "is a symbolic link",
    b"3": "is a device",
    b"4": "is a device",
    b"6": "is a named pipe",
    b"7": "is a contiguous file",
    b"D": "is a GNU list of a folder",
    b"K": "carries a GNU record that renames a link",
    b"L": "carries a GNU record that renames a member",
    b"M": "goes on from another volume",
    b"S": "is a sparse file, whose size is another than that of its content",
    b"V": "is the name of a volume",
    b"g": "is a record that changes all members behind it",
}
# Said of a member by pax and used by nobody here: times and owners are not taken over.
_HARMLESS = frozenset({"mtime", "atime", "ctime", "uid", "gid", "uname", "gname"})


class Kind(Enum):
    """What a header begins."""

    FILE = "file"
    FOLDER = "folder"
    EXTENDED = "extended"  # pax records about the next member


_KINDS = {b"0": Kind.FILE, b"5": Kind.FOLDER, b"x": Kind.EXTENDED}


@dataclass(frozen=True, slots=True)
class Header:
    """One member as its header states it: the path as spelled, and the bytes of content that follow."""

    path: str
    kind: Kind
    size: int


def read_header(block: bytes) -> Header | Refusal:
    """Return what a block of 512 bytes states, or why it is refused."""
    if _number(block[148:156]) != sum(block[:148]) + 8 * ord(" ") + sum(block[156:]):
        return Refusal("holds a header whose checksum is wrong")
    path = _path(block)
    if isinstance(path, Refusal):
        return path
    kind = _KINDS.get(block[156:157])
    if kind is None:
        return Refusal(_OTHER_KINDS.get(block[156:157], "is of a kind that no package holds"), path)
    what = _fault(block, kind)
    if what is not None:
        return Refusal(what, path)
    return Header(path, kind, _number(block[124:136]) or 0)


def padding(size: int) -> int:
    """Return the bytes that fill the last block of a content."""
    return -size % BLOCK


def _path(block: bytes) -> str | Refusal:
    name, prefix = _text(block[:100]), _text(block[345:500])
    if name is None or prefix is None:
        return Refusal("holds a name that is no UTF-8 text or goes on behind its end")
    return f"{prefix}/{name}" if prefix else name


def _fault(block: bytes, kind: Kind) -> str | None:
    """Return what no member of a package may carry; what is not read here changes nothing."""
    size, mode = _number(block[124:136]), _number(block[100:108])
    if block[257:265] != _FORM:
        return "is not of the POSIX form (ustar)"
    if size is None or mode is None:
        return "states a size or a mode that is no octal number"
    if mode & _SPECIAL_BITS:
        return "would run as another user (setuid, setgid or sticky)"
    if any(block[157:257]):
        return "names a link"
    if any(block[500:]):
        return "has content behind its header"
    if kind is Kind.FOLDER and size:
        return "is a folder with content"
    return None


def _text(field: bytes) -> str | None:
    text, _, rest = field.partition(b"\0")
    if any(rest):
        return None
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _number(field: bytes) -> int | None:
    """Return an octal number; None for any other form, that of GNU for large numbers included."""
    return int(field.strip(b" \0"), 8) if _OCTAL.fullmatch(field) else None


def read_extended(content: bytes) -> str | Refusal | None:
    """Return the path that pax records give the next member, None when they give none, or why they are refused."""
    path: str | None = None
    seen: set[str] = set()
    while content:
        record = _record(content)
        if record is None:
            return Refusal("holds a pax record that is malformed")
        key, value, content = record
        if key in seen:  # readers differ on which one counts
            return Refusal(f"is the second pax record of one kind for one member ({key})", value)
        seen.add(key)
        if key == "path":
            path = value
        elif key not in _HARMLESS:
            return Refusal("is a pax record that no package needs; a package holds plain files of known size", key)
    return path


def _record(content: bytes) -> tuple[str, str, bytes] | None:
    """Return the key, the value and what follows of `<length> <key>=<value>LF`; None for anything else."""
    begin = _RECORD.match(content)
    length = int(begin.group()) if begin is not None else 0
    if begin is None or not begin.end() < length <= len(content) or content[length - 1 : length] != b"\n":
        return None
    try:
        key, equals, value = content[begin.end() : length - 1].decode().partition("=")
    except UnicodeDecodeError:
        return None
    return (key, value, content[length:]) if key and equals else None
