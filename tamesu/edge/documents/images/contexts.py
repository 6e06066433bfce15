"""Build contexts: whether each is declared, and which of its files count for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tamesu.edge.documents.images.dockerignore import IgnoreRule, is_ignored, read_ignore_rules
from tamesu.edge.documents.images.survey import UNDECLARED_CONTEXT, BuildContext, Declared, Survey
from tamesu.edge.documents.source_files import files_below, is_folder, is_source_like


def check_context(survey: Survey, context: BuildContext) -> None:
    """Note a context that is neither below a declared folder nor declared file by file."""
    folder = context.folder
    if _inside(survey, folder) and is_folder(folder):
        if any(declared == folder or declared in folder.parents for declared in survey.declared.folders):
            return
        kept = [path for path in files_below(folder) if not ignored(survey, context, path)]
        if all(path in survey.declared.files for path in kept):
            return
    survey.note(
        context.file, context.position, UNDECLARED_CONTEXT,
        f"the build context '{_shown(survey, folder)}' is no declared folder",
        "add the folder to execution.sources, inside the project",
    )  # fmt: skip


def _inside(survey: Survey, folder: Path) -> bool:
    root = survey.reading.root
    return (folder == root or root in folder.parents) and survey.reading.contains(folder)


def _shown(survey: Survey, folder: Path) -> str:
    return survey.reading.relative(folder) if _inside(survey, folder) else str(folder.name or folder)


def ignored(survey: Survey, context: BuildContext, path: Path) -> bool:
    """Return whether a file of a context is left out; Dockerfile and ignore file always count."""
    ignore = _ignore_file(survey.declared, context)
    if ignore is None or path in {ignore, context.dockerfile}:
        return False
    return is_ignored(path.relative_to(context.folder).as_posix(), _rules(survey, ignore))


def _ignore_file(declared: Declared, context: BuildContext) -> Path | None:
    """Return the declared file that says what is left out; one of the Dockerfile's own goes before the folder's."""
    dockerfile = context.dockerfile
    own = None if dockerfile is None else dockerfile.with_name(f"{dockerfile.name}.dockerignore")
    for path in (own, context.folder / ".dockerignore"):
        if path is not None and path in declared.files:
            return path
    return None


def _rules(survey: Survey, ignore: Path) -> Sequence[IgnoreRule]:
    known = survey.ignore_rules.get(ignore)
    if known is None:
        known = survey.ignore_rules[ignore] = read_ignore_rules(survey.reading.text(ignore) or "")
    return known


def ignored_files(survey: Survey, contexts: Sequence[BuildContext]) -> frozenset[Path]:
    """Return the declared files that count for nothing: every build context they lie in leaves them out.

    A file that is declared by its own name always counts, and so does code in a context that holds the task.
    """
    declared = survey.declared
    dropped = set()
    for path in declared.files - declared.named:
        around = [context for context in contexts if context.folder in path.parents]
        beside_task = any(context.folder in declared.task.parents for context in around)
        if not around or (beside_task and is_source_like(path)):
            continue
        if all(ignored(survey, context, path) for context in around):
            dropped.add(path)
    return frozenset(dropped)
