"""The wire check: every request that left, compared field by field with the plan. What is not declared is drift."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from tamesu.base.canonical import Json
from tamesu.base.model.plan import RunSpec
from tamesu.base.model.wire import UNREACHED, ModelCalls, WireCheck, WireDifference, WireReply, WireRequest
from tamesu.core.parameters import split_parameters
from tamesu.core.picture_request import sent_modalities
from tamesu.core.roles import models_of
from tamesu.core.routes import Protocol, find_route
from tamesu.core.wire_body import PICTURE_TOOL, flat, leaves, value_digest
from tamesu.core.wire_names import added_by_client, travel

_PATHS: Mapping[Protocol, tuple[tuple[re.Pattern[str], Protocol], ...]] = {
    Protocol.CHAT: (
        (re.compile(r"/chat/completions$"), Protocol.CHAT),
        (re.compile(r"/responses(/|$)"), Protocol.RESPONSES),
    ),
    Protocol.MESSAGES: ((re.compile(r"/messages$"), Protocol.MESSAGES),),
    Protocol.MISTRAL: ((re.compile(r"/chat/completions$"), Protocol.MISTRAL),),
    Protocol.GEMINI: ((re.compile(r":(stream)?[gG]enerateContent$"), Protocol.GEMINI),),
}
_IN_PATH = re.compile(r"/models/([^/:]+):")
_SNAPSHOT = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|\d{3}|v\d+(:\d+)?)$")
_OK = range(200, 300)
_NO_TOOLS = value_digest([])

Kind = Literal["sent otherwise", "not sent", "not declared", "served by another model", "unseen"]


@dataclass(frozen=True, slots=True)
class _Finding:
    kind: Kind
    name: str
    detail: str


def check_wire(
    spec: RunSpec, requests: Sequence[WireRequest], replies: Sequence[WireReply], calls: ModelCalls | None
) -> WireCheck:
    """Return the comparison of an attempt's requests with its plan; `calls` None leaves the log out of it.

    Requests of a role are compared with what the plan says of its model.
    """
    if not spec.roles:
        return _check_model(spec, requests, replies, calls)
    parts = []
    for name, model in zip((None, *(role.role for role in spec.roles)), models_of(spec), strict=True):
        if model.provider != "replay":
            own = [request for request in requests if request.role == name]
            ids = {request.id for request in own}
            made = None if calls is None else _calls_of(name, calls)
            checked = _check_model(model, own, [reply for reply in replies if reply.id in ids], made)
            parts.append(checked if name is None else _of_role(name, checked))
    return _together(parts, replies, _undeclared(calls) if spec.provider == "replay" else ())


def _calls_of(role: str | None, calls: ModelCalls) -> ModelCalls:
    return replace(calls, roles={}) if role is None else ModelCalls(calls.roles.get(role, {}))


def _of_role(role: str, check: WireCheck) -> WireCheck:
    """Return a check whose lines name the role that they are about."""
    return replace(
        check,
        differences=tuple(replace(one, name=f"{role}: {one.name}") for one in check.differences),
        unverified=tuple(f"{role}: {name}" for name in check.unverified),
    )


def _undeclared(calls: ModelCalls | None) -> tuple[WireDifference, ...]:
    """Calls of models that the plan does not name, where the run's own model leaves no requests to check."""
    found = () if calls is None else tuple(_unseen((), {}, ModelCalls({}, calls.others)))
    return tuple(_difference(finding, [None] * count) for finding, count in found)


def _together(parts: Sequence[WireCheck], replies: Sequence[WireReply], more: tuple[WireDifference, ...]) -> WireCheck:
    served = sum((Counter(part.served) for part in parts), Counter[str]())
    return WireCheck(
        way=next((part.way for part in parts if part.way is not None), None),
        requests=sum(part.requests for part in parts),
        answered=sum(part.answered for part in parts),
        served=dict(sorted(served.items())),
        differences=(*(one for part in parts for one in part.differences), *more),
        unverified=tuple(name for part in parts for name in part.unverified),
        queue_ratio=_queue_ratio(replies),
        wall_ms=_median([1000 * reply.seconds for reply in replies if reply.status in _OK]),
    )


