"""New cases, experiments and evals: small working examples to edit. Nothing that exists is ever overwritten."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from tamesu.base.errors import Refused, UnknownName, UsageError
from tamesu.base.model.manifest import EvalRef, ExperimentRef, Item
from tamesu.core.naming import check_id
from tamesu.core.scaffold import (
    EVAL,
    EXPERIMENT,
    PROJECT,
    REVIEW,
    SANDBOX,
    ArmFile,
    NewEval,
    Surroundings,
    Target,
    Wishes,
    case_targets,
    new_eval,
    placeholder_recordings,
    sandboxed,
)
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.settings_reader import installed_inspect
from tamesu.edge.documents.task_outline import read_task_outline
from tamesu.edge.documents.templates import render
from tamesu.edge.store.files import write_exclusive
from tamesu.edge.store.paths import Project
from tamesu.workflow_files import profile


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, relative to the project, and files that were there already and stay as they are."""

    files: tuple[str, ...]
    kept: tuple[str, ...] = ()


def write_project(root: Path) -> Written:
    """Write what makes a folder a project, `cases/` apart. A .gitignore that is there stays as it is.

    Raises Refused, before anything is written, when another of the files is there with other content.
    """
    contents = {t.path: render(t.template, inspect_version=installed_inspect()) for t in PROJECT}
    contents["profiles/default/config.yaml"] = (profile() / "config.yaml").read_bytes()
    kept = tuple(path for path in contents if (root / path).is_file() or (root / path).is_symlink())
    for path in kept:
        if path != ".gitignore" and (root / path).read_bytes() != contents[path]:
            raise Refused(f"{path}: is here already and not Tamesu's; make the project in another folder or move it")
    new = tuple(path for path in contents if path not in kept)
    for path in new:
        _write(root / path, contents[path])
    return Written(new, kept)


def write_case(project: Project, name: str) -> Written:
    """Write a case with its first dataset. Raises UsageError for a bad name, Refused when it exists."""
    check_id("case", name)
    return _fill(project, project.case(name), _rendered(case_targets(name), {"case": name}))


def write_experiment(project: Project, ref: ExperimentRef, review: bool) -> Written:
    """Write an experiment of two arms. Raises UsageError for a bad name, Refused when it exists."""
    check_id("experiment", ref.experiment)
    targets = (*EXPERIMENT, *(REVIEW if review else ()))
    return _fill(project, project.experiment(ref), _rendered(targets, {"experiment": ref.experiment, "review": review}))


def write_eval(project: Project, ref: EvalRef, dataset: str | None, wishes: Wishes) -> Written:
    """Write a draft eval of an experiment as it stands, with placeholder answers when it is replayed.

    With a sandbox it gets a task, a prompt and a compose file of its own. Raises UsageError for a bad name or wish,
    Refused when it exists.
    """
    check_id("eval", ref.eval)
    if wishes.sandbox:
        around, contents = sandboxed(*_dataset(project, ref.case, dataset)), _rendered(SANDBOX, {})
    else:
        around, contents = _surroundings(project, ExperimentRef(ref.case, ref.experiment), dataset), {}
    filled = new_eval(ref, around, wishes)
    if filled.recordings:
        contents["recordings/answers.jsonl"] = placeholder_recordings(around.items, sandbox=wishes.sandbox)
    contents |= _rendered(EVAL, {"tail": shortest_name(project, ref), **_values(filled)})
    return _fill(project, project.eval(ref).folder, contents)


def _values(filled: NewEval) -> dict[str, object]:
    return {field.name: getattr(filled, field.name) for field in fields(filled)}


def shortest_name(project: Project, ref: EvalRef) -> str:
    """Return the shortest tail that names an eval, one that is yet to be written included."""
    others = [str(other) for other in project.refs() if other != ref]
    tails = (ref.eval, f"{ref.experiment}/{ref.eval}")
    return next((tail for tail in tails if not any(f"/{other}".endswith(f"/{tail}") for other in others)), str(ref))


def _surroundings(project: Project, ref: ExperimentRef, dataset: str | None) -> Surroundings:
    folder = project.experiment(ref)
    arms = tuple(_arms(folder / "prompts"))
    if not arms:
        raise UsageError(f"{project.relative(folder)}/prompts: holds no user prompt; write one .md.j2 file per arm")
    task = folder / "inspect" / "task.py"
    name, items = _dataset(project, ref.case, dataset)
    return Surroundings(
        dataset=name,
        items=items,
        arms=arms,
        system=(folder / "prompts" / "system.md").is_file(),
        outline=read_task_outline(task, project.relative(task)),
        rubrics=tuple(sorted(path.name for path in (folder / "rubrics").glob("*.yml"))),
    )


def _arms(prompts: Path) -> Iterable[ArmFile]:
    """Every prompt beside the system prompt is an arm."""
    for path in sorted(prompts.glob("*.md*")):
        arm, _, suffix = path.name.partition(".")
        if suffix in {"md", "md.j2"} and arm != "system":
            check_id("arm", arm)
            yield ArmFile(arm, path.name)


def _dataset(project: Project, case: str, wanted: str | None) -> tuple[str, tuple[Item, ...]]:
    manifests = sorted(project.case(case).glob("datasets/*/dataset.yml"))
    known = [path.parent.name for path in manifests]
    if wanted is None and len(known) != 1:
        hint = f"holds {', '.join(known)}; say which with --dataset" if known else "holds no dataset; write one first"
        raise UsageError(f"cases/{case}/datasets: {hint}")
    name = known[0] if wanted is None else wanted
    if name not in known:
        raise UnknownName("dataset", name, known)
    reading = Reading(project.root)
    read = read_dataset(reading, project.case(case) / "datasets" / name / "dataset.yml")
    if read is None or reading.failed:
        raise UsageError(f"{min(reading.findings)}; correct it first")
    return name, read.items


def _rendered(targets: Sequence[Target], values: Mapping[str, object]) -> dict[str, bytes]:
    return {target.path: render(target.template, **values) for target in targets}


def _fill(project: Project, folder: Path, contents: Mapping[str, bytes]) -> Written:
    """Make a folder that must not exist and write its files, or leave nothing behind."""
    label = project.relative(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.parent.resolve().is_relative_to(project.root):
        raise Refused(f"{label}: leads out of the project; keep every file below the project's folder")
    try:
        folder.mkdir()
    except FileExistsError:
        raise Refused(f"{label}: exists already; nothing was written, choose another name") from None
    try:
        for path, content in contents.items():
            _write(folder / path, content)
    except BaseException:
        # the folder was made here and now, so nothing else can lie in it
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Written(tuple(f"{label}/{path}" for path in contents))


def _write(path: Path, content: bytes) -> None:
    try:
        write_exclusive(path, content)
    except FileExistsError:
        raise Refused(f"{path}: exists already; nothing is overwritten") from None
