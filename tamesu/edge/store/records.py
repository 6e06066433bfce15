"""Records as YAML: run.yml, result.yml, attempts. Written by us, read strictly into their types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from tamesu.base.errors import EvidenceError

T = TypeVar("T")

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What may refer to another part of the document, in a plain text as well.
_ALIAS = re.compile(rb"(?:^|[\s\[{,:-])\*[^\s*]", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def dump_record(record: object) -> bytes:
    """Return a record as YAML bytes, fields in the order of their type.

    Lone surrogates, which UTF-8 cannot carry, become U+FFFD.
    """
    text = yaml.dump(plain(record), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.encode()


def plain(record: object) -> Any:
    """Return a record as the plain values that are written."""
    return _clean(msgspec.to_builtins(record))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if isinstance(value, dict):
        return {_clean(name): _clean(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(part) for part in value]
    return value


def parse_record(content: bytes, kind: type[T], where: str) -> T:
    """Return a record read from YAML bytes. Raises EvidenceError naming the file and the field."""
    try:
        if _ALIAS.search(content) is not None:
            _refuse_aliases(content)
        return msgspec.convert(yaml.load(content, Loader=_Loader), kind, strict=True)
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError, ValueError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise EvidenceError(f"{where}: does not hold what it must: {line}; restore it from version control") from None


def _refuse_aliases(content: bytes) -> None:
    """Raise ValueError for an alias: no record holds one, and a few lines of them unfold to more than any memory."""
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content, Loader=_Loader)):
        raise ValueError("it holds a YAML alias")


def read_record(path: Path, kind: type[T]) -> T:
    """Return a record read from a file. Raises EvidenceError when it does not parse."""
    return parse_record(path.read_bytes(), kind, str(path))
