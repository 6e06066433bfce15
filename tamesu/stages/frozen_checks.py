"""Checks of the frozen copy of a run: it is what was planned, it imports, its containers render and are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tamesu.base.errors import EvidenceError, Refused
from tamesu.base.model.endpoint import Check, ImportFinding
from tamesu.base.model.plan import Blocker, FrozenDataset, RunSpec
from tamesu.core.preflight.executed import compose_check, compose_files, data_check, images_check, import_check
from tamesu.core.preflight.lines import not_checked
from tamesu.edge.docker import docker
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.stages.freeze import freeze_run
from tamesu.stages.images import pinned_images, verified_images


def frozen_checks(
    project: Project,
    spec: RunSpec,
    dataset: FrozenDataset,
    blockers: tuple[Blocker, ...],
    import_task: Callable[[RunSpec], ImportFinding | None],
) -> tuple[Check, ...]:
    """Freeze a run and return the lines about its copy.

    What may not run is not imported either, since importing a task runs code.
    """
    data = _frozen(project, spec, dataset)
    if data.state == "fail":
        return _unopened(data, data)
    return (
        import_check(import_task(spec)),
        compose_check(rendered(project.eval(spec.ref).run(spec.run_id), spec)),
        _images(spec, project.eval(spec.ref).run(spec.run_id), blockers),
        data,
    )


def unopened_checks(project: Project, spec: RunSpec, dataset: FrozenDataset, because: Check) -> tuple[Check, ...]:
    """Freeze a run that came from elsewhere and return the lines about its copy.

    Rendering its compose files would fetch what they include, and its images are pulled by the names that it gives.
    """
    return _unopened(_frozen(project, spec, dataset), because)


def _unopened(data: Check, because: Check) -> tuple[Check, ...]:
    return (*(not_checked(name, because) for name in ("import", "compose", "images")), data)


def _frozen(project: Project, spec: RunSpec, dataset: FrozenDataset) -> Check:
    problem = None
    try:
        freeze_run(project, spec, dataset)
    except (Refused, EvidenceError) as error:
        problem = str(error)
    return data_check(spec, dataset, problem)


def rendered(run: RunPaths, spec: RunSpec) -> Mapping[str, str | None]:
    """Return why each compose file of the copy does not render, None where it does."""
    files = compose_files([source.target for source in spec.executed])
    return {name: _render_problem(run, name) for name in files}


def _render_problem(run: RunPaths, name: str) -> str | None:
    said = docker("compose", "--file", str(run.sources / name), "config", "--quiet")
    return None if said.code == 0 else said.last_line


def _images(spec: RunSpec, run: RunPaths, blockers: tuple[Blocker, ...]) -> Check:
    blocker = next((blocker for blocker in blockers if blocker.kind == "image"), None)
    if blocker is not None:
        return images_check(spec, {}, blocker.message)
    try:
        found = verified_images(spec, run.sources)
    except Refused as error:
        return images_check(spec, {}, str(error))
    return images_check(spec, {**pinned_images(spec), **found}, None)
