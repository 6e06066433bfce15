"""The commands `verify`, `unpack` and `fork`: packages that came from elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.base.errors import NoProject, UsageError, shown
from tamesu.cli.session import emit_json, say
from tamesu.cli.tidy_end import ended_tidily
from tamesu.core.report.figures import count
from tamesu.edge.store.paths import Project, find_project
from tamesu.stages.foreign_versions import OtherInspect
from tamesu.stages.unpack import Unpacked, Verified, fork_package, unpack_package, verify_package
from tamesu.stages.version_folder import archive_of

_package = click.argument("package", metavar="PACKAGE", type=click.Path(path_type=Path))
_project = click.option(
    "--project", "folder", type=click.Path(path_type=Path), default=Path(), help="The project; the one here otherwise."
)
_as = click.option("--as", "case", metavar="CASE", help="What to call the case here; as the package otherwise.")


@click.command(short_help="Check a package without extracting it.")
@_package
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def verify(package: Path, as_json: bool) -> None:
    """Check that a package is complete, unaltered and safe to unpack; nothing is written.

    Sound says nothing about who made it, whether its figures are right, and what its code does.
    """
    with ended_tidily(), archive_of(package) as archive:
        found = verify_package(archive)
    if as_json:
        emit_json(_view(found))
        return
    record = found.record
    say(f"{record.label}: sound")
    say(f"  publisher: {record.publisher}")
    say(f"  name: {record.name}")
    say(f"  version: {record.version}")
    say(f"  profile: {record.profile.value}")
    say(f"  licence: {shown(record.licence)}")
    say(f"  files: {record.files} ({count(record.bytes, 'byte')})")
    if found.extra:
        say(f"  beside the payload: {found.extra} of presentation")
    if record.forked_from is not None:
        origin = record.forked_from
        say(f"  forked from: {origin.publisher}/{origin.name} {origin.version} (content {origin.content_digest[:12]})")
    say(f"  content digest: {record.content_digest}")


def _view(found: Verified) -> dict[str, object]:
    record = found.record
    origin = record.forked_from
    return {
        "publisher": record.publisher,
        "name": record.name,
        "version": record.version,
        "profile": record.profile.value,
        "licence": record.licence,
        "files": record.files,
        "bytes": record.bytes,
        "content_digest": record.content_digest,
        "archive_sha256": found.archive_sha256,
        "forked_from": origin,
    }


def _project_of(folder: Path) -> Project:
    """Return the project of a folder; the folder itself, which becomes one, where there is none."""
    try:
        return find_project(folder)
    except NoProject:
        if not folder.is_dir():
            raise UsageError(f"{folder}: is no folder; make it, or name a project") from None
        return Project(folder.resolve())


@click.command(short_help="Make a package a case of this project.")
@_package
@_project
@_as
def unpack(package: Path, folder: Path, case: str | None) -> None:
    """Check a package and extract it as a new case, which is marked as coming from elsewhere.

    Where no folder here or above holds cases/, this folder becomes the project. PACKAGE is an archive, or the folder of
    a version in a registry. Nothing is overwritten. Nothing of the case is executed until its code was reviewed.
    """
    project = _project_of(folder)
    with ended_tidily(), archive_of(package) as archive:
        done = unpack_package(project, archive, case)
    _tell(project, done, "unpacked from")


@click.command(short_help="Make a package a case of this project, to be published as another one.")
@_package
@click.option("--publisher", required=True, help="Who publishes the fork: an ID such as `acme`.")
@click.option("--name", help="What the fork is published as; as the package otherwise.")
@_project
@_as
def fork(package: Path, publisher: str, name: str | None, folder: Path, case: str | None) -> None:
    """Extract a package as `unpack` does, with a publication.yml of its own that says what it was forked from."""
    project = _project_of(folder)
    with ended_tidily(), archive_of(package) as archive:
        done = fork_package(project, archive, publisher, name, case)
    _tell(project, done, "forked from")
    publication = project.relative(project.publication(done.case))
    say(f"  before it is packed edit {publication}: who looked at the data (data_review), and authors")


def _tell(project: Project, done: Unpacked, how: str) -> None:
    if done.made is not None:
        say(f"no project here or above: made one in {project.root} ({', '.join(done.made.files)})")
    if done.leftovers:
        say(f"cases: removed what {count(done.leftovers, 'interrupted extraction')} had left")
    place = project.relative(project.case(done.case))
    say(f"{place}: {how} {done.record.label}, {count(done.record.files, 'file')}")
    if done.reports_alone:
        say("  it holds reports alone, so nothing of it is planned or run; `tamesu show` and `tamesu present` show it")
    else:
        marker = project.relative(project.untrusted_marker(done.case))
        say(
            f"  its code was not reviewed, so nothing of it is run; after a review delete {marker} or give --trust-code"
        )
    if done.other is not None:
        say(f"  {_version_line(done.other)}")


def _version_line(other: OtherInspect) -> str:
    executed = shown(other.executed)
    told = f"{other.runs} of its runs were executed with Inspect {executed}, this project has {other.pinned}"
    return f"{told}: they are stale here; to count them write `inspect_version: {executed}` into config/config.yaml"
