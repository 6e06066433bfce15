"""Writes the pages of docs/ that are made from code: identity, lint, routes, tables. `--check` compares only."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from docs.routes_page import routes_page
from tamesu.core.identity import IDENTITY_VERSION
from tamesu.core.identity_fields import FIELDS, Part
from tamesu.core.lint.catalogue import rules
from tamesu.core.tables import ITEM_COLUMNS, RUN_COLUMNS, judge_columns, score_columns

HERE = Path(__file__).resolve().parent
MADE = "This page is made from code by `make docs`; do not edit it."

PARTS = {
    Part.GENERATION: "can change what the model saw or said; part of the run ID (first 12 digits)",
    Part.SCORING: "can change what was measured of it; part of the run ID (last 6 digits)",
    Part.JUDGEMENT: "says what counts as good; recorded, never part of the run ID",
    Part.NONE: "never touches identity",
}


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(header)
    lines = [names, ["---"] * len(names), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def identity_page() -> str:
    """Return docs/identity.md."""
    parts = table(("Part", "Meaning"), ((f"**{part.value}**", meaning) for part, meaning in PARTS.items()))
    sections = [
        f"## {kind}\n\n{table(('Field', 'Part'), ((f'`{name}`', part.value) for name, part in fields.items()))}"
        for kind, fields in FIELDS.items()
    ]
    head = (
        f"# Identity, version {IDENTITY_VERSION}\n\n{MADE}\n\n"
        "Every leaf of a manifest belongs to exactly one part. What is resolved from them (the rendered dataset, "
        "the digests of sources, prompts and recordings, the pinned Inspect version) counts; formatting, comments, "
        "key order, line endings, file times and places do not."
    )
    return "\n\n".join([head, parts, *sections]) + "\n"


TYPES = {"text": "string", "integer": "int64", "number": "double", "flag": "bool"}


def tables_page() -> str:
    """Return docs/tables.md."""
    columns = (*ITEM_COLUMNS, *score_columns(["<scorer>"]), *judge_columns(["<judge>"]))
    items = [(f"`{column.name}`", TYPES[column.kind], column.description) for column in columns]
    runs = [(f"`{column.name}`", TYPES[column.kind], column.description) for column in RUN_COLUMNS]
    runs.append(
        ("`mean_score:<scorer>`", TYPES["number"], "mean over all planned items; failed and owed ones count as 0")
    )
    head = (
        f"# Tables\n\n{MADE}\n\n"
        "Each table is there twice, with the same values. `items.parquet` and `runs.parquet` carry types, null for "
        'what is not known: `pandas.read_parquet(path, dtype_backend="numpy_nullable")`. `items.csv` and `runs.csv` '
        "are UTF-8 with LF line ends; text is quoted and numbers are bare; IDs such as `007`, `12e3` or `NA` stay "
        "text when they are read as text: `pandas.read_csv(path, dtype=str, keep_default_na=False)`; what is not "
        "known is empty. `tables/evidence.yml` names the digest of the evidence that all four were made from, and "
        "their own. The bytes of a Parquet file also depend on the version of pyarrow that wrote it."
    )
    return (
        "\n\n".join(
            [
                head,
                "## tables/items: one row per planned item of every run",
                table(("Column", "Type", "Holds"), items),
                "## tables/runs: one row per planned run",
                table(("Column", "Type", "Holds"), runs),
            ]
        )
        + "\n"
    )


FAMILIES = {
    "acceptance": "what acceptance requires",
    "approval": "approval of tool calls",
    "check": "checks that Tamesu makes itself",
    "csv": "CSV item files",
    "dataset": "datasets",
    "endpoint": "endpoints of providers",
    "eval": "the manifest of an eval",
    "file": "files as such",
    "id": "IDs",
    "image": "container images",
    "jsonl": "JSONL item files and JSON files",
    "judge": "model judges",
    "metric": "metrics",
    "name": "names",
    "output-schema": "schemas of outputs",
    "parameter": "parameters of model calls",
    "path": "paths in manifests",
    "portable": "what would not work elsewhere (`lint --portable CASE`)",
    "price": "prices",
    "prompt": "prompts",
    "provider": "routes to models",
    "replay": "recorded answers",
    "review": "review by people",
    "role": "further models by role",
    "rubric": "rubrics",
    "run": "runs of the plan",
    "schema": "the shape of manifests",
    "scorer": "scorers",
    "secret": "secrets",
    "sources": "executed sources",
    "support": "what this version cannot do",
    "task": "tasks",
    "yaml": "YAML",
}


def lint_page() -> str:
    """Return docs/lint.md."""
    head = (
        f"# Rules of lint\n\n{MADE}\n\n"
        "`tamesu lint [PATH]` checks the whole project, or an eval, a file or a folder, without importing its Python, "
        "without network and without Docker. Each finding is one line, `file:line:column: severity rule message; fix`. "
        "`--format json`, `sarif` and `github` serve CI. Exit 0: no errors; 1: findings; 2: misuse; `--strict` makes "
        "warnings count. IDs are stable.\n\n"
        "What only forbids execution (a missing credential, a draft, a budget) is told by `tamesu plan`, not by lint."
    )
    sections = []
    for family, members in groupby(rules().values(), key=lambda rule: rule.family):
        told = [f"### {rule.id}\n\n{rule.what} {rule.why}\n\nFix: {rule.fix}" for rule in members]
        sections.append(f"## {family}: {FAMILIES[family]}\n\n" + "\n\n".join(told))
    return "\n\n".join([head, *sections]) + "\n"


PAGES = {
    "identity.md": identity_page,
    "lint.md": lint_page,
    "routes.md": lambda: routes_page(MADE, table),
    "tables.md": tables_page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` name those that are not what the code yields."""
    stale = 0
    for name, make in PAGES.items():
        path, content = HERE / name, make()
        if "--check" not in arguments:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            print(f"docs/{name}: is not what the code yields; run `make docs`")
            stale = 1
    return stale


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
