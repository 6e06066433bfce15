"""C39: how a dataset is saved (BOM, line ends, key order) and where it is read change neither findings nor identity."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

import pytest

from tamesu.base.model.manifest import EvalRef
from tamesu.core.freeze import dataset_bytes
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.store.paths import Project
from tests.cli.calling import Caller
from tests.projects import DATASET, EXPERIMENT, ShapesProject

REF = EvalRef("shape-drawing", "prompt-wording", "replayed")
ROWS = [
    {"id": "b", "input": {"scene": "A café's sign.", "size": [3, {"w": 1, "h": 2.5}]}, "metadata": {"year": "1999"}},
    {"id": "a", "input": {"scene": "Eins\u2028zwei\u0085drei.", "size": None}, "metadata": {"year": "no"}},
    {"id": "c", "input": {"scene": "naïve", "size": True}, "metadata": {"year": "2000"}},
]
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
CURLY = b"\x92"


def turned(value: object) -> object:
    """Return a value with the keys of every mapping in the opposite order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(part) for part in value] if isinstance(value, list) else value


def jsonl(rows: object) -> bytes:
    assert isinstance(rows, list)
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def table(columns: tuple[str, ...]) -> bytes:
    cells = [
        {"id": row["id"], "input": row["input"]["scene"], "year": row["metadata"]["year"], "expected": ""}
        for row in ROWS
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    return text.getvalue().encode()


PLAIN = {"jsonl": jsonl(ROWS), "csv": table(("id", "input", "year", "expected"))}
TURNED = {"jsonl": jsonl(turned(ROWS)), "csv": table(("expected", "year", "input", "id"))}


def saved(form: str) -> Mapping[str, bytes]:
    plain = PLAIN[form]
    return {
        "a-byte-order-mark": b"\xef\xbb\xbf" + plain,
        "b-crlf": plain.replace(b"\n", b"\r\n"),
        "d-no-final-newline": plain.removesuffix(b"\n"),
        "e-other-key-order": TURNED[form],
        "all-at-once": b"\xef\xbb\xbf" + TURNED[form].replace(b"\n", b"\r\n").removesuffix(b"\r\n"),
    }


def hold(project: ShapesProject, form: str, content: bytes) -> None:
    """Let the dataset be one file of items; the prompts print the whole input."""
    project.path(DATASET).write_text(f"name: scenes-v1\nitems_from: items.{form}\n")
    (project.path(DATASET).parent / f"items.{form}").write_bytes(content)
    project.edit_eval("items: {ids: [red-sun, three-stripes, crossed-lines]}", "items: all")
    for prompt in ("terse", "worked-example"):
        project.edit(EXPERIMENT / f"prompts/{prompt}.md.j2", "item.input.scene", "item.input")


def rewrite(project: ShapesProject, form: str, content: bytes) -> None:
    (project.path(DATASET).parent / f"items.{form}").write_bytes(content)


def frozen(project: ShapesProject) -> tuple[dict[str, str], dict[str, bytes], list[str]]:
    """Return the digests and the bytes of the frozen datasets by arm, and the IDs of the runs."""
    read = read_eval(Project(project.root), REF)
    # nothing is recorded for these items, and nothing else is the matter with them
    assert {(finding.severity, finding.rule) for finding in read.findings} == {("warning", "replay/no-answer")}
    assert read.matrix is not None
    assert read.matrix is not None
    datasets = read.matrix.datasets
    return (
        {arm: dataset.digest for arm, dataset in datasets.items()},
        {arm: dataset_bytes(dataset) for arm, dataset in datasets.items()},
        [run.run_id for run in read.matrix.runs],
    )


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_c39_how_a_file_of_items_is_saved_changes_no_identity(form: str, shapes: ShapesProject) -> None:
    hold(shapes, form, PLAIN[form])
    expected = frozen(shapes)
    assert [json.loads(line)["id"] for line in expected[1]["terse"].split(b"\n")[:-1]] == ["b", "a", "c"]
    for name, content in saved(form).items():
        rewrite(shapes, form, content)
        assert frozen(shapes) == expected, name
    rewrite(shapes, form, PLAIN[form].replace("naïve".encode(), b"naive"))
    assert frozen(shapes)[0] != expected[0]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_c39_a_byte_that_is_not_utf_8_is_refused_with_its_line(form: str, shapes: ShapesProject, call: Caller) -> None:
    lines = PLAIN[form].split(b"\n")
    lines[2] = lines[2].replace(b"e", CURLY, 1)
    hold(shapes, form, b"\n".join(lines))
    done = call(shapes, "lint")
    assert done.code == 1
    assert done.out.startswith((DATASET.parent / f"items.{form}").as_posix() + ":3:")
    assert f" error {form}/encoding the byte 0x92 is not UTF-8; save the file as UTF-8" in done.out


@pytest.mark.long
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_c39_the_locale_changes_neither_findings_nor_identity(form: str, shapes: ShapesProject) -> None:
    """In the C locale Python's default encoding is ASCII: whatever is read by default fails at the first accent."""
    hold(shapes, form, PLAIN[form])
    planned = shapes.tamesu("plan", "--json")
    assert planned.code == 0
    for content in saved(form).values():
        rewrite(shapes, form, content)
        assert shapes.tamesu("plan", "--json", env=ASCII) == planned
    rewrite(shapes, form, PLAIN[form].replace(b"e", CURLY))
    refused = shapes.tamesu("lint", env=ASCII)
    assert refused.code == 1
    assert refused == shapes.tamesu("lint")


def test_c39_the_name_of_an_item_is_told_in_any_locale(shapes: ShapesProject) -> None:
    hold(shapes, "jsonl", '{"id": "café", "input": "b"}\n'.encode())
    done = shapes.tamesu("lint", env=ASCII)
    assert (done.code, done.err) == (1, "")
    assert "schema/pattern 'id': 'caf" in done.out
