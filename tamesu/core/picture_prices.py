"""What pictures may cost: tokens of those that are sent, and of the tools that make them.

Bounds of what providers say, see docs/pictures.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamesu.base.canonical import Json
from tamesu.base.model.plan import Price, is_paid, is_rented
from tamesu.core.tasks import IMAGES

_BY_TOOL = frozenset({"openai"})
_LIBRARY = "genai-prices"
# The most tokens that one picture within MAX_PIXELS may count for, by who counts.
_SENT = {"openai": 48_169}
_OTHER_SENT = 24_576
_TOOL_TOKENS = 20_000  # of one picture; the most seen are 6,240


def made_by_tool(task: str, provider: str) -> bool:
    """Return whether a provider's models make pictures by a tool, which has a model and a price of its own."""
    return task == IMAGES and provider in _BY_TOOL


def picture_price(task: str, provider: str, price: Price | None) -> Price | None:
    """Return the price that counts for a run; None where the library's rates are not those of what makes pictures."""
    by_tokens = price is not None and is_paid(price) and not is_rented(price)
    if by_tokens and made_by_tool(task, provider) and price is not None and price.source.startswith(_LIBRARY):
        return None
    return price


def sent_picture_tokens(provider: str, pictures: int) -> int:
    """Return the most tokens that so many pictures of one question count for."""
    return pictures * _SENT.get(provider, _OTHER_SENT)


def with_tool(
    task: str, provider: str, parameters: Mapping[str, Json], prompt_tokens: int
) -> tuple[Mapping[str, Json], int]:
    """Return parameters and prompt as they bound the tokens of a call and of the tool that makes its picture."""
    bound = parameters.get("max_tokens")
    if not made_by_tool(task, provider) or not isinstance(bound, int) or isinstance(bound, bool):
        return parameters, prompt_tokens
    return {**parameters, "max_tokens": bound + _TOOL_TOKENS}, 2 * prompt_tokens + bound
