"""The approval policy of a manifest: whether it can be used, and whether its file is part of what is executed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamesu.base.canonical import Json
from tamesu.edge.documents.document import Document, DocumentFault, NodePath
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.yaml_reader import read_yaml

_AT: NodePath = ("execution", "inspect", "approval")
_POLICY = "approval/policy"
_FIX = "write `approvers`, a list of `name` and `tools`"


def check_approval(reading: Reading, document: Document, execution: dict[str, Any], declared: frozenset[Path]) -> None:
    """Note what is wrong with the policy: no list of approvers, an approver that is a person, an undeclared file."""
    written = execution.get("inspect", {}).get("approval")
    if isinstance(written, dict):
        _check_policy(reading, document, _AT, written)
    if not isinstance(written, str):
        return
    target = reading.file(document, _AT, written)
    if target is None:
        return
    if target not in declared:
        message = f"'{written}' decides on tool calls and is no declared source"
        reading.note(document, _AT, "approval/undeclared", message, "add the file to execution.sources")
    policy = _parsed(reading, target)
    if policy is not None:
        _check_policy(reading, policy, (), policy.value)


def _parsed(reading: Reading, path: Path) -> Document | None:
    try:
        return read_yaml(reading.relative(path), reading.content(path))
    except DocumentFault as error:
        reading.findings.append(error.finding)
        return None


def _check_policy(reading: Reading, document: Document, at: NodePath, policy: Json) -> None:
    approvers = policy.get("approvers") if isinstance(policy, dict) else None
    if not isinstance(approvers, list) or not approvers:
        reading.note(document, at, _POLICY, "the approval policy lists no approvers", _FIX)
        return
    for number, approver in enumerate(approvers):
        for rule, message, fix in _problems(approver):
            reading.note(document, (*at, "approvers", number), rule, message, fix)


def _problems(approver: Json) -> Iterator[tuple[str, str, str]]:
    if not isinstance(approver, dict) or not isinstance(approver.get("name"), str):
        yield _POLICY, "an approver has no name", _FIX
        return
    if not _is_text_or_list(approver.get("tools")):
        yield _POLICY, f"approver '{approver['name']}' names no tools", _FIX
    if str(approver["name"]).rpartition("/")[2] == "human":
        message = "approver 'human' would wait for a person, and nobody sits at a run"
        yield "approval/human", message, "use `auto` with a decision, or an approver of your own"


def _is_text_or_list(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
