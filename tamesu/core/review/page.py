"""The page of a pack: one HTML file with everything in it, which may ask nothing of any network."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tamesu.core.review.pack import Pack, page_data


def review_page(pack: Pack) -> str:
    """Return review.html. Foreign text stands in one island of JSON only, which scripts show as text.

    Its policy allows this style and this script by their digests, and pictures and sounds that it holds itself.
    """
    environment = _environment(escaped=True)
    style, script = (_source(environment, name) for name in ("review.css", "review.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            "media-src data:",
            f"style-src {_allowed(style)}",
            f"script-src {_allowed(script)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return environment.get_template("review.html.j2").render(
        policy=policy,
        style=Markup(style),  # ours, not escaped
        script=Markup(script),
        island=Markup(island(page_data(pack))),
        kind=pack.kind,
    )


def nothing_page() -> str:
    """Return the page of a pack that holds nothing."""
    return _source(_environment(escaped=True), "nothing.html")


def review_readme(pack: Pack) -> str:
    """Return README.txt: what to do with the pack."""
    return _environment(escaped=False).get_template("readme.txt.j2").render(pack=pack)


def island(value: object) -> str:
    """Return JSON that ends no element, opens no comment and holds no line end of JavaScript, whatever it says."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _allowed(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


@cache
def _environment(*, escaped: bool) -> Environment:
    return Environment(
        loader=PackageLoader("tamesu.core.review"),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
