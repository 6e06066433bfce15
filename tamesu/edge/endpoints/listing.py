"""Which models an endpoint lists, in the language of its protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from tamesu.base.canonical import Json
from tamesu.base.model.endpoint import ModelListing
from tamesu.core.routes import Protocol
from tamesu.edge.endpoints.client import Answer, EndpointClient, NoAnswer
from tamesu.edge.endpoints.patience import Patience

_MOST_PAGES = 20
_NOT_READY = re.compile(r"not (yet )?(ready|loaded)|loading|warming|starting up|initiali[sz]", re.IGNORECASE)
_BUSY = frozenset({408, 425, 429, 502, 503, 504})
_PATHS: Mapping[Protocol, str] = {
    Protocol.CHAT: "/models",
    Protocol.RESPONSES: "/models",
    Protocol.MESSAGES: "/v1/models?limit=1000",
    Protocol.GEMINI: "/v1beta/models?pageSize=1000",
    Protocol.MISTRAL: "/v1/models",
    Protocol.GRPC: "/v1/models",
}


def list_models(client: EndpointClient, protocol: Protocol, model: str, patience: Patience) -> ModelListing:
    """Return what the endpoint lists; while it warms up it is asked again until patience ends."""
    if protocol not in _PATHS:
        return ModelListing("unasked", detail=f"{protocol} has no listing that is asked")
    found, waited = patience.until(lambda: _ask(client, protocol, model), lambda listing: listing.state != "warming")
    return replace(found, waited_seconds=round(waited, 1))


def _ask(client: EndpointClient, protocol: Protocol, model: str) -> ModelListing:
    names: list[str] = []
    entry: Mapping[str, Json] = {}
    path = _PATHS[protocol]
    url = client.base_url + path
    for _ in range(_MOST_PAGES):
        answer = client.get(url)
        if isinstance(answer, NoAnswer):
            return ModelListing("warming" if answer.kind == "silent" else "broken", detail=answer.message)
        if answer.status != 200:
            return _not_listed(answer)
        page = _page(answer.content)
        if page is None:
            return ModelListing("broken", detail="answers with something that is no list of models")
        names.extend(page.entries)
        entry = page.entries.get(model, entry)
        if page.more is None:
            break
        url = f"{client.base_url}{path}&{page.more}"
    return ModelListing("listed", tuple(dict.fromkeys(names)), entry=entry)


def _not_listed(answer: Answer) -> ModelListing:
    status = f"HTTP {answer.status}"
    if answer.status in {401, 403}:
        return ModelListing("refused", detail=status)
    if answer.status in _BUSY or (
        answer.status >= 400 and _NOT_READY.search(answer.content[:4000].decode("utf-8", "replace"))
    ):
        return ModelListing("warming", detail=f"{status}, not ready")
    if answer.status in {404, 405, 501}:
        return ModelListing("absent", detail=status)
    return ModelListing("broken", detail=status)


@dataclass(frozen=True, slots=True)
class _Page:
    """One page of a listing: what it says of each model, and the query that leads to the next."""

    entries: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    more: str | None = None


def _page(content: bytes) -> _Page | None:
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = {"data": value}
    if not isinstance(value, dict):
        return None
    listed = value.get("data", value.get("models"))
    if not isinstance(listed, list):
        return None
    entries: dict[str, Mapping[str, Json]] = {}
    for one in listed:
        name = _name(one)
        if name is not None:
            entries[name] = {key: part for key, part in one.items() if _is_plain(part)}
    return _Page(entries, _more(value))


def _name(entry: object) -> str | None:
    """Return the ID of a listed model; Gemini calls it `models/<id>` and nothing else does."""
    if not isinstance(entry, dict):
        return None
    found = entry.get("id", entry.get("name"))
    return found.removeprefix("models/") if isinstance(found, str) and found else None


def _is_plain(value: object) -> bool:
    """Texts of a listing may be pages long; what says which model serves is short."""
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)


def _more(value: Mapping[str, Any]) -> str | None:
    token, last = value.get("nextPageToken"), value.get("last_id")
    if isinstance(token, str) and token:
        return f"pageToken={quote(token, safe='')}"
    if value.get("has_more") is True and isinstance(last, str) and last:
        return f"after_id={quote(last, safe='')}"
    return None
