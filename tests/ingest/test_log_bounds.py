"""Logs are expanded within limits: one large sample fails alone, and what cannot be a log is refused in a line."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.edge.backends.inspect.log_bounds import in_pieces, sample_sizes
from tests.cli.calling import Caller, one_line
from tests.ingest.bombs import overlap, replace_member, zeros
from tests.ingest.lab import asked, lab, log_path, result, run_yml, the_run, turn, work_off
from tests.ingest.rewriting import pin
from tests.projects import ShapesProject

SAMPLE = "samples/b_epoch_1.json"


@pytest.fixture
def made(tmp_path: Path) -> ShapesProject:
    """A run of three items that is executed and not ingested."""
    project = lab(tmp_path / "lab", {name: turn() for name in "abc"})
    assert work_off(project, "freeze", "execute").error is None
    return project


def test_sizes_are_those_that_a_sound_log_states(made: ShapesProject) -> None:
    with zipfile.ZipFile(log_path(made)) as held:
        stated = {one.filename: one.file_size for one in held.infolist() if one.filename.startswith("samples/")}
    assert len(stated) == 3
    assert sample_sizes(log_path(made)) == stated


@pytest.mark.parametrize("says", [1024, 10 * 2**30 % 2**32])
def test_c49_c57_a_sample_that_expands_without_end_fails_alone(made: ShapesProject, says: int) -> None:
    log = log_path(made)
    replace_member(log, SAMPLE, zeros(10), says)
    assert log.stat().st_size < 2 * 2**20
    pin(the_run(made))
    assert work_off(made, "ingest").error is None
    assert [result(made, item)["state"] for item in "abc"] == ["complete", "failed", "complete"]
    error = result(made, "b")["error"]
    assert error == {
        "type": "SampleTooLarge",
        "message": "the log holds more than 268,435,456 bytes of it, too much to read",
    }
    assert result(made, "b")["usage"] == result(made, "a")["usage"]  # its summary tells what it cost
    assert asked(made) == ["a", "b", "c"]
    assert run_yml(made)["complete"] == 2


def with_large_header(log: Path) -> None:
    replace_member(log, "header.json", zeros(2), 1024)


def with_unknown_packing(log: Path) -> None:
    content = log.read_bytes()
    log.write_bytes(content.replace(b"\x5d\x00", b"\x63\x00"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_large_header, "header.json has more than 1,073,741,824 bytes when it is expanded"),
        (overlap, "shares bytes with another member"),
        (with_unknown_packing, "is packed by method 99"),
    ],
)
def test_c49_a_log_that_cannot_be_one_is_refused_in_a_line(
    made: ShapesProject,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    says: str,
) -> None:
    assert work_off(made, "ingest").error is None
    before = (the_run(made) / "run.yml").read_bytes()
    change(log_path(made))
    pin(the_run(made))
    line = one_line(Caller(monkeypatch, capsys)(made, "rescore"), 2)
    assert says in line
    assert (the_run(made) / "run.yml").read_bytes() == before


@given(st.lists(st.integers(0, 200 * 2**20), max_size=40))
def test_pieces_hold_every_sample_once_in_order_and_fit_into_memory(sizes: list[int]) -> None:
    keys = list(range(len(sizes)))
    pieces = list(in_pieces(keys, sizes))
    assert [key for piece in pieces for key in piece] == keys
    for piece in pieces:
        assert len(piece) == 1 or (len(piece) <= 1_000 and sum(sizes[key] for key in piece) <= 64 * 2**20)
