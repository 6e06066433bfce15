"""Prompts: literal text, or Jinja2 in a sandbox where an undefined name is an error."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tamesu.base.canonical import canonical_bytes
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Arm, Item, Prompt
from tamesu.base.model.plan import Message

_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)


@lru_cache(maxsize=256)
def _template(text: str) -> Template:
    return _ENVIRONMENT.from_string(text)


def render_prompt(prompt: Prompt, item: Item) -> str:
    """Return the prompt as the model will see it; templates see `item.id`, `item.input`, `item.metadata`.

    Raises InvalidDocument for a template that does not parse or names what is not there.
    """
    if not prompt.template:
        return prompt.text
    visible = SimpleNamespace(id=item.id, input=item.input, metadata=dict(item.metadata or {}))
    try:
        return _template(prompt.text).render(item=visible)
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise InvalidDocument(
            f"{prompt.path}: cannot be rendered for item '{item.id}': {error}; correct the template or the item"
        ) from None


def render_messages(arm: Arm, item: Item) -> tuple[Message, ...]:
    """Return the system and user messages of one item in one arm; without a user prompt the input is sent."""
    system = () if arm.system is None else (Message("system", render_prompt(arm.system, item)),)
    if arm.user is not None:
        user = render_prompt(arm.user, item)
    elif isinstance(item.input, str):
        user = item.input
    else:
        user = canonical_bytes(item.input).decode()
    return (*system, Message("user", user))
