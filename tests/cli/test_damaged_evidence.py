"""Evidence that was damaged: named with its file, kept as it is, rebuilt only from what verifies, never asked again."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.calling import Caller, evidence, one_line
from tests.cli.test_bad_input import AWAITING, NAME, errors, first_run
from tests.projects import EVAL, ShapesProject

NEWLINE = b"\n"


def damage(project: ShapesProject, name: str, content: bytes) -> dict[str, str]:
    """Damage a file of the first run, or of the eval; return the evidence as it then is."""
    path = project.eval / name if name == "ledger.jsonl" else first_run(project) / name
    path.write_bytes(content)
    return evidence(project)


@pytest.mark.parametrize("name", ["run.yml", "attempts/01.yml"])
@pytest.mark.parametrize(
    "content",
    [b"{ nope: [", b"", b"hello\n", b"\xff\xfe\x00", b"run_id: 5\n"],
    ids=["yaml", "empty", "text", "binary", "fields"],
)
def test_a_damaged_record_is_named_and_kept(
    name: str, content: bytes, banked_shapes: ShapesProject, call: Caller
) -> None:
    before = damage(banked_shapes, name, content)
    told = call(banked_shapes, "status")
    assert told.code == 0
    assert told.out.startswith(f"{NAME}: partial; 7/8 runs banked\n  sketcher-small x terse rep 1: failed")
    assert f"{first_run(banked_shapes).name}/{name}: does not hold what it must" in told.out
    assert call(banked_shapes, "status", "--check").code == 1
    planned = call(banked_shapes, "plan")
    assert planned.code == 0
    assert f"{name}: does not hold what it must" in planned.out
    assert evidence(banked_shapes) == before


def test_a_damaged_record_asks_nothing_again(banked_shapes: ShapesProject) -> None:
    calls = len(banked_shapes.calls())
    before = damage(banked_shapes, "run.yml", b"{ nope: [")
    done = banked_shapes.tamesu("run")
    assert done.code == 1
    errors(done)
    assert done.out.count("not banked: ") == 1
    assert "run.yml: does not hold what it must" in done.out
    assert len(banked_shapes.calls()) == calls
    assert evidence(banked_shapes) == before


def test_a_record_of_another_run_is_refused(banked_shapes: ShapesProject, call: Caller) -> None:
    target, other = first_run(banked_shapes), next((banked_shapes.eval / "runs").glob("sketcher-small--terse--rep2--*"))
    shutil.rmtree(target)
    shutil.copytree(other, target)
    before = evidence(banked_shapes)
    told = call(banked_shapes, "status")
    assert "7/8 runs banked" in told.out
    assert "run.yml belongs to another identity than its folder's name" in told.out
    assert evidence(banked_shapes) == before


@pytest.mark.parametrize("name", ["items/red-sun/result.yml", "items/red-sun/artifacts/render.png"])
@pytest.mark.parametrize("content", [b"", b"altered"], ids=["empty", "altered"])
def test_an_altered_item_is_named(name: str, content: bytes, banked_shapes: ShapesProject, call: Caller) -> None:
    before = damage(banked_shapes, name, content)
    told = call(banked_shapes, "status")
    assert "7/8 runs banked" in told.out
    assert f"{name}: differs from its inventory; restore it, or rebuild it with `tamesu rescore`" in told.out
    assert evidence(banked_shapes) == before


def test_rescore_rebuilds_what_was_damaged(banked_shapes: ShapesProject, call: Caller) -> None:
    before = evidence(banked_shapes)
    damage(banked_shapes, "run.yml", b"{ nope: [")
    damage(banked_shapes, "items/red-sun/result.yml", b"")
    done = call(banked_shapes, "rescore")
    assert done.code == 0
    told, which = done.err.splitlines()
    assert told.endswith(": 1 of 3 results differs from what was recorded; the call log keeps what they said")
    assert which.endswith(": red-sun: its result was damaged")
    after = evidence(banked_shapes)
    kept = {name for name in before if not name.startswith(f"{EVAL.as_posix()}/logs/")}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


@pytest.mark.parametrize(
    ("name", "content", "code", "says"),
    [
        ("inspect/spec.json", b"{", 1, "inspect/spec.json: is damaged"),
        ("inspect/spec.json", b'{"a": 1}', 1, "inspect/spec.json: is damaged"),
        ("inspect/attempt-01.eval", b"PK no zip", 2, "attempt-01.eval: was altered after attempt 1 recorded it"),
        ("inspect/attempt-01.eval", b"", 2, "attempt-01.eval: was altered after attempt 1 recorded it"),
        ("attempts/01.yml", b"hello", 1, "attempts/01.yml: does not hold what it must"),
    ],
    ids=["spec-torn", "spec-of-another-kind", "log-altered", "log-empty", "attempt-damaged"],
)
def test_rescore_refuses_what_does_not_verify(
    name: str, content: bytes, code: int, says: str, banked_shapes: ShapesProject, call: Caller
) -> None:
    before = damage(banked_shapes, name, content)
    done = call(banked_shapes, "rescore")
    assert done.code == code, done.out + done.err
    told = errors(done)
    assert len(told) == 1
    assert says in told[0]
    after = evidence(banked_shapes)
    mine = f"/{first_run(banked_shapes).name}/"
    assert {n: d for n, d in after.items() if mine in n} == {n: d for n, d in before.items() if mine in n}


def test_one_bad_log_does_not_keep_the_other_runs_from_being_rescored(
    banked_shapes: ShapesProject, call: Caller
) -> None:
    damage(banked_shapes, "inspect/attempt-01.eval", b"")
    done = call(banked_shapes, "rescore")
    assert done.code == 2
    assert done.out.count(": complete, 3/3") == 7


def test_a_banked_run_needs_no_private_folder(banked_shapes: ShapesProject, call: Caller) -> None:
    for folder in (banked_shapes.eval / "runs").glob("*/inspect"):
        shutil.rmtree(folder)
    before = evidence(banked_shapes)
    told = call(banked_shapes, "status")
    assert told.out.startswith(f"{NAME}: awaiting review; 8/8 runs banked\n")
    assert "absent" in told.out
    done = call(banked_shapes, "rescore")
    assert "Traceback" not in done.out + done.err
    assert done.out.count("not here (a clone or package)") == 8
    assert evidence(banked_shapes) == before


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"event":"gift"}', "ledger.jsonl:1: "),
        (b"what is this", "ledger.jsonl:1: "),
        (b'{"event":"\xff"}', "ledger.jsonl:1: "),
        (b"[1]", "ledger.jsonl:1: "),
    ],
)
@pytest.mark.parametrize("command", ["status", "plan", "run"])
def test_an_altered_ledger_stops_everything(
    command: str, line: bytes, says: str, banked_shapes: ShapesProject, call: Caller
) -> None:
    ledger = banked_shapes.eval / "ledger.jsonl"
    lines = ledger.read_bytes().split(b"\n")
    before = damage(banked_shapes, "ledger.jsonl", b"\n".join([line, *lines[1:]]))
    told = one_line(call(banked_shapes, command), 1)
    assert says in told
    assert told.endswith("; restore the ledger")
    assert evidence(banked_shapes) == before


def test_a_ledger_never_gives_money_back(banked_shapes: ShapesProject, call: Caller) -> None:
    """A negative amount would lower what was spent, and let a budget be exceeded."""
    lines = (banked_shapes.eval / "ledger.jsonl").read_bytes().split(b"\n")
    settled = next(number for number, line in enumerate(lines) if b'"event":"settled"' in line)
    lines[settled] = lines[settled].replace(b'"spent_usd":0', b'"spent_usd":-5')
    before = damage(banked_shapes, "ledger.jsonl", b"\n".join(lines))
    assert f"ledger.jsonl:{settled + 1}: " in one_line(call(banked_shapes, "plan"), 1)
    assert evidence(banked_shapes) == before


@pytest.mark.parametrize("ended", ["no", "by the next entry", "by the next entry, torn too"])
def test_a_torn_ledger_line_does_not_count(ended: str, banked_shapes: ShapesProject, call: Caller) -> None:
    whole, torn = (banked_shapes.eval / "ledger.jsonl").read_bytes(), b'{"event":"reserved","usd":5'
    *before_last, last = whole.splitlines(keepends=True)
    content = {
        "no": whole + torn,
        "by the next entry": b"".join([*before_last, torn, b"\n", last]),
        "by the next entry, torn too": whole + torn + b'\n{"ev',
    }
    before = damage(banked_shapes, "ledger.jsonl", content[ended])
    told = call(banked_shapes, "status")
    assert (told.code, told.out) == (0, AWAITING)
    assert call(banked_shapes, "plan").code == 0
    assert evidence(banked_shapes) == before


@pytest.mark.parametrize("line", [b'{"event":"reserved","usd":5\n', b"garbage\n", b"garbage"])
@pytest.mark.parametrize("command", ["status", "plan", "run", "pack shape-drawing"])
def test_a_last_line_that_is_no_entry_is_damage(
    command: str, line: bytes, banked_shapes: ShapesProject, call: Caller
) -> None:
    """An entry that a death tore is ended together with the next one, so nothing else ends in such a line."""
    whole = (banked_shapes.eval / "ledger.jsonl").read_bytes()
    before = damage(banked_shapes, "ledger.jsonl", whole + line)
    told = one_line(call(banked_shapes, *command.split()), 1)
    assert f"ledger.jsonl:{whole.count(NEWLINE) + 1}: " in told
    assert told.endswith("; restore the ledger")
    assert evidence(banked_shapes) == before


def test_a_blank_line_of_a_ledger_is_counted_where_it_stands(banked_shapes: ShapesProject, call: Caller) -> None:
    whole = (banked_shapes.eval / "ledger.jsonl").read_bytes()
    damage(banked_shapes, "ledger.jsonl", b"\n\n[1]\n" + whole)
    assert "ledger.jsonl:3: " in one_line(call(banked_shapes, "status"), 1)


@pytest.mark.parametrize("ledger", ["ledger.jsonl", "judge-ledger.jsonl"])
def test_a_damaged_ledger_is_named_and_the_other_evals_are_told(
    ledger: str, banked_shapes: ShapesProject, call: Caller
) -> None:
    cases = banked_shapes.path("cases")
    for other in ("after", "zz-last"):
        shutil.copytree(cases / "shape-drawing", cases / other)
    (cases / f"after/{banked_shapes.eval.relative_to(cases / 'shape-drawing')}/{ledger}").write_text("garbage\n")
    done = call(banked_shapes, "status")
    line = one_line(done, 1)
    assert line.startswith("after/prompt-wording/replayed: ") and f"/{ledger}:1: " in line
    told = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert [line for line in told if "8/8" in line] == [
        f"{case}/prompt-wording/replayed: awaiting review; 8/8 runs banked" for case in ("shape-drawing", "zz-last")
    ]
    views = json.loads(call(banked_shapes, "status", "--json").out)
    assert [view["standing"] for view in views] == ["invalid", "awaiting review", "awaiting review"]
    assert f"/{ledger}:1: " in views[0]["problem"]


def test_a_folder_among_the_runs_that_is_none_is_left_alone(banked_shapes: ShapesProject, call: Caller) -> None:
    stray = banked_shapes.eval / "runs" / "notes"
    stray.mkdir()
    (stray / "run.yml").write_text("just: notes\n")
    told = call(banked_shapes, "status")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"{NAME}: awaiting review; 8/8 runs banked\n")
    assert (stray / "run.yml").read_text() == "just: notes\n"
