"""The packaged templates of `tamesu new`, rendered.

Their marks are `[[ value ]]` and `[% block %]`, so that prompts keep their own `{{ }}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import jinja2

from tamesu.edge.documents.yaml_scalars import UncarriedNumber, other_reading, resolve_plain
from tamesu.workflow_files import scaffold_folder

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")


def render(template: str, **values: object) -> bytes:
    """Return a template's text, filled in. A value that the template names and lacks is an error."""
    return _environment(scaffold_folder()).get_template(f"{template}.tmpl").render(values).encode()


def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
    )
    environment.filters.update(scalar=scalar, quoted=quoted, text=text, names=names)
    return environment


def scalar(value: str) -> str:
    """Return a short name as a YAML scalar: plain where it is read as text again, else in double quotes."""
    try:
        plain = (
            _PLAIN.issuperset(value)
            and value[:1].isalnum()
            and isinstance(resolve_plain(value), str)
            and not other_reading(value)
        )
    except UncarriedNumber:
        plain = False
    return value if plain else quoted(value)


def text(value: str) -> str:
    """Return a line as a YAML scalar; a question stays readable without quotes."""
    risky = any(mark in value for mark in (": ", " #", "\n")) or not value.isprintable() or value.endswith(":")
    return quoted(value) if risky or not value[:1].isalpha() else value if " " in value else scalar(value)


def quoted(value: str) -> str:
    """Return a text in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def names(values: Iterable[str]) -> str:
    """Return names as a YAML list in one line."""
    return f"[{', '.join(scalar(value) for value in values)}]"
