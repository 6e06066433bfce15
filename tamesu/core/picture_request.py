"""How the pictures of a run are asked for, by the language of its endpoint. Measured with Inspect 0.3.285.

openai: `modalities` make Inspect send the tool `image_generation` over Responses, with what `parameters.image` holds.
google: `modalities` become `responseModalities`; what shapes a picture is `imageConfig`, which Inspect has no name for,
so that it rides in the request's body. Other routes send no wish for a picture, and none comes back over them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

from tamesu.base.canonical import Json
from tamesu.core.routes import Protocol, canonical_provider

IMAGE, OPTIONS = "image", "provider_options"
_PROVIDERS = ("google", "openai", "replay")
_SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")
_TEXT_AND_IMAGE: Json = ["TEXT", "IMAGE"]
_RATIOS = frozenset({"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"})
_GEMINI_NAMES = {"aspect_ratio": "aspectRatio", "image_size": "imageSize"}
_LOCAL = frozenset({"count"})  # never sent: one picture is judged, and more than one is refused
_COMPARED = frozenset({"output_format"})  # compared with what came where it cannot be sent


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """What asks for a picture: fields of GenerateConfig, what rides in the body, and what cannot be sent."""

    config: Mapping[str, Json] = field(default_factory=dict)
    body: Mapping[str, Json] = field(default_factory=dict)
    unsent: tuple[str, ...] = ()


def returns_pictures(provider: str) -> bool:
    """Return whether pictures come back over a provider's route."""
    return canonical_provider(provider) in _PROVIDERS


def picture_providers() -> str:
    """Return the providers whose routes return pictures, for messages."""
    return f"{', '.join(_PROVIDERS[:-1])} and {_PROVIDERS[-1]}"


def picture_request(image: Mapping[str, Json], protocol: Protocol | None) -> PictureRequest:
    """Return how a wish for a picture travels over a protocol; without one for it all of it is unsent."""
    asked = {name: value for name, value in image.items() if name not in _LOCAL}
    match protocol:
        case Protocol.CHAT | Protocol.RESPONSES:
            wish: Json = {"options": {"openai": asked}} if asked else IMAGE
            return PictureRequest({"modalities": [wish]})
        case Protocol.GEMINI:
            return _gemini(asked)
        case Protocol.RECORDED:
            return PictureRequest()
    return PictureRequest(unsent=tuple(asked))


def _gemini(asked: Mapping[str, Json]) -> PictureRequest:
    shape: dict[str, Json] = {}
    unsent: list[str] = []
    for name, value in asked.items():
        if name in _GEMINI_NAMES:
            shape[_GEMINI_NAMES[name]] = value
        elif name == "size" and aspect_ratio(value) in _RATIOS:
            shape.setdefault("aspectRatio", aspect_ratio(value))
        elif name not in _COMPARED and (name, value) != ("size", "auto"):
            unsent.append(name)
    body: dict[str, Json] = {"generationConfig": {"imageConfig": shape}} if shape else {}
    return PictureRequest({"modalities": [IMAGE]}, body, tuple(unsent))


def aspect_ratio(size: Json) -> str | None:
    """Return `W:H` of a size `<width>x<height>` in lowest terms; None for what is no such size."""
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None:
        return None
    width, height = int(found[1]), int(found[2])
    common = gcd(width, height)
    ratio = f"{width // common}:{height // common}"
    return "21:9" if ratio == "7:3" else ratio


def sent_modalities(protocol: Protocol, value: Json) -> Json:
    """Return what `modalities` look like on the wire."""
    if protocol is Protocol.GEMINI:
        return _TEXT_AND_IMAGE
    if protocol is not Protocol.RESPONSES or not isinstance(value, list):
        return value
    last = next((one for one in reversed(value) if isinstance(one, dict)), {})
    options = last.get("options") if isinstance(last, dict) else None
    fields = options.get("openai") if isinstance(options, dict) else None
    return [{"type": "image_generation", **(fields if isinstance(fields, dict) else {})}]


def size_problem(image: Json) -> tuple[str, str] | None:
    """Return the field of a wish for a picture that is wrong, and why; None when none is."""
    if not isinstance(image, dict):
        return "", "a mapping such as {size: 1024x1024, output_format: png}"
    count = image.get("count", 1)
    if count != 1 or isinstance(count, bool):
        return "count", "1: one picture of an item is judged; for more of them set runs[].repetitions"
    size = image.get("size", "auto")
    if size != "auto" and aspect_ratio(size) is None:
        return "size", "<width>x<height> in pixels, or auto"
    return None