def _check_model(
    spec: RunSpec, requests: Sequence[WireRequest], replies: Sequence[WireReply], calls: ModelCalls | None
) -> WireCheck:
    by_request = {reply.id: reply for reply in replies}
    found: dict[_Finding, list[WireRequest | None]] = defaultdict(list)
    for request in requests:
        for finding in (*_sent(spec, request), *_served(request, by_request.get(request.id))):
            found[finding].append(request)
    for finding, count in () if calls is None else _unseen(requests, by_request, calls):
        found[finding].extend([None] * count)
    served = Counter(reply.served for reply in replies if reply.served is not None)
    if len(served) > 1:
        names = " and ".join(sorted(served))
        found[_Finding("served by another model", "model", f"changed while the attempt ran: {names}")].append(None)
    return WireCheck(
        way=requests[0].way if requests else None,
        requests=len(requests),
        answered=sum(reply.status is not None for reply in replies),
        served=dict(sorted(served.items())),
        differences=tuple(_difference(finding, where) for finding, where in found.items()),
        unverified=unverified(spec),
        queue_ratio=_queue_ratio(replies),
        wall_ms=_median([1000 * reply.seconds for reply in replies if reply.status in _OK]),
    )


def unanswered_calls(
    requests: Sequence[WireRequest], replies: Sequence[WireReply], calls: ModelCalls
) -> Mapping[str, int]:
    """Return by item the requests of the run's own model that may be billed and of which no log tells the cost.

    Those are requests that left and were never answered, and replies of status 200 that were no answer.
    """
    return _unanswered(None, requests, replies, calls.answered)


def unanswered_role_calls(
    requests: Sequence[WireRequest], replies: Sequence[WireReply], calls: ModelCalls
) -> Mapping[str, int]:
    """Return the same of all further models together."""
    total: Counter[str] = Counter()
    for role in {request.role for request in requests} - {None}:
        counts = _unanswered(role, requests, replies, calls.roles.get(str(role), {}))
        total.update({item: count for item, count in counts.items() if count > 0})
    return total


def _unanswered(
    role: str | None, requests: Sequence[WireRequest], replies: Sequence[WireReply], answered: Mapping[str, int]
) -> Mapping[str, int]:
    by_request = {reply.id: reply for reply in replies}
    own = (request for request in requests if request.role == role)
    billable = Counter(r.item for r in own if r.item is not None and _may_be_billed(by_request.get(r.id)))
    return {item: count - answered.get(item, 0) for item, count in billable.items()}


def _may_be_billed(reply: WireReply | None) -> bool:
    if reply is None or reply.status is None:
        return reply is None or reply.error != UNREACHED
    return reply.status in _OK


def _difference(finding: _Finding, where: Sequence[WireRequest | None]) -> WireDifference:
    items = (request.item for request in where if request is not None)
    return WireDifference(
        finding.kind, finding.name, finding.detail, len(where), next((item for item in items if item is not None), None)
    )


def protocol_of_request(spec: RunSpec, request: WireRequest) -> Protocol | None:
    """Return the language of a request, which its path tells at the HTTP client; None for a path of no route."""
    route = find_route(spec.provider)
    if route is None or request.way == "call":
        return None if route is None else route.protocol
    known = _PATHS.get(route.protocol, ())
    return next((protocol for pattern, protocol in known if pattern.search(request.path)), None)


def unverified(spec: RunSpec) -> tuple[str, ...]:
    """Return the declared parameters that travel in no body, so that no request can show them."""
    route = find_route(spec.provider)
    if route is None:
        return ()
    split = split_parameters(spec.parameters, route.protocol)
    return tuple(name for name in sorted(split.config) if travel(route.protocol, name).local)


