"""Pictures of a reply, out of the content that Inspect makes of it; nothing is fetched."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace

from inspect_ai.model import ContentImage, ContentText, ModelOutput

from tamesu.base.model.evidence import Usage
from tamesu.core.reply_pictures import PictureFacts
from tamesu.edge.providers.calls import ReplyPicture

FACTS = "tamesu_pictures"  # in the metadata of an output: what the provider's own reply says of its pictures


def mark_pictures(output: ModelOutput, facts: PictureFacts) -> None:
    """Say in an output what the reply behind it says of its pictures."""
    if facts != PictureFacts():
        output.metadata = {**(output.metadata or {}), FACTS: facts}


def reply_pictures(output: ModelOutput) -> tuple[ReplyPicture, ...]:
    """Return the pictures of a reply in its order, those of the model's thinking last."""
    pictures = [_picture(part.image) for part in _parts(output) if isinstance(part, ContentImage)]
    interim = set(facts_of(output).interim)
    order = sorted(range(len(pictures)), key=lambda place: place in interim)
    return tuple(ReplyPicture(*pictures[place], interim=place in interim) for place in order)


def picture_usage(output: ModelOutput, usage: Usage) -> Usage | None:
    """Return the tokens of a reply with those of the tool that made its pictures; None when those are not stated."""
    facts = facts_of(output)
    if not facts.by_tool:
        return usage
    if facts.tool_tokens is None:
        return None
    sent, received = facts.tool_tokens
    return replace(usage, input=usage.input + sent, output=usage.output + received, total=usage.total + sent + received)


def is_withheld(output: ModelOutput) -> bool:
    """Return whether a filter took a reply, or the model refused to give one, as far as Inspect or the reply says."""
    if not output.choices:
        return False
    details = output.choices[0].stop_details
    refused = any(isinstance(part, ContentText) and part.refusal for part in _parts(output))
    filtered = output.stop_reason == "content_filter" or facts_of(output).withheld
    return filtered or refused or (details is not None and details.type == "refusal")


def _parts(output: ModelOutput) -> Iterable[object]:
    content = output.message.content if output.choices else ""
    return () if isinstance(content, str) else content


def facts_of(output: ModelOutput) -> PictureFacts:
    """Return what the reply behind an output says of its pictures."""
    found = (output.metadata or {}).get(FACTS)
    return found if isinstance(found, PictureFacts) else PictureFacts()


def _picture(image: str) -> tuple[bytes, str]:
    """Return the bytes and stated media type of a data URI; of anything else the text itself."""
    head, comma, data = image.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        try:
            return b64decode(data, validate=True), head[len("data:") : -len(";base64")]
        except (binascii.Error, ValueError):
            pass
    return image.encode("utf-8", "backslashreplace"), ""
