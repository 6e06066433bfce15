"""Answers become records, all of them or none, once; nothing is overwritten."""

from __future__ import annotations

import copy
import csv
import errno
import io
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tamesu.base.model.judgement import ReviewRecord
from tamesu.base.model.review import PackKey
from tamesu.core.review.sheet import neutralised
from tamesu.edge.store.records import read_record
from tamesu.edge.store.seal import dump_sealed
from tamesu.stages import review_import
from tests.cli.calling import Caller, evidence, one_line
from tests.projects import EXPERIMENT, ShapesProject
from tests.review.packs import (
    DIMENSIONS,
    NAME,
    PackFolder,
    answers,
    artifact,
    export,
    findings,
    item_of,
    records,
    responses,
    take_in,
    write,
)

RUBRIC = EXPERIMENT / "rubrics" / "drawing.yml"


@pytest.fixture
def pack(banked_shapes: ShapesProject, call: Caller) -> PackFolder:
    return export(call, banked_shapes)


def test_answers_become_one_immutable_record_each(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    given = responses(pack)
    first = given["reviews"][0]
    first["answers"]["objects"] = {"passed": False, "reason": "object-hidden", "note": "the sun is: #1"}
    first["note"] = "two\nlines \u2028 é"
    before = evidence(banked_shapes)
    done = take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", given))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"/r.yml: {len(pack.ids)} reviews of pack {pack.name} imported\n")
    found = records(banked_shapes)
    assert len(found) == len(pack.ids)
    assert {path: digest for path, digest in evidence(banked_shapes).items() if path in before} == before
    run_id, item = item_of(pack, first["entry"])
    ((path, record),) = ((path, one) for path, one in found.items() if f"/{run_id}/items/{item}/" in path)
    stamp = record["time"].replace("-", "").replace(":", "").replace(".", "")
    assert path.endswith(f"/reviews/ada--{stamp}.yml")
    key = pack.key["entries"][first["entry"]]
    assert record == {
        "reviewer": "ada",
        "time": record["time"],
        "pack": pack.name,
        "run_id": run_id,
        "item": item,
        "seen": {"render": key["files"][0]["sha256"]},
        "rubric": pack.key["rubric"],
        "answers": {
            "objects": {"passed": False, "reason": "object-hidden", "note": "the sun is: #1"},
            "arrangement": {"passed": True, "reason": "none", "note": None},
            "recognizable": {"passed": True, "reason": "none", "note": None},
        },
        "note": "two\nlines \u2028 é",
        "settles": [],
        "schema_version": 1,
        "checksum": record["checksum"],
    }
    assert call(banked_shapes, "status").out.startswith(f"{NAME}: evidence complete; 8/8 runs banked")
    assert "nothing to review for ada" in call(banked_shapes, "review", "export", NAME, "--reviewer", "ada").out


def test_an_answer_that_is_changed_by_hand_does_not_count(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    given = write(banked_shapes.root / "r.yml", responses(pack))
    assert take_in(call, banked_shapes, given).code == 0
    path = sorted(banked_shapes.eval.glob("runs/*/items/*/reviews/*.yml"))[0]
    text = path.read_text()
    for changed in (text.replace("passed: true", "passed: false", 1), re.sub("checksum: .*\n", "", text)):
        assert changed != text
        path.write_text(changed)
        told = one_line(call(banked_shapes, "leaderboard"), 1)
        assert f"{path}: was changed after it was imported; restore it from version control, or remove it" in told
    path.write_text(text)
    assert call(banked_shapes, "leaderboard").code == 0


def test_a_key_that_is_changed_by_hand_says_nothing_any_more(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    given = write(banked_shapes.root / "r.yml", responses(pack))
    text = pack.key_file.read_text()
    first, second = sorted({entry["item"] for entry in pack.key["entries"].values()})[:2]
    pack.key_file.write_text(text.replace(f"item: {first}\n", f"item: {second}\n", 1))
    told = one_line(take_in(call, banked_shapes, given), 1)
    assert f"{pack.key_file}: was changed after it was exported; restore it from version control" in told
    assert records(banked_shapes) == {}


def test_the_same_file_twice_writes_nothing(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    file = write(banked_shapes.root / "r.yml", responses(pack))
    assert take_in(call, banked_shapes, file).code == 0
    before = records(banked_shapes)
    banked_shapes.edit(RUBRIC, "name: drawing", "name: other")
    again = take_in(call, banked_shapes, file)
    assert (again.code, again.err) == (0, "")
    assert f"already imported, {len(pack.ids)} reviews" in again.out
    assert records(banked_shapes) == before


def test_a_death_between_records_is_made_up_for(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(banked_shapes.root / "r.yml", responses(pack))
    written: list[Path] = []
    real = review_import.write_exclusive

    def dies(path: Path, content: bytes) -> None:
        if len(written) == 5:
            raise OSError(errno.EIO, "the disk went away", str(path))
        real(path, content)
        written.append(path)

    with monkeypatch.context() as patch:
        patch.setattr(review_import, "write_exclusive", dies)
        assert "the disk went away" in one_line(take_in(call, banked_shapes, file), 2)
    before = records(banked_shapes)
    assert len(before) == 5
    done = take_in(call, banked_shapes, file)
    assert done.code == 0
    assert f"{len(pack.ids) - 5} reviews of pack {pack.name} imported, 5 already there" in done.out
    after = records(banked_shapes)
    assert {path: after[path] for path in before} == before
    assert len(after) == len(pack.ids)
    assert len({(one["run_id"], one["item"]) for one in after.values()}) == len(after), "no review twice"


def test_changed_answers_are_new_records_and_the_latest_counts(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    first = write(banked_shapes.root / "a.yml", responses(pack))
    second = write(banked_shapes.root / "b.yml", responses(pack, lambda entry: entry != pack.ids[0]))
    assert take_in(call, banked_shapes, first).code == 0
    before = records(banked_shapes)
    done = take_in(call, banked_shapes, second)
    assert "1 review of pack" in done.out
    assert f"{len(pack.ids) - 1} already there" in done.out
    after = records(banked_shapes)
    assert {path: after[path] for path in before} == before
    assert len(after) == len(before) + 1
    old = take_in(call, banked_shapes, first)
    assert old.code == 1
    assert [rule for rule, _ in findings(old.out)] == ["replaced"]
    assert records(banked_shapes) == after


def test_a_clock_that_was_set_back_makes_no_older_review(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    assert take_in(call, banked_shapes, write(banked_shapes.root / "a.yml", responses(pack))).code == 0
    run_id, item = item_of(pack, pack.ids[0])
    (path,) = (banked_shapes.eval / "runs" / run_id / "items" / item / "reviews").glob("*.yml")
    future = path.with_name("ada--29990101T000000000000Z.yml")
    future.write_bytes(dump_sealed(replace(read_record(path, ReviewRecord), time="2999-01-01T00:00:00.000000Z")))
    path.unlink()
    changed = write(banked_shapes.root / "b.yml", responses(pack, lambda entry: entry != pack.ids[0]))
    assert take_in(call, banked_shapes, changed).code == 0
    times = sorted(one["time"] for one in records(banked_shapes).values())
    assert times[-2:] == ["2999-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000001Z"]


def spoil_unknown_entry(given: dict[str, Any], pack: PackFolder) -> None:
    given["reviews"][0]["entry"] = "e-000000000000"


def spoil_repeated(given: dict[str, Any], pack: PackFolder) -> None:
    given["reviews"].append(copy.deepcopy(given["reviews"][0]))


def spoil_missing_dimension(given: dict[str, Any], pack: PackFolder) -> None:
    del given["reviews"][0]["answers"]["objects"]


def spoil_unknown_dimension(given: dict[str, Any], pack: PackFolder) -> None:
    given["reviews"][0]["answers"]["object"] = {"passed": True}


def spoil_reason(reason: str | None, passed: bool) -> Callable[[dict[str, Any], PackFolder], None]:
    def spoil(given: dict[str, Any], pack: PackFolder) -> None:
        answer = {"passed": passed} | ({} if reason is None else {"reason": reason})
        given["reviews"][0]["answers"]["objects"] = answer

    return spoil


def spoil_incomplete(given: dict[str, Any], pack: PackFolder) -> None:
    del given["reviews"][:7]


def spoil_pack(given: dict[str, Any], pack: PackFolder) -> None:
    given["pack"] = "bo-001-000000"


SPOILED = {
    "unknown-entry": (spoil_unknown_entry, "has no entry 'e-000000000000'"),
    "repeated-entry": (spoil_repeated, "is answered twice, first in line 3"),
    "missing-dimension": (spoil_missing_dimension, "dimension 'objects' is not answered; answer yes or no"),
    "unknown-dimension": (spoil_unknown_dimension, "has no dimension 'object'; did you mean objects?"),
    "unknown-reason": (spoil_reason("object-missin", False), "'object-missin'; did you mean object-missing?"),
    "reason-on-pass": (spoil_reason("object-missing", True), "is a yes with the reason 'object-missing'"),
    "reason-missing": (spoil_reason(None, False), "give one of object-missing, object-hidden, object-outside"),
    "incomplete": (spoil_incomplete, "7 of 22 entries are not answered"),
    "unknown-pack": (spoil_pack, "no key of pack bo-001-000000 is in review/keys"),
}


@pytest.mark.parametrize("rule", SPOILED)
def test_c46_one_mistake_refuses_the_whole_file(
    rule: str, banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    spoil, message = SPOILED[rule]
    given = responses(pack)
    spoil(given, pack)
    text = yaml.safe_dump(given, sort_keys=False)
    file = banked_shapes.root / "r.yml"
    file.write_text(text)
    done = take_in(call, banked_shapes, file)
    assert (done.code, done.err) == (1, "tamesu: nothing was imported; correct the files, or ask the reviewer\n")
    told = findings(done.out)
    assert rule in [name for name, _ in told]
    assert any(message in text for name, text in told if name == rule), told
    assert all(line.startswith(f"{file}:") for line in done.out.splitlines())
    assert records(banked_shapes) == {}


def test_all_mistakes_are_told_at_once_with_their_lines(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    given = responses(pack)
    for entry, reason in zip(given["reviews"][:3], ("nope", "never", "not"), strict=True):
        entry["answers"]["arrangement"] = {"passed": False, "reason": reason}
    good = write(banked_shapes.root / "good.yml", responses(export(call, banked_shapes, "bo")))
    done = take_in(call, banked_shapes, good, write(banked_shapes.root / "bad.yml", given))
    lines = (banked_shapes.root / "bad.yml").read_text().splitlines()
    found = [line.split(":")[1] for line in done.out.splitlines()]
    assert len(found) == 3
    assert all(lines[int(number) - 1].strip() == "arrangement:" for number in found)
    assert records(banked_shapes) == {}, "the good file waits for the bad one"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("pack: [", "yaml/syntax"),
        ("pack: ada\n", "schema/required"),
        ("pack: a\nreviews: []\n", "schema/minItems"),
        ("pack: a\nreviews: [{entry: e, answers: {objects: {passed: yes}}}]\n", "schema/type"),
        (
            "pack: a\nreviews: [{entry: e, answers: {objects: {passed: true}}, reviewer: bo}]\n",
            "schema/additionalProperties",
        ),
        ("pack: ../../secrets\nreviews: [{entry: e, answers: {}}]\n", "schema/pattern"),
        ("schema_version: 2\npack: a\nreviews: [{entry: e, answers: {}}]\n", "schema/const"),
    ],
)
def test_the_shape_is_checked_as_that_of_manifests(
    text: str, rule: str, banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    (banked_shapes.root / "r.yml").write_text(text)
    done = take_in(call, banked_shapes, "r.yml")
    assert done.code == 1
    assert f" error {rule} " in done.out
    assert done.out.startswith("r.yml:")


def test_a_part_is_taken_when_it_is_asked_for(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    file = write(banked_shapes.root / "r.yml", responses(pack, ids=pack.ids[:3]))
    assert take_in(call, banked_shapes, file).code == 1
    assert take_in(call, banked_shapes, "--partial", file).code == 0
    assert len(records(banked_shapes)) == 3
    rest = export(call, banked_shapes)
    assert len(rest.ids) == len(pack.ids) - 3
    assert take_in(call, banked_shapes, write(file, responses(pack))).code == 0
    assert len(records(banked_shapes)) == len(pack.ids)


def test_a_changed_rubric_refuses(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    banked_shapes.edit(RUBRIC, "visible in the drawing?", "visible?")
    done = take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", responses(pack)))
    assert findings(done.out) == [
        (
            "rubric-changed",
            f"the rubric changed since pack {pack.name} was exported; export a new pack and have it answered",
        )
    ]
    assert records(banked_shapes) == {}


@pytest.mark.parametrize("change", ["edited", "gone", "the run is gone"])
def test_a_changed_artifact_refuses(change: str, banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    run_id, item = item_of(pack, pack.ids[0])
    path = artifact(banked_shapes, run_id, item) / "render.png"
    match change:
        case "edited":
            path.write_bytes(path.read_bytes() + b"\0")
        case "gone":
            path.unlink()
        case _:
            shutil.rmtree(banked_shapes.eval / "runs" / run_id)
    done = take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", responses(pack)))
    assert done.code == 1
    told = findings(done.out)
    of_run = [entry for entry in pack.ids if item_of(pack, entry)[0] == run_id]
    assert [rule for rule, _ in told] == ["changed-output"] * len(of_run)
    assert all(any(entry in text for _, text in told) for entry in of_run)
    assert records(banked_shapes) == {}


def test_another_output_than_the_reviewer_saw_refuses(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    key = read_record(pack.key_file, PackKey)
    entry = key.entries[pack.ids[0]]
    other = replace(entry, files=(replace(entry.files[0], sha256="0" * 64), *entry.files[1:]))
    pack.key_file.write_bytes(dump_sealed(replace(key, entries={**key.entries, pack.ids[0]: other})))
    done = take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", responses(pack)))
    ((rule, message),) = findings(done.out)
    assert rule == "changed-output"
    assert f"entry {pack.ids[0]}: the output is another one than the reviewer saw" in message


def test_a_run_that_the_plan_no_longer_names_keeps_its_reviews(
    banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    """People's work is not lost because a prompt was edited meanwhile."""
    banked_shapes.edit_eval("temperature: 0.7", "temperature: 0.8")
    assert take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", responses(pack))).code == 0
    assert len(records(banked_shapes)) == len(pack.ids)
    told = call(banked_shapes, "review", "status").out
    assert f"{len(pack.ids)} reviews of runs that the plan does not name" in told


def test_c46_a_pack_of_another_eval_is_named(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    other = banked_shapes.eval.parent / "second"
    other.mkdir()
    text = banked_shapes.manifest.read_text().replace("name: replayed", "name: second")
    (other / "eval.yml").write_text(text)
    file = write(banked_shapes.root / "r.yml", responses(pack))
    done = call(banked_shapes, "review", "import", "second", "r.yml")
    assert done.code == 1
    assert f"is of another eval; `tamesu review import {NAME} r.yml`" in done.out
    shutil.copytree(pack.key_file.parent, other / "review" / "keys")
    done = call(banked_shapes, "review", "import", "second", str(file))
    assert "responses/other-eval" in done.out
    assert records(banked_shapes) == {}


def test_the_same_pack_in_two_files_refuses(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    files = [write(banked_shapes.root / f"{name}.yml", responses(pack)) for name in "ab"]
    done = take_in(call, banked_shapes, *files)
    assert [rule for rule, _ in findings(done.out)] == ["pack-twice"]
    assert records(banked_shapes) == {}


def test_c46_a_closed_eval_takes_no_answers(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    """C46: a response file that is edited after the closing."""
    file = write(banked_shapes.root / "r.yml", responses(pack))
    banked_shapes.edit_eval("status: active", "status: complete")
    assert one_line(take_in(call, banked_shapes, file), 2) == f"{NAME}: closed; `tamesu activate {NAME} --reopen` first"
    assert records(banked_shapes) == {}


@pytest.mark.parametrize("name", ["missing.yml", "cases"])
def test_a_file_that_cannot_be_read_is_misuse(
    name: str, banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    assert one_line(take_in(call, banked_shapes, name), 2).startswith(f"{name}: cannot be read: ")


def test_a_key_that_is_broken_is_named(banked_shapes: ShapesProject, pack: PackFolder, call: Caller) -> None:
    file = write(banked_shapes.root / "r.yml", responses(pack))
    pack.key_file.write_text("pack: [")
    assert pack.key_file.name in one_line(take_in(call, banked_shapes, file), 1)


def filled(pack: PackFolder, delimiter: str = ",") -> bytes:
    """The exported sheet as a reviewer fills it in, saved with another delimiter."""
    rows = list(csv.reader(io.StringIO((pack.folder / "responses.csv").read_text(encoding="utf-8-sig"), newline="")))
    for number, cells in enumerate(rows[1:]):
        for name in DIMENSIONS:
            at = rows[0].index(name)
            no = ["no", answers(False)[name]["reason"], ""]
            cells[at : at + 3] = ["TRUE", "", neutralised("=1+1")] if number else no
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    return buffer.getvalue().encode("utf-8-sig")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_sheet_says_the_same_as_the_page(
    delimiter: str, banked_shapes: ShapesProject, pack: PackFolder, call: Caller
) -> None:
    file = banked_shapes.root / "Mappe1.CSV"
    file.write_bytes(filled(pack, delimiter))
    assert take_in(call, banked_shapes, file).code == 0
    found = records(banked_shapes)
    assert len(found) == len(pack.ids)
    run_id, item = item_of(pack, pack.ids[0])
    for record in found.values():
        first = (record["run_id"], record["item"]) == (run_id, item)
        assert {answer["passed"] for answer in record["answers"].values()} == {not first}
        assert {answer["note"] for answer in record["answers"].values()} == {None if first else "=1+1"}
    page = responses(pack, lambda entry: entry != pack.ids[0])
    for one in page["reviews"][1:]:
        for answer in one["answers"].values():
            answer["note"] = "=1+1"
    again = take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", page))
    assert "already imported" in again.out


def test_a_sheet_that_is_filled_in_is_not_overwritten(banked_shapes: ShapesProject, call: Caller) -> None:
    pack = export(call, banked_shapes, "ada", "--seed", "3")
    sheet = pack.folder / "responses.csv"
    sheet.write_bytes(filled(pack))
    before = sheet.read_bytes()
    done = call(banked_shapes, "review", "export", NAME, "--reviewer", "ada", "--seed", "3")
    assert "holds answers; import it or move it away, then export again" in one_line(done, 2)
    assert sheet.read_bytes() == before
