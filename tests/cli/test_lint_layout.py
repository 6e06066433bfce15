"""`tamesu lint` on the names of files and folders: nothing is passed over in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import CASE, CONFIG, PRICES, findings, write
from tests.projects import DATASET, EVAL, EXPERIMENT, ShapesProject

EVALS = EVAL.parent
BEGIN = "0 evals found; begin with `tamesu new eval EXPERIMENT/NAME` (`tamesu new --help`)\n"


def test_an_eval_by_another_name_is_told_and_not_found(shapes: ShapesProject, call: Caller) -> None:
    shapes.manifest.rename(shapes.manifest.with_name("eval.yaml"))
    done = call(shapes, "lint")
    assert done.code == 1
    assert (
        done.out.splitlines()[0]
        == f"{EVAL.as_posix()}/eval.yaml:1:1: error file/misnamed is not read; rename it to eval.yml"
    )
    assert done.out.endswith(BEGIN)


def test_a_file_beside_the_one_that_is_read_is_to_be_moved_there(shapes: ShapesProject, call: Caller) -> None:
    write(EVAL / "eval.yaml", "name: x\n")(shapes)
    assert "move what counts to eval.yml and delete it" in call(shapes, "lint", "replayed").out


@pytest.mark.parametrize("path", [PRICES.with_suffix(".yaml"), CONFIG.with_suffix(".yml")], ids=str)
def test_no_plan_is_made_beside_settings_that_do_not_count(path: Path, shapes: ShapesProject, call: Caller) -> None:
    write(path, "models: []\n")(shapes)
    done = call(shapes, "plan")
    assert done.code == 1
    assert f"{path.as_posix()}:1:1: error file/misnamed" in done.err


def test_a_project_without_evals_does_not_look_checked(shapes: ShapesProject, call: Caller) -> None:
    shapes.manifest.unlink()
    assert (call(shapes, "lint").code, call(shapes, "lint").out) == (0, BEGIN)


def test_a_manifest_alone_is_checked_as_before(shapes: ShapesProject, call: Caller) -> None:
    assert call(shapes, "lint", DATASET.as_posix()).out == "0 eval(s): no errors\n"


@pytest.mark.parametrize("folder", [Path("cases"), EVALS, EXPERIMENT.parent, CASE.parent], ids=str)
def test_a_folder_that_cannot_be_listed_is_a_finding(
    folder: Path, shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal is simulated: an administrator may list everything."""
    listing, closed = os.scandir, str(shapes.path(folder))

    def scandir(path: str | Path = ".") -> object:
        if os.fspath(path).rstrip("/") == closed:
            raise PermissionError(13, "Permission denied", closed)
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    done = call(shapes, "lint")
    assert done.code == 1
    told = [(one.file, one.rule) for one in findings(done.out.replace(BEGIN, ""))]
    assert (folder.as_posix(), "file/unreadable") in told


def test_a_name_that_is_no_id_stops_a_plan(shapes: ShapesProject, call: Caller) -> None:
    shapes.eval.rename(shapes.eval.with_name("a{b}"))
    done = call(shapes, "plan")
    assert done.code == 1
    assert "id/form 'a{b}' cannot name an eval" in done.err
