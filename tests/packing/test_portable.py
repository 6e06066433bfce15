"""`lint --portable`: what would not work elsewhere, one line each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.cli.lint_cases import (
    COMPOSE,
    CONFIG,
    MANIFEST,
    PINNED,
    PRICES,
    RECORDINGS,
    TASK,
    Edit,
    findings,
    source,
    swap,
    write,
)
from tests.packing.cases import CASE, PUBLICATION
from tests.projects import EVAL, EXPERIMENT, Done, ShapesProject

MUTABLE = swap("  artifacts:\n", "  allow_mutable_images: true\n  artifacts:\n")
ANSWERS = EXPERIMENT / "recordings/answers.jsonl"


NO_ERRORS = Done(
    0,
    "1 eval(s): no errors; secrets and the state of the evidence are looked at by `tamesu pack --dry-run CASE`\n",
    "",
)


def link(place: Path, to: str) -> Edit:
    return lambda project: project.path(place).symlink_to(to)


def pipe(place: Path) -> Edit:
    return lambda project: os.mkfifo(project.path(place))


def enlarge(place: Path, size: int) -> Edit:
    def edit(project: ShapesProject) -> None:
        project.path(place).parent.mkdir(parents=True, exist_ok=True)
        with project.path(place).open("wb") as file:
            file.truncate(size)

    return edit


def unpublish(project: ShapesProject) -> None:
    project.path(PUBLICATION).unlink()


def own_folder(project: ShapesProject) -> None:
    project.path(TASK).write_text(project.path(TASK).read_text() + f"# {project.root}/data\n")


def hide_answers(project: ShapesProject) -> None:
    project.path(ANSWERS).rename(project.path(ANSWERS).with_name(".answers.jsonl"))
    project.edit(MANIFEST, RECORDINGS, RECORDINGS.replace("answers", ".answers"))


def told(done: Done) -> set[tuple[str, str, str]]:
    lines = [line for line in done.out.splitlines(keepends=True) if " eval(s): no errors" not in line]
    return {(one.file, one.severity, one.rule) for one in findings("".join(lines))}


@pytest.mark.parametrize(
    ("edits", "file", "severity", "rule"),
    [
        pytest.param((unpublish,), PUBLICATION, "error", "portable/publication", id="no-publication"),
        pytest.param((own_folder,), TASK, "error", "portable/absolute-path", id="own-folder-in-a-source"),
        pytest.param(
            (write(EXPERIMENT / "inspect/notes.txt", "see /home/ada/x\n"),), EXPERIMENT / "inspect/notes.txt",
            "warning", "portable/home-path", id="home-in-prose",
        ),
        pytest.param(
            (swap("model, parameters", "see /Users/ada/x; model, parameters", TASK),), TASK,
            "error", "portable/home-path", id="home-in-a-source",
        ),
        pytest.param((link(CASE / "more", "README.md"),), CASE / "more", "error", "portable/link", id="link"),
        pytest.param((pipe(CASE / "pipe"),), CASE / "pipe", "error", "portable/special-file", id="pipe"),
        pytest.param((write(CASE / "nul.txt", ""),), CASE / "nul.txt", "error", "portable/name", id="device"),
        pytest.param((write(CASE / "x.", ""),), CASE / "x.", "error", "portable/name", id="trailing-dot"),
        pytest.param(
            (write(CASE / f"{'d' * 150}/{'f' * 100}.md", ""),), CASE / f"{'d' * 150}/{'f' * 100}.md",
            "warning", "portable/long-path", id="long",
        ),
        pytest.param((enlarge(CASE / "big.bin", 2**20 * 101),), CASE / "big.bin", "error", "portable/size", id="big"),
        pytest.param(
            (*source(COMPOSE, "services:\n  default:\n    image: python:3.12\n"), MUTABLE), MANIFEST,
            "error", "portable/mutable-image", id="mutable-image",
        ),
        pytest.param((hide_answers,), MANIFEST, "error", "portable/left-out", id="hidden"),
        pytest.param(
            (swap("reviewer: Bea Example", "reviewer: nobody yet", PUBLICATION),), PUBLICATION,
            "error", "portable/data-review", id="data-that-nobody-reviewed",
        ),
    ],
)  # fmt: skip
def test_what_would_not_work_elsewhere_is_a_line(
    case: ShapesProject, call: Caller, edits: tuple[Edit, ...], file: Path, severity: str, rule: str
) -> None:
    for edit in edits:
        edit(case)
    done = call(case, "lint", "--portable")
    assert told(done) == {(file.as_posix(), severity, rule)}
    assert done.code == (1 if severity == "error" else 0)


def test_an_endpoint_that_the_project_states_is_a_warning(case: ShapesProject, call: Caller) -> None:
    assert "portable/endpoint" not in call(case, "lint", "--portable").out
    runs = case.manifest.read_text().partition("\nruns:\n")
    _, after = runs[2].split("\nevaluation:", 1)
    entry = "  - {provider: vllm, model: m, parameters: {max_tokens: 100}}\n"
    case.manifest.write_text(f"{runs[0]}\nruns:\n{entry}\nevaluation:{after}")
    write(CONFIG, "endpoints:\n  - {provider: vllm, base_url: 'http://gpu-1:8000/v1'}\n")(case)
    write(PRICES, "models:\n  - {provider: vllm, model: m, free: true}\n")(case)
    done = call(case, "lint", "--portable")
    assert (MANIFEST.as_posix(), "warning", "portable/endpoint") in told(done), done.out


def test_a_portable_case_has_no_finding_and_lint_alone_asks_for_no_publication(
    case: ShapesProject, call: Caller
) -> None:
    source(COMPOSE, f"services:\n  default:\n    image: {PINNED}\n")[0](case)
    source(COMPOSE, "")[1](case)
    assert call(case, "lint", "--portable", "shape-drawing") == NO_ERRORS
    unpublish(case)
    assert call(case, "lint").code == 0


def test_c43_names_that_are_one_name_elsewhere_collide(case: ShapesProject, call: Caller) -> None:
    for name in ("caf\u00e9.md", "CAF\u00c9.md", "Notes/a.md", "notes/b.md"):
        write(CASE / name, "x\n")(case)
    found = [one for one in findings(call(case, "lint", "--portable").out) if one.rule == "portable/collision"]
    assert [(Path(one.file).name, one.severity) for one in found] == [("CAF\u00c9.md", "error"), ("Notes", "error")]
    assert "caf\u00e9.md" in found[0].message


def test_c43_a_name_in_another_form_of_unicode_is_named(case: ShapesProject, call: Caller) -> None:
    write(CASE / "cafe\u0301.md", "x\n")(case)
    found = [one for one in findings(call(case, "lint", "--portable").out)]
    assert [one.rule for one in found] == ["portable/name"]


def test_hidden_and_private_files_are_left_alone(case: ShapesProject, call: Caller) -> None:
    write(CASE / ".cache/nul", "")(case)
    write(EVAL / "runs/a--b/inspect/nul", "/home/ada\n")(case)
    write(EXPERIMENT / "inspect/__pycache__/old.pyc", "")(case)
    link(CASE / ".link", "/etc/hosts")(case)
    assert call(case, "lint", "--portable") == NO_ERRORS


def test_a_wrong_publication_is_an_error_of_lint_too(case: ShapesProject, call: Caller) -> None:
    case.edit(PUBLICATION, "version: 1.0.0", "version: 1.0")
    for arguments in (("lint",), ("lint", "--portable"), ("lint", PUBLICATION.as_posix())):
        (found,) = findings(call(case, *arguments).out)
        assert (found.file, found.line, found.rule) == (PUBLICATION.as_posix(), 3, "schema/type")


def test_a_misnamed_publication_is_named(case: ShapesProject, call: Caller) -> None:
    case.path(PUBLICATION).rename(case.path(CASE / "publication.yaml"))
    done = call(case, "lint")
    assert told(done) == {((CASE / "publication.yaml").as_posix(), "error", "file/misnamed")}
    assert done.out.endswith("rename it to publication.yml\n")


def test_report_only_may_leave_out_what_an_eval_names(case: ShapesProject, call: Caller) -> None:
    hide_answers(case)
    case.edit(PUBLICATION, "tags:", "profile: report-only\ntags:")
    assert call(case, "lint", "--portable") == NO_ERRORS
