"""Portable: what of a case would not work elsewhere, and which files a package of it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamesu.base.model.finding import Finding
from tamesu.base.model.package import PUBLICATION, Profile, Publication
from tamesu.core.packages.fork import is_reviewed
from tamesu.core.packages.portable import (
    Contents,
    endpoint_findings,
    file_findings,
    image_findings,
    named_findings,
    shipped,
    text_findings,
    unpublished,
    unreviewed,
)
from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.documents.publication_reader import read_publication
from tamesu.edge.documents.reading import Reading, Shelf
from tamesu.edge.documents.regular_files import read_regular_file
from tamesu.edge.packages.case_files import find_case_files
from tamesu.edge.store.paths import Project
from tamesu.stages.lint import Linted, lint_path

_LARGEST_TEXT = 8 * 2**20  # bytes; what is larger holds data


@dataclass(frozen=True, slots=True)
class Portable:
    """A case as it would be packed: all findings, lint's own included; what it says of its publication; its files.

    `files` are relative to the case, in the order of their names; `publication` is None when it does not read.
    """

    linted: Linted
    publication: Publication | None
    profile: Profile
    files: tuple[str, ...]


def check_portable(project: Project, case: str, profile: Profile | None = None) -> Portable:
    """Return what of a case would not work elsewhere; the profile is that of publication.yml unless given."""
    folder = project.case(case)
    linted = lint_path(project, folder)
    reading = Reading(project.root)
    publication = read_publication(reading, folder / PUBLICATION) if (folder / PUBLICATION).exists() else None
    profile = profile or (publication.profile if publication is not None else Profile.RESCORABLE)
    contents = contents_of(project, case)
    findings = {*linted.findings, *file_findings(contents, profile), *_text_findings(project, contents, profile)}
    findings.update(_eval_findings(project, contents, profile))
    if not (folder / PUBLICATION).exists():
        findings.add(unpublished(contents))
    if publication is not None and not is_reviewed(publication):
        findings.add(unreviewed(contents))
    return Portable(Linted(tuple(sorted(findings)), linted.evals), publication, profile, shipped(contents, profile))


def contents_of(project: Project, case: str) -> Contents:
    """Return what lies in the folder of a case."""
    found = find_case_files(project.case(case))
    sizes = {file.path: file.size for file in found.files}
    return Contents(case, sizes, found.links, found.special, found.closed)


def _text_findings(project: Project, contents: Contents, profile: Profile) -> Iterator[Finding]:
    folder, root = project.case(contents.case), str(project.root)
    for path in shipped(contents, profile):
        if contents.sizes[path] > _LARGEST_TEXT:
            continue
        try:
            text = read_regular_file(folder / path, _LARGEST_TEXT).decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        except OSError as error:
            message, fix = f"cannot be read: {error.strerror}", "correct its permissions"
            yield Finding(contents.label(path), 1, 1, "error", "file/unreadable", message, fix)
            continue
        yield from text_findings(contents, path, text, root)


def _eval_findings(project: Project, contents: Contents, profile: Profile) -> Iterator[Finding]:
    shelf = Shelf()
    for ref in (ref for ref in project.refs() if ref.case == contents.case):
        read = read_eval(project, ref, shelf)
        manifest = project.relative(project.eval(ref).manifest)
        yield from named_findings(contents, manifest, read.files, profile)
        if read.evaluation is not None:
            yield from image_findings(manifest, read.evaluation.execution)
            asked = {model.provider for model in read.evaluation.asked_models}
            stated = [provider for provider in asked if read.setting.endpoint(provider).base_url is not None]
            yield from endpoint_findings(manifest, stated)
