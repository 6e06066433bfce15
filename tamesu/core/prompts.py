"""Prompts: literal text, or Jinja2 in a sandbox where an undefined name is an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import SimpleNamespace

from jinja2 import Template

from tamesu.base.canonical import Json, canonical_bytes
from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Arm, Item, Prompt
from tamesu.base.model.plan import Message
from tamesu.core.template_meter import metered
from tamesu.core.template_sandbox import FAULTS, NullPrinted, TemplateSandbox

_ENVIRONMENT = TemplateSandbox()
_MOST_NAMED = 3
_LARGEST_PROMPT = 8 * 1024 * 1024  # characters; no model reads as many


@lru_cache(maxsize=256)
def _template(text: str) -> Template:
    return _ENVIRONMENT.template(text)


def render_prompt(prompt: Prompt, item: Item) -> str:
    """Return the prompt as the model will see it; templates see `item.id`, `item.input`, `item.metadata`.

    Raises InvalidDocument for a template that does not parse, names what is not there, prints a null or has no end.
    """
    if not prompt.template:
        return prompt.text
    visible = SimpleNamespace(id=item.id, input=item.input, metadata=dict(item.metadata or {}))
    try:
        return filled_in(prompt.text, {"item": visible})
    except NullPrinted as error:
        why = _nulls(prompt.text, item) or str(error)
        raise InvalidDocument(
            f"{prompt.path}: cannot be rendered for item '{item.id}': {why}; write a value, or use `default('', true)`"
        ) from None
    except FAULTS as error:
        raise InvalidDocument(
            f"{prompt.path}: cannot be rendered for item '{item.id}': {fault_line(error)}; "
            "correct the template or the item"
        ) from None


def filled_in(template: str, visible: Mapping[str, object]) -> str:
    """Return a template filled in with what it may see. Raises FAULTS of the sandbox."""
    made = _template(template)
    with metered():
        return _bounded(made.generate(**visible))


def fault_line(error: BaseException) -> str:
    """Return what a fault of a template says, on one line."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(said.split()) or "it needs more memory than there is"


def _bounded(parts: Iterable[str]) -> str:
    """Return the parts as one text. Raises ValueError as soon as it is longer than a prompt may be."""
    made, length = [], 0
    for part in parts:
        made.append(part)
        length += len(part)
        if length > _LARGEST_PROMPT:
            raise ValueError(f"it is longer than {_LARGEST_PROMPT} characters")
    return "".join(made)


def _nulls(template: str, item: Item) -> str:
    """Name the nulls of an item that a template may have printed."""
    named = [path for path in _null_paths("input", item.input) if path.rpartition(".")[2] in template]
    named += [
        path for path in _null_paths("metadata", dict(item.metadata or {})) if path.rpartition(".")[2] in template
    ]
    return f"{' or '.join(named[:_MOST_NAMED])} is null" if named else ""


def _null_paths(path: str, value: Json) -> Iterator[str]:
    if value is None:
        yield path
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _null_paths(f"{path}.{name}", part)


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
