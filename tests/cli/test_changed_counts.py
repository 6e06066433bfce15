"""run.yml changed by hand: its counts and amounts are held against what they count, wherever they are shown."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.calling import Caller, evidence
from tests.cli.test_bad_input import AWAITING, NAME, first_run
from tests.projects import ShapesProject

SEAL = re.compile(r"^checksum: .*\n", re.MULTILINE)


def change(project: ShapesProject, old: str, new: str, sealed: bool = True) -> Path:
    """Change a field of the first run's run.yml; without its seal it is as an early version wrote it."""
    path = first_run(project) / "run.yml"
    text = path.read_text()
    assert re.search(old, text, re.MULTILINE), text[:400]
    text = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    path.write_text(text if sealed else SEAL.sub("", text))
    return path


EDITS = [
    ("^complete: 3$", "complete: 2", "says `complete: 2`, but 3 of its items are"),
    ("^failed: 0$", "failed: 1", "says `failed: 1`, but 0 of its items are"),
    ("^planned: 3$", "planned: 2", "says `planned: 2`, but it holds 3 items"),
    ("^spent_usd: .*$", "spent_usd: 0.5", "was changed after it was written"),
    ("^  busy_seconds: .*$", "  busy_seconds: 0.5", "was changed after it was written"),
    ("^ended: .*$", "ended: '2020-01-01T00:00:00+00:00'", "was changed after it was written"),
]


@pytest.mark.parametrize(("old", "new", "says"), EDITS, ids=[new.strip().split(":")[0] for _, new, _ in EDITS])
def test_a_figure_changed_by_hand_is_damage(
    old: str, new: str, says: str, banked_shapes: ShapesProject, call: Caller
) -> None:
    path = change(banked_shapes, old, new)
    before, calls = evidence(banked_shapes), len(banked_shapes.calls())
    line = f"{path.relative_to(banked_shapes.root)}: {says}; restore it, or rebuild it with `tamesu rescore`"
    for command in ("status", "plan"):
        told = call(banked_shapes, command)
        assert line in told.out, command
    assert call(banked_shapes, "status").out.startswith(f"{NAME}: partial; 7/8 runs banked\n")
    assert call(banked_shapes, "status", "--check").code == 1
    assert call(banked_shapes, "run").code == 1
    assert (evidence(banked_shapes), len(banked_shapes.calls())) == (before, calls)


def test_no_view_shows_the_figure_that_was_changed(banked_shapes: ShapesProject, call: Caller) -> None:
    change(banked_shapes, "^spent_usd: .*$", "spent_usd: 0.777125")
    for command in ("report replayed", "leaderboard", "present shape-drawing", "pack shape-drawing", "plan --json"):
        done = call(banked_shapes, *command.split())
        assert "0.777125" not in done.out, command
    written = [*banked_shapes.path("build").rglob("*.html"), *banked_shapes.eval.glob("*.md")]
    assert {path.name for path in written} >= {"evaluation-report.md", "leaderboard.md"}
    for path in written:
        assert "0.777125" not in path.read_text(), path.name
        assert "was changed after it was written" in path.read_text(), path.name
        assert "nothing has run" not in path.read_text(), path.name


def test_rescore_makes_the_figures_anew_from_the_logs(banked_shapes: ShapesProject, call: Caller) -> None:
    path = first_run(banked_shapes) / "run.yml"
    before = path.read_bytes()
    change(banked_shapes, "^complete: 3$", "complete: 2")
    done = call(banked_shapes, "rescore")
    assert (done.code, done.err) == (0, "")
    assert path.read_bytes() == before


def test_where_no_log_is_here_rescore_is_no_advice(banked_shapes: ShapesProject, call: Caller) -> None:
    change(banked_shapes, "^complete: 3$", "complete: 2")
    shutil.rmtree(first_run(banked_shapes) / "inspect")
    told = call(banked_shapes, "status").out
    assert "3 of its items are; restore it from version control or the package it came with" in told


def test_a_run_beside_the_plan_that_was_changed_is_named(banked_shapes: ShapesProject, call: Caller) -> None:
    path = change(banked_shapes, "^complete: 3$", "complete: 2")
    stray = path.parent.with_name(path.parent.name.replace("--rep1--", "--rep7--"))
    path.parent.rename(stray)
    told = call(banked_shapes, "plan").out
    place = (stray / "run.yml").relative_to(banked_shapes.root)
    assert f"damaged: 1 run(s) on disk, not counted: {place}: says `complete: 2`" in told


class TestEarlyVersions:
    """A run.yml without a seal, which early versions wrote."""

    def test_it_counts_as_it_did(self, banked_shapes: ShapesProject, call: Caller) -> None:
        for path in (banked_shapes.eval / "runs").glob("*/run.yml"):
            path.write_text(SEAL.sub("", path.read_text()))
        before = evidence(banked_shapes)
        told = call(banked_shapes, "status")
        assert (told.code, told.out) == (0, AWAITING)
        assert call(banked_shapes, "rescore").code == 0
        kept = {name: sha for name, sha in before.items() if name.endswith("run.yml")}
        assert kept.items() <= evidence(banked_shapes).items()

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [*EDITS[:3], ("^spent_usd: .*$", "spent_usd: 0.5", r"says `spent_usd: 0.5`, but its attempts cost 0 USD")],
    )
    def test_its_counts_agree_with_what_they_count(
        self, old: str, new: str, says: str, banked_shapes: ShapesProject, call: Caller
    ) -> None:
        change(banked_shapes, old, new, sealed=False)
        told = call(banked_shapes, "status").out
        assert "7/8 runs banked" in told
        assert says in told