def _sent(spec: RunSpec, request: WireRequest) -> Iterator[_Finding]:
    protocol = protocol_of_request(spec, request)
    if protocol is None:
        yield _Finding("not declared", request.path, "was called, which no route uses")
        return
    model = request.model or _model_in_path(request.path)
    if model is not None and model != spec.model:
        yield _Finding("sent otherwise", "model", f"was {model}, planned was {spec.model}")
    accounted = {"model"}
    with_tools = request.contents.get("tools", _NO_TOOLS) != _NO_TOOLS
    for expected in expectations(spec, protocol, with_tools):
        declared = _beside_tools(spec, expected, request)
        carried = declared.carried(request)
        accounted.update(carried)
        yield from _compared(declared, request, carried)
    for name, value in request.parameters.items():
        if name not in accounted and not added_by_client(protocol, name, spec.parameters):
            yield _Finding("not declared", name, f"was sent as {_told(value)}, which the plan does not say")
    for name in request.contents:
        if name not in accounted and not added_by_client(protocol, name, spec.parameters):
            yield _Finding("not declared", name, "was sent, which the plan does not say")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A declared parameter and the names on the wire of which one must carry it; `value` None: it must be there."""

    parameter: str
    names: tuple[str, ...]
    value: Json

    def carried(self, request: WireRequest) -> tuple[str, ...]:
        """Return the names in a request that carry it."""
        there = (*request.parameters, *request.contents)
        return tuple(found for found in there if any(_below(found, name) for name in self.names))


def _beside_tools(spec: RunSpec, expected: Expectation, request: WireRequest) -> Expectation:
    """Return where to look for a wish for pictures: tools of a task file stand beside the tool that makes them.

    Without a task file nobody brings tools, so that any other is drift.
    """
    if expected.parameter == "modalities" and spec.task_file is not None and PICTURE_TOOL in request.contents:
        return replace(expected, names=(PICTURE_TOOL,))
    return expected


def _below(found: str, name: str) -> bool:
    return found == name or found.startswith(f"{name}.")


def expectations(spec: RunSpec, protocol: Protocol, with_tools: bool) -> tuple[Expectation, ...]:
    """Return what a request must carry; a parameter that the protocol has no name for expects the impossible."""
    split = split_parameters(spec.parameters, protocol)
    expected: list[Expectation] = []
    for name, value in split.config.items():
        way = travel(protocol, name)
        if way.local or (way.only_with_tools and not with_tools):
            continue
        sent = sent_modalities(protocol, value) if name == "modalities" else value
        expected.append(Expectation(name, way.names, None if way.as_whole else sent))
    # of what is merged into the body of a request each leaf is one by itself
    body = dict(leaves("", split.extra_body)) if protocol is Protocol.GEMINI else split.extra_body
    expected.extend(Expectation(name, (name,), value) for name, value in body.items())
    expected.extend(Expectation(f"image.{name}", (), None) for name in split.unsent)
    return tuple(expected)


def _compared(declared: Expectation, request: WireRequest, carried: Sequence[str]) -> Iterator[_Finding]:
    if not carried:
        names = " or ".join(declared.names)
        why = f"should travel as {names}" if names else "has no name in this protocol"
        yield _Finding("not sent", declared.parameter, f"was declared and not sent; it {why}")
    elif declared.value is not None:
        name = next(name for name in declared.names if any(_below(found, name) for found in carried))
        wanted = flat(name, declared.value)
        was = {found: _as_kept(request, found) for found in carried}
        if not _equal(wanted, was):
            yield _Finding(
                "sent otherwise", declared.parameter, f"was sent as {_told_all(was)}, planned was {_told_all(wanted)}"
            )


def _as_kept(request: WireRequest, name: str) -> Json:
    return request.parameters[name] if name in request.parameters else f"sha256:{request.contents[name]}"


def _equal(wanted: Mapping[str, Json], was: Mapping[str, Json]) -> bool:
    return wanted.keys() == was.keys() and all(
        value == was[name] and isinstance(value, bool) == isinstance(was[name], bool) for name, value in wanted.items()
    )


def _told_all(values: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} {_told(value)}" for name, value in values.items()) or "nothing"


def _told(value: Json) -> str:
    text = "true" if value is True else "false" if value is False else str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."


def _served(request: WireRequest, reply: WireReply | None) -> Iterator[_Finding]:
    asked = request.model or _model_in_path(request.path)
    if reply is None or reply.served is None or asked is None or is_served_as(asked, reply.served):
        return
    yield _Finding("served by another model", "model", f"was served by {reply.served}, asked was {asked}")


def _model_in_path(path: str) -> str | None:
    found = _IN_PATH.search(path)
    return None if found is None else found[1]


def is_served_as(asked: str, served: str) -> bool:
    """Return whether a reply names the model that was asked, or a dated snapshot of it."""
    asked, served = (name.lower().removeprefix("models/") for name in (asked, served))
    if served == asked or served.rpartition("/")[2] == asked.rpartition("/")[2]:
        return True
    bare, short = served.rpartition("/")[2], asked.rpartition("/")[2].removesuffix("-latest")
    return bare == short or _SNAPSHOT.sub("", bare) == short


def _unseen(
    requests: Sequence[WireRequest], replies: Mapping[int, WireReply], calls: ModelCalls
) -> Iterator[tuple[_Finding, int]]:
    """Answers whose request nobody saw, and calls of models that the plan does not name."""
    good = Counter(request.item for request in requests if request.id in replies and replies[request.id].status in _OK)
    missing = sum(max(0, count - good[item]) for item, count in calls.answered.items())
    if missing:
        yield _Finding("unseen", "answers", "stand in the log without a request that was seen"), missing
    for model, count in calls.others.items():
        yield _Finding("not declared", "model", f"{model} was called, which the plan does not name"), count


def _queue_ratio(replies: Sequence[WireReply]) -> float | None:
    """Wall time over the server's own; far above 1 there is a queue in front of the server."""
    timed = ((reply.seconds, reply.server_ms) for reply in replies)
    return _median([1000 * wall / server for wall, server in timed if server is not None and server > 0])


def _median(values: Sequence[float]) -> float | None:
    return round(median(values), 2) if values else None
