"""What `pack` tells: all that forbids a package in one round, the state of its evidence, and what it gives away."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.cli.calling import Caller, one_line
from tests.cli.lint_cases import TASK, write
from tests.packages.snapshots import snapshot
from tests.packing.cases import ARCHIVE, CASE
from tests.packing.test_pack import packed
from tests.projects import ShapesProject

NAME = "shape-drawing/prompt-wording/replayed"


def told(project: ShapesProject, call: Caller, *arguments: str) -> list[str]:
    """Return the lines about the evidence and about what people may not expect."""
    done = call(project, "pack", "shape-drawing", *arguments)
    assert (done.code, done.err) == (0, ""), done.out + done.err
    return [line.strip() for line in done.out.splitlines() if line.startswith("  ")]


def test_the_state_of_the_evidence_is_told_in_the_words_of_status(
    banked_case: ShapesProject, call: Caller, tmp_path: Path
) -> None:
    assert told(banked_case, call, "--dry-run") == [f"{NAME}: awaiting review; 8/8 runs banked"]
    banked_case.edit_eval("repetitions: 2", "repetitions: 3")
    assert told(banked_case, call, "--dry-run") == [f"{NAME}: partial; 8/12 runs banked"]
    banked_case.edit_eval("repetitions: 3", "repetitions: 1")
    assert told(banked_case, call, "--dry-run") == [
        f"{NAME}: awaiting review; 4/4 runs banked, 4 extra runs, not counted"
    ]
    banked_case.edit_eval("temperature: 0.7", "temperature: 0.8")
    assert told(banked_case, call, "--dry-run") == [f"{NAME}: ready; 0/4 runs banked, 8 stale runs, not counted"]


def test_a_case_that_ran_nothing_says_so(case: ShapesProject, call: Caller) -> None:
    assert told(case, call) == [f"{NAME}: ready; nothing has run"]
    case.edit_eval("status: active", "status: draft")
    assert told(case, call, "--dry-run", "--output", "other.gz") == [f"{NAME}: draft; nothing has run"]


def test_keys_and_reviews_are_told(banked_case: ShapesProject, call: Caller) -> None:
    for reviewer in ("ada", "bea"):
        assert call(banked_case, "review", "export", "replayed", "--reviewer", reviewer).code == 0
    run = sorted((banked_case.eval / "runs").iterdir())[0]
    write(run.relative_to(banked_case.root) / "items/red-sun/reviews/notes.txt", "by ada\n")(banked_case)
    keys = "holds the keys of 2 review packs (review/keys/): whoever has them and reviews is not blind"
    reviews = "holds 1 review with the names that reviewers gave and their notes"
    assert told(banked_case, call, "--dry-run")[1:] == [keys, reviews]
    (report_only,) = told(banked_case, call, "--dry-run", "--profile", "report-only")[1:]
    assert report_only == (
        "holds 24 result.yml, which tell what models answered and, where checks record them, expected values, "
        "although no dataset comes with it"
    )


@pytest.mark.parametrize("view", ["leaderboard.md", "evaluation-report.md"])
def test_reports_alone_are_not_packed_without_the_reports(view: str, banked_case: ShapesProject, call: Caller) -> None:
    whole = (banked_case.eval / view).read_bytes()
    (banked_case.eval / view).unlink()
    line = one_line(call(banked_case, "pack", "shape-drawing", "--profile", "report-only"), 2)
    assert f"/{view}: is missing although there are runs" in line
    assert line.endswith(f"`tamesu report {NAME}` makes it")
    packed(banked_case, call)
    assert call(banked_case, "report", NAME).code == 0
    assert (banked_case.eval / view).read_bytes() == whole
    packed(banked_case, call, "--profile", "report-only", "--output", "reports.gz")


def test_c51_findings_of_lint_and_secrets_are_told_in_one_round(
    case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = secrets.token_urlsafe(24)
    monkeypatch.setenv("HF_TOKEN", canary)
    write(CASE / "README.md", f"# A\n\n{canary}\n")(case)
    case.edit(TASK, "model, parameters", "see /Users/ada/x; model, parameters")
    done = call(case, "pack", "shape-drawing")
    home, secret = done.out.splitlines()
    assert ("portable/home-path" in home, secret.startswith("payload/README.md:3: holds the value of HF_TOKEN [")) == (
        True,
        True,
    )
    assert done.err.startswith("tamesu: 2 findings forbid the package; ")
    assert canary not in done.out
    ids = [line.rpartition("[")[2].rstrip("]") for line in (home, secret)]
    packed(case, call, "--allow", ids[0], "--allow", ids[1])


def test_an_id_that_no_finding_has_hides_no_finding(case: ShapesProject, call: Caller) -> None:
    case.edit(TASK, "model, parameters", "see /Users/ada/x; model, parameters")
    done = call(case, "pack", "shape-drawing", "--allow", "abc")
    finding, unknown = done.out.splitlines()
    assert (done.code, "portable/home-path" in finding) == (1, True)
    assert unknown == "--allow abc: no finding of this package has that ID"
    assert done.err.startswith("tamesu: 1 finding forbids the package; ")


def test_a_dry_run_says_everything_and_writes_nothing(
    banked_case: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(banked_case.root)
    trial = call(banked_case, "pack", "shape-drawing", "--dry-run")
    assert (trial.code, trial.err) == (0, "")
    assert snapshot(banked_case.root) == before
    done = call(banked_case, "pack", "shape-drawing")
    assert trial.out == done.out.replace("packed: ", "would be packed: ")
    assert trial.out.startswith(f"would be packed: {ARCHIVE}\n")
    again = call(banked_case, "pack", "shape-drawing", "--dry-run")
    assert again.out.startswith("already there, with the same content: ")
    canary = secrets.token_urlsafe(24)
    monkeypatch.setenv("HF_TOKEN", canary)
    write(CASE / "README.md", f"# A\n\n{canary}\n")(banked_case)
    found = call(banked_case, "pack", "shape-drawing", "--dry-run")
    assert (found.code, found.out) == (1, call(banked_case, "pack", "shape-drawing").out)
    assert "holds the value of HF_TOKEN" in found.out
