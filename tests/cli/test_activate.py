"""`tamesu activate`: one word changes in eval.yml, and nothing else."""

from __future__ import annotations

import stat

import pytest

from tests.cli.calling import Caller, one_line
from tests.projects import ShapesProject

NAME = "shape-drawing/prompt-wording/replayed"


def draft(project: ShapesProject) -> bytes:
    project.edit_eval("status: active", "status: draft   # not yet")
    return project.manifest.read_bytes()


def test_a_draft_becomes_active_by_one_word(shapes: ShapesProject, call: Caller) -> None:
    before = draft(shapes)
    done = call(shapes, "activate", "replayed")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{NAME}: activated",
        "next: `tamesu plan replayed` shows what it may cost, `tamesu run replayed` starts it",
    ]
    assert shapes.manifest.read_bytes() == before.replace(b"status: draft ", b"status: active ")
    assert not any("draft" in blocker for blocker in shapes.plan()["blockers"])


@pytest.mark.parametrize("spelling", ["status: active", "", "status: 'active'"])
def test_an_active_eval_stays_as_it_is(spelling: str, shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", spelling)
    before = shapes.manifest.read_bytes(), shapes.manifest.stat().st_mtime_ns
    done = call(shapes, "activate", "replayed")
    assert (done.code, done.out, done.err) == (0, f"{NAME}: active already\n", "")
    assert (shapes.manifest.read_bytes(), shapes.manifest.stat().st_mtime_ns) == before


def test_a_complete_eval_is_refused(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", "status: complete")
    before = shapes.manifest.read_bytes()
    line = one_line(call(shapes, "activate", "replayed"), 2)
    advice = f"make a new eval instead of measuring on in this one, or `tamesu activate {NAME} --reopen` to add reviews"
    assert line.endswith(f"eval.yml: status is 'complete'; {advice}")
    assert shapes.manifest.read_bytes() == before


def test_an_eval_with_errors_stays_a_draft_and_all_findings_are_shown(shapes: ShapesProject, call: Caller) -> None:
    draft(shapes)
    shapes.edit_eval("name: replayed", "name: other")
    shapes.edit_eval("[render_rate,", "[render_rat,")
    before = shapes.manifest.read_bytes()
    done = call(shapes, "activate", "replayed")
    assert (done.code, done.err) == (1, "")
    assert done.out == call(shapes, "lint", "replayed").out
    assert [line.split(" ")[2] for line in done.out.splitlines()] == ["name/folder", "metric/not-produced"]
    assert shapes.manifest.read_bytes() == before


def test_windows_line_ends_and_a_byte_order_mark_stay(shapes: ShapesProject, call: Caller) -> None:
    before = b"\xef\xbb\xbf" + draft(shapes).replace(b"\n", b"\r\n")
    shapes.manifest.write_bytes(before)
    assert call(shapes, "activate", "replayed").code == 0
    assert shapes.manifest.read_bytes() == before.replace(b"status: draft ", b"status: active ")


def test_permissions_and_a_link_stay(shapes: ShapesProject, call: Caller) -> None:
    draft(shapes)
    target = shapes.manifest.with_name("kept.yml")
    shapes.manifest.rename(target)
    target.chmod(0o600)
    shapes.manifest.symlink_to(target.name)
    assert call(shapes, "activate", "replayed").code == 0
    assert shapes.manifest.readlink().name == "kept.yml"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "status: active " in target.read_text()


def test_an_anchor_that_reaches_further_is_left_to_its_author(shapes: ShapesProject, call: Caller) -> None:
    shapes.edit_eval("status: active", "status: &word draft")
    shapes.edit_eval("  - id: terse\n", "  - id: *word\n")
    shapes.edit_eval("arms: [terse, worked-example]", "arms: [draft, worked-example]")
    before = shapes.manifest.read_bytes()
    line = one_line(call(shapes, "activate", "replayed"), 1)
    assert line.endswith("eval.yml: `status` is tied to other fields; write `status: active` by hand")
    assert shapes.manifest.read_bytes() == before


def test_activating_makes_no_run_stale(banked_shapes: ShapesProject, call: Caller) -> None:
    banked_shapes.edit_eval("status: active", "status: draft")
    assert call(banked_shapes, "activate", "replayed").code == 0
    assert banked_shapes.states() == {"banked": 8}
