"""`pack`: what each profile holds, the same bytes from whoever packs, and what forbids a package."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from tamesu.edge.documents.schemas import DocumentKind, validate
from tamesu.edge.documents.yaml_reader import read_yaml
from tests.cli.calling import Caller, one_line
from tests.cli.lint_cases import TASK, write
from tests.packing.cases import ARCHIVE, CASE, PUBLICATION, members
from tests.projects import EVAL, EXPERIMENT, ShapesProject

PROFILES = ("full", "rescorable", "report-only")
RUNS = EVAL.relative_to(CASE) / "runs"


def packed(case: ShapesProject, call: Caller, *arguments: str) -> Path:
    done = call(case, "pack", "shape-drawing", *arguments)
    assert (done.code, done.err) == (0, ""), done.out + done.err
    return case.path(ARCHIVE)


def payload(archive: Path) -> set[str]:
    return {name.removeprefix("payload/") for name in members(archive) if name.startswith("payload/")}


@pytest.fixture
def messy(banked_case: ShapesProject) -> ShapesProject:
    """A banked case with everything beside its evidence that no package may hold."""
    run = next(path for path in sorted((banked_case.eval / "runs").iterdir()))
    for place in (run / "inspect/attempt-09.eval", run / "wire.jsonl", run / ".hidden"):
        place.write_bytes(b"private")
    for name in (".env", ".untrusted-origin", "datasets/old.EVAL", "experiments/.git/config", ".snakemake/log"):
        write(CASE / name, "private")(banked_case)
    write(EXPERIMENT / "inspect/__pycache__/x.pyc", "private")(banked_case)
    banked_case.path(CASE / ".link").symlink_to("/etc/hosts")
    return banked_case


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_holds_what_is_private(messy: ShapesProject, call: Caller, profile: str) -> None:
    archive = packed(messy, call, "--profile", profile)
    for name, content in members(archive).items():
        segments = name.split("/")
        assert not content.startswith(b"private")
        assert not any(segment.startswith(".") or segment == "__pycache__" for segment in segments)
        assert not name.lower().endswith((".eval", "wire.jsonl"))
        assert "inspect" not in segments[segments.index("runs") :] if "runs" in segments else True


def test_full_holds_all_case_files_and_the_smaller_profiles_less(banked_case: ShapesProject, call: Caller) -> None:
    held = {
        profile: payload(
            packed(banked_case, call, "--profile", profile, "--output", f"{profile}.gz")
            and banked_case.path(f"{profile}.gz")
        )
        for profile in PROFILES
    }
    case = banked_case.path(CASE)
    files = {path.relative_to(case).as_posix() for path in case.rglob("*") if path.is_file()}
    runs = {name for name in files if name.startswith(f"{RUNS}/")}
    private = {name for name in runs if "/inspect/" in name or name.endswith("wire.jsonl")}
    assert held["full"] == files - private
    views = {f"{EVAL.relative_to(CASE)}/{name}" for name in ("leaderboard.md", "evaluation-report.md")}
    views |= {name for name in files if "/tables/" in name}
    assert held["rescorable"] == files - private - views
    said = {"view-only.yml", "case.yml", "README.md"}
    assert said <= held["report-only"]
    assert {Path(name).name for name in held["report-only"] - said} == {
        "README.md", "system.md", "terse.md.j2", "worked-example.md.j2", "eval.yml", "run.yml", "report.yml",
        "result.yml", "leaderboard.md", "evaluation-report.md",
    }  # fmt: skip


def test_the_record_says_what_the_package_is(banked_case: ShapesProject, call: Caller) -> None:
    archive = packed(banked_case, call)
    held = members(archive)
    assert next(iter(held)) == "package.yml"
    assert list(held)[1:] == sorted(list(held)[1:], key=str.encode)
    document = read_yaml("package.yml", held["package.yml"])
    assert validate(document, DocumentKind.PACKAGE) == ()
    said = yaml.safe_load(held["package.yml"])
    own = {name.removeprefix("payload/"): content for name, content in held.items() if name != "package.yml"}
    lines = "".join(f"{hashlib.sha256(own[path]).hexdigest()}  {path}\n" for path in sorted(own, key=str.encode))
    assert said["content_digest"] == hashlib.sha256(lines.encode()).hexdigest()
    assert (said["files"], said["bytes"]) == (len(own), sum(map(len, own.values())))
    assert (said["publisher"], said["name"], said["version"], said["profile"]) == (
        "acme",
        "shapes",
        "1.0.0",
        "rescorable",
    )


def test_the_bytes_do_not_depend_on_who_packs_where_and_when(
    banked_case: ShapesProject, call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = packed(banked_case, call).read_bytes()
    other = ShapesProject(tmp_path / "elsewhere")
    case = banked_case.path(CASE)
    for path in sorted(case.rglob("*"), reverse=True):  # another order of creation, other times and modes
        if path.is_file():
            target = other.path(CASE / path.relative_to(case))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
            target.chmod(0o755)
            os.utime(target, (1, 1))
    shutil.copytree(banked_case.path("config"), other.path("config"))
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "C")
    previous = os.umask(0o077)
    try:
        assert packed(other, call).read_bytes() == first
    finally:
        os.umask(previous)


def test_a_version_is_written_once(case: ShapesProject, call: Caller) -> None:
    archive = packed(case, call)
    first = archive.read_bytes()
    assert call(case, "pack", "shape-drawing").out.startswith("already there, with the same bytes: ")
    write(CASE / "README.md", "# Other\n")(case)
    line = one_line(call(case, "pack", "shape-drawing"), 2)
    assert "holds other content under the same version; raise `version`" in line
    assert archive.read_bytes() == first
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    case.edit(PUBLICATION, "version: 1.0.0", "version: 1.0.1")
    assert call(case, "pack", "cases/shape-drawing").code == 0
    assert archive.read_bytes() == first


def test_findings_forbid_a_package_and_some_may_pass(case: ShapesProject, call: Caller) -> None:
    case.edit(TASK, "model, parameters", "see /Users/ada/x; model, parameters")
    done = call(case, "pack", "shape-drawing")
    (line,) = done.out.splitlines()
    assert (done.code, "portable/home-path" in line) == (1, True)
    assert (
        done.err == "tamesu: 1 finding forbids the package; correct it, or let one that is none pass with --allow ID\n"
    )
    assert not case.path(ARCHIVE).exists()
    packed(case, call, "--allow", line.rpartition("[")[2].rstrip("]"))


def test_an_id_that_no_finding_has_is_a_mistake(case: ShapesProject, call: Caller) -> None:
    assert "no finding of this package has that ID" in one_line(
        call(case, "pack", "shape-drawing", "--allow", "abc"), 2
    )
    assert not case.path(ARCHIVE).exists()


def test_a_finding_that_would_break_the_archive_cannot_pass(case: ShapesProject, call: Caller) -> None:
    case.path(CASE / "link.md").symlink_to("README.md")
    done = call(case, "pack", "shape-drawing")
    assert (done.code, "[" in done.out) == (1, False)
    assert done.err == "tamesu: 1 finding forbids the package; correct it\n"


def test_logs_are_packed_without_home_folders_and_stay_as_they_are(banked_case: ShapesProject, call: Caller) -> None:
    log = next(iter(sorted((banked_case.eval / "logs").glob("*.jsonl"))))
    with log.open("a") as stream:
        stream.write(json.dumps({"event": "framework_error", "message": "no /home/ada/x"}) + "\n")
    before = log.read_bytes()
    held = members(packed(banked_case, call))
    said = held[f"payload/{log.relative_to(banked_case.path(CASE)).as_posix()}"]
    assert said == before.replace(json.dumps({"event": "framework_error", "message": "no /home/ada/x"}).encode(),
                                  b'{"event":"framework_error","message":"no ~/x"}')  # fmt: skip
    assert log.read_bytes() == before


def test_a_run_in_progress_forbids_a_package(banked_case: ShapesProject, call: Caller) -> None:
    run = sorted(banked_case.run_ids())[0]
    lock = banked_case.path(f".tamesu/locks/{run}.lock")
    with lock.open("w") as stream:
        stream.write('{"pid": 7, "host": "here", "since": "2026-01-31T12:00:00+00:00"}')
        stream.flush()
        fcntl.flock(stream, fcntl.LOCK_EX)
        line = one_line(call(banked_case, "pack", "shape-drawing"), 1)
    assert f"is at work ({run}, " in line and "wait for it or stop it" in line
    packed(banked_case, call)


def test_what_a_death_left_open_forbids_a_package(banked_case: ShapesProject, call: Caller) -> None:
    run = banked_case.eval / "runs" / sorted(banked_case.run_ids())[0]
    ledger, begun = banked_case.eval / "ledger.jsonl", run / "inspect/attempt-02.jsonl"
    whole = ledger.read_bytes()
    begun.write_bytes(b"")
    assert "attempt 2 was begun and never closed" in one_line(call(banked_case, "pack", "shape-drawing"), 2)
    begun.unlink()
    ledger.write_bytes(whole + b'{"event":')
    assert "its last line is torn" in one_line(call(banked_case, "pack", "shape-drawing"), 2)
    first = json.loads(whole.split(b"\n")[0])
    ledger.write_bytes(whole + json.dumps({**first, "attempt": 9, "event": "reserved"}).encode() + b"\n")
    assert "holds money for attempt 9" in one_line(call(banked_case, "pack", "shape-drawing"), 2)
    assert not banked_case.path(ARCHIVE).exists()


def test_evidence_that_does_not_verify_is_not_packed(banked_case: ShapesProject, call: Caller) -> None:
    run = banked_case.eval / "runs" / sorted(banked_case.run_ids())[0]
    (run / "items/red-sun/artifacts/response.txt").write_text("other")
    line = one_line(call(banked_case, "pack", "shape-drawing"), 1)
    assert "items/red-sun/artifacts/response.txt: differs from its inventory" in line


def test_a_case_that_holds_reports_alone_is_packed_as_that_only(case: ShapesProject, call: Caller) -> None:
    write(CASE / "view-only.yml", "reason: unpacked\n")(case)
    assert "give --profile report-only" in one_line(call(case, "pack", "shape-drawing"), 2)
    held = members(packed(case, call, "--profile", "report-only"))
    assert held["payload/view-only.yml"].startswith(b"schema_version: 1\nreason: packed with the profile report-only")


def test_views_of_other_evidence_are_not_packed(banked_case: ShapesProject, call: Caller) -> None:
    banked_case.edit_eval("scene_coverage: {pass_at: 0.8}", "scene_coverage: {pass_at: 0.9}")
    for profile in ("full", "report-only"):
        line = one_line(call(banked_case, "pack", "shape-drawing", "--profile", profile), 1)
        assert "was made from other evidence than what lies here; make it anew with `tamesu rescore" in line
    packed(banked_case, call, "--profile", "rescorable")
    assert call(banked_case, "rescore").code == 0
    packed(banked_case, call, "--profile", "full", "--output", "full.tamesu.tar.gz")
