"""What a task makes of an output: its artifacts, the checks that Tamesu makes itself, where it can be executed."""

from __future__ import annotations

from collections.abc import Mapping

from tamesu.base.model.manifest import ArtifactPolicy, Eval, MechanicalCheck
from tamesu.core.checks.names import PICTURE_CHECKS, TEXT_CHECKS

BUNDLE, TEXT, IMAGES = "artifact_bundle", "structured_text", "image_generation"
TASKS: Mapping[str, frozenset[str]] = {
    BUNDLE: frozenset({"inspect"}),
    TEXT: frozenset({"native", "inspect"}),
    IMAGES: frozenset({"native", "inspect"}),
}
OUTPUT = "output"  # the role of what the model returned
PARSED = "parsed"  # the role of a structured text as the JSON value that it is
FURTHER = "further"  # the role of every picture of a reply after the first
WORDS = "words"  # the role of the text that came with a picture, or instead of one
_BUILT_IN: Mapping[str, tuple[str, ...]] = {TEXT: TEXT_CHECKS, IMAGES: PICTURE_CHECKS}


def built_in_checks(task: str) -> tuple[str, ...]:
    """Return the names of the checks that Tamesu makes of every output of a task; a bundle's scorers are its own."""
    return _BUILT_IN.get(task, ())


def runs_built_in_task(task: str, backend: str, task_file: str | None) -> bool:
    """Return whether Inspect runs Tamesu's own task, one call per item, since nobody names another one."""
    return backend == "inspect" and task_file is None and task in _BUILT_IN


def others_stage_beside_reply(task: str, task_file: str | None) -> bool:
    """Return whether scorers of a task file stage in the same place as Tamesu keeps a reply that it gives a meaning."""
    return task_file is not None and task in _BUILT_IN


def task_artifacts(evaluation: Eval) -> ArtifactPolicy:
    """Return the roles of an eval's outputs: declared for a bundle, else one output, which people look at."""
    declared = evaluation.execution.artifacts
    match evaluation.task:
        case "structured_text":
            return ArtifactPolicy((OUTPUT,), (PARSED,), (OUTPUT,), declared.max_bytes)
        case "image_generation":
            return ArtifactPolicy((OUTPUT,), (FURTHER, WORDS), OUTPUT, declared.max_bytes)
    return declared


def required_scorers(task: str, checks: tuple[MechanicalCheck, ...]) -> tuple[str, ...]:
    """Return the scorers that an execution must bring; built-in checks are made of what is stored, whenever needed."""
    known = built_in_checks(task)
    return tuple(check.scorer for check in checks if check.scorer not in known)
