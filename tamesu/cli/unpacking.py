"""The commands `verify`, `unpack` and `fork`: packages that came from elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.base.errors import shown
from tamesu.cli.session import emit_json, say
from tamesu.cli.tidy_end import ended_tidily
from tamesu.edge.store.paths import Project, find_project
from tamesu.stages.unpack import Unpacked, Verified, fork_package, unpack_package, verify_package

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
    found = verify_package(package)
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
    say(f"  files: {record.files} ({record.bytes} bytes)")
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


@click.command(short_help="Make a package a case of this project.")
@_package
@_project
@_as
def unpack(package: Path, folder: Path, case: str | None) -> None:
    """Check a package and extract it as a new case, which is marked as coming from elsewhere.

    Nothing is overwritten. Nothing of the case is executed until its code was reviewed.
    """
    project = find_project(folder)
    with ended_tidily():
        done = unpack_package(project, package, case)
    _tell(project, done, "unpacked from")


@click.command(short_help="Make a package a case of this project, to be published as another one.")
@_package
@click.option("--publisher", required=True, help="Who publishes the fork: an ID such as `acme`.")
@click.option("--name", help="What the fork is published as; as the package otherwise.")
@_project
@_as
def fork(package: Path, publisher: str, name: str | None, folder: Path, case: str | None) -> None:
    """Extract a package as `unpack` does, with a publication.yml of its own that says what it was forked from."""
    project = find_project(folder)
    with ended_tidily():
        done = fork_package(project, package, publisher, name, case)
    _tell(project, done, "forked from")


def _tell(project: Project, done: Unpacked, how: str) -> None:
    if done.leftovers:
        say(f"cases: removed what {done.leftovers} interrupted extraction(s) had left")
    place = project.relative(project.case(done.case))
    marker = project.relative(project.untrusted_marker(done.case))
    say(f"{place}: {how} {done.record.label}, {done.record.files} files")
    say(f"  its code was not reviewed, so nothing of it is run; after a review delete {marker} or give --trust-code")
