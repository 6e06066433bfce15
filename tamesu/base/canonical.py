"""The only hasher: SHA-256 over bytes, and over RFC 8785 canonical JSON for values."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import rfc8785

from tamesu.base.errors import InvalidDocument

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    # msgspec resolves annotations at run time and follows no recursive alias
    Json = Any


def canonical_bytes(value: Json) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises InvalidDocument for numbers that JSON cannot carry exactly (beyond 2**53, NaN, infinity).
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise InvalidDocument(f"a value has no canonical JSON form: {error}; write it as a string") from None


def digest(value: Json) -> str:
    """Return the SHA-256 of a JSON value's canonical form, 64 lowercase hex digits."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def digest_bytes(content: bytes) -> str:
    """Return the SHA-256 of bytes, 64 lowercase hex digits."""
    return hashlib.sha256(content).hexdigest()


class StreamDigest:
    """SHA-256 of content that arrives in pieces."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, piece: bytes) -> None:
        self._hash.update(piece)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
