"""What a picture is, as measured once from its bytes; reading what was measured decodes nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """What a picture is by its bytes, `format` as `png` or `jpeg`; `reason` says why it is none, the rest is None then.

    `uniform` says that every pixel is the same, `transparent` that some pixel lets through what is behind it.
    """

    reason: str | None
    format: str | None = None
    width: int | None = None
    height: int | None = None
    uniform: bool | None = None
    transparent: bool | None = None
