"""Pictures of a reply, out of the content that Inspect makes of it; nothing is fetched."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable

import msgspec
from inspect_ai._util.constants import NO_CONTENT
from inspect_ai.model import ContentImage, ContentText, ModelOutput, ModelUsage

from tamesu.core.reply_pictures import PictureFacts, says_withheld
from tamesu.edge.providers.calls import ReplyPicture

_MOST_CAUSES = 8
UNSTATED_TOOL = (
    "the reply does not say how many tokens the tool used that makes its pictures, so what it cost is unknown; "
    "`tamesu resume --again` asks once more, or leave its rates out of config/models.yml and give "
    "--accept-unknown-price to take such replies (backend native)"
)
FACTS = "tamesu_pictures"  # in the metadata of an output: what the provider's own reply says of its pictures


def mark_pictures(output: ModelOutput, facts: PictureFacts) -> None:
    """Say in an output what the reply behind it says of its pictures, and count the tokens of the tool that made them.

    Where the reply does not state those, what it cost is not known, so its own tokens are none.
    """
    if facts == PictureFacts():
        return
    output.metadata = {**(output.metadata or {}), FACTS: facts}
    if facts.by_tool and output.usage is not None:
        output.usage = None if facts.tool_tokens is None else _with_tool(output.usage, *facts.tool_tokens)


def _with_tool(usage: ModelUsage, sent: int, received: int) -> ModelUsage:
    counts = {
        "input_tokens": usage.input_tokens + sent,
        "output_tokens": usage.output_tokens + received,
        "total_tokens": usage.total_tokens + sent + received,
    }
    return usage.model_copy(update=counts)


def lacks_tool_tokens(output: ModelOutput) -> bool:
    """Return whether a tool of the provider's made pictures and the reply does not say what that took."""
    facts = facts_of(output)
    return facts.by_tool and facts.tool_tokens is None


def reply_words(output: ModelOutput) -> str:
    """Return the text of a reply; what Inspect writes in the place of none is no text."""
    return "" if output.completion == NO_CONTENT else output.completion


def reply_pictures(output: ModelOutput) -> tuple[ReplyPicture, ...]:
    """Return the pictures of a reply in its order, those of the model's thinking last."""
    pictures = [_picture(part.image) for part in _parts(output) if isinstance(part, ContentImage)]
    interim = set(facts_of(output).interim)
    order = sorted(range(len(pictures)), key=lambda place: place in interim)
    return tuple(ReplyPicture(*pictures[place], interim=place in interim) for place in order)


def is_withheld(output: ModelOutput) -> bool:
    """Return whether a filter took a reply, or the model refused to give one, as far as Inspect or the reply says."""
    if not output.choices:
        return False
    details = output.choices[0].stop_details
    refused = any(isinstance(part, ContentText) and part.refusal for part in _parts(output))
    filtered = output.stop_reason == "content_filter" or facts_of(output).withheld
    return filtered or refused or (details is not None and details.type == "refusal")


def withheld_by_error(error: BaseException | None) -> bool:
    """Return whether an error, or one behind it, says that a filter took the reply; codes stand beside its text."""
    said: list[str] = []
    while error is not None and len(said) < _MOST_CAUSES:
        said.append(f"{error} {getattr(error, 'code', '')}")
        error = error.__cause__ or error.__context__
    return says_withheld(" ".join(said))


def _parts(output: ModelOutput) -> Iterable[object]:
    content = output.message.content if output.choices else ""
    return () if isinstance(content, str) else content


def facts_of(output: ModelOutput) -> PictureFacts:
    """Return what the reply behind an output says of its pictures, also of an output that was read from a log."""
    found = (output.metadata or {}).get(FACTS)
    if isinstance(found, PictureFacts):
        return found
    try:
        return PictureFacts() if found is None else msgspec.convert(found, PictureFacts)
    except msgspec.ValidationError:
        return PictureFacts()


def _picture(image: str) -> tuple[bytes, str]:
    """Return the bytes and stated media type of a data URI; of anything else the text itself."""
    head, comma, data = image.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        try:
            return b64decode(data, validate=True), head[len("data:") : -len(";base64")]
        except (binascii.Error, ValueError):
            pass
    return image.encode("utf-8", "backslashreplace"), ""
