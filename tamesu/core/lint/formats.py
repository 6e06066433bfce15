"""Findings for people and for machines: lines of text, JSON, SARIF 2.1.0, commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from urllib.parse import quote

from tamesu.base.canonical import Json
from tamesu.base.model.finding import Finding
from tamesu.core.lint.catalogue import Rule, find_rule

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def json_findings(findings: Iterable[Finding]) -> Json:
    """Return findings as plain values; lines and columns count from 1."""
    return [
        {
            "file": one.file,
            "line": one.line,
            "column": one.column,
            "severity": one.severity,
            "rule": one.rule,
            "message": one.message,
            "fix": one.fix,
        }
        for one in findings
    ]


def sarif(findings: Sequence[Finding], version: str) -> Json:
    """Return a SARIF 2.1.0 log with one run, whose rules are those that were found."""
    rules = sorted({one.rule for one in findings})
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "tamesu", "version": version, "rules": [_sarif_rule(r) for r in rules]}},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"PROJECT": {"description": {"text": "the folder that holds cases/"}}},
                "results": [_sarif_result(one, rules.index(one.rule)) for one in findings],
            }
        ],
    }


def _sarif_rule(rule_id: str) -> Json:
    rule = find_rule(rule_id) or Rule(rule_id, rule_id, "", "")
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why or rule.what},
        "help": {"text": rule.fix or rule.what},
    }


def _sarif_result(one: Finding, index: int) -> Json:
    place: Json = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(one.file), "uriBaseId": "PROJECT"},
            "region": {"startLine": one.line, "startColumn": one.column},
        }
    }
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.severity,
        "message": {"text": f"{one.message}; {one.fix}"},
        "locations": [place],
    }


def github_line(one: Finding) -> str:
    """Return a workflow command, which annotates the line in a pull request."""
    place = f"file={_property(one.file)},line={one.line},col={one.column},title={_property(one.rule)}"
    return f"::{one.severity} {place}::{_data(f'{one.message}; {one.fix}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
