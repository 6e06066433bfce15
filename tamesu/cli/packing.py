"""The command `pack`: a case as an archive for others."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from tamesu.base.model.package import Profile
from tamesu.cli.case_names import case_named
from tamesu.cli.groups import OneOf
from tamesu.cli.session import fail, project_here, say
from tamesu.core.packages.portable import ALLOWABLE, finding_id
from tamesu.core.report.figures import count
from tamesu.edge.store.paths import Project
from tamesu.stages.pack import NotPacked, Packed, pack_case
from tamesu.stages.plan import digest_cache


@click.command(short_help="Write a case as an archive for others.")
@click.argument("case")
@click.option(
    "--profile", type=OneOf([one.value for one in Profile]), help="How much of the case, instead of publication.yml."
)
@click.option("--output", type=click.Path(path_type=Path), help="A file, or a folder; build/packages when left out.")
@click.option("--allow", multiple=True, metavar="ID", help="Let a finding pass, by the ID in its line.")
def pack(case: str, profile: str | None, output: Path | None, allow: tuple[str, ...]) -> None:
    """Write build/packages/PUBLISHER-NAME-VERSION.tamesu.tar.gz from a case with a publication.yml.

    What would not work elsewhere and what looks like a secret forbids it, a line each; a version that was packed
    before is never overwritten. Profiles are explained in docs/packages.md.
    """
    project = project_here()
    cache = digest_cache(project)
    made = pack_case(
        project, case_named(project, case), cache, None if profile is None else Profile(profile), output, allow
    )
    cache.save()
    if isinstance(made, NotPacked):
        _refuse(made)
    _tell(project, made)


def _refuse(made: NotPacked) -> NoReturn:
    for finding in made.findings:
        say(f"{finding} [{finding_id(finding)}]" if finding.rule in ALLOWABLE else str(finding))
    for leak in made.leaks:
        say(str(leak))
    number = len(made.findings) + len(made.leaks)
    what, it = ("1 finding forbids", "it") if number == 1 else (f"{number} findings forbid", "them")
    fail(f"{what} the package; correct {it}, or let one that is none pass with --allow ID", 1)


def _tell(project: Project, made: Packed) -> None:
    for finding in made.warnings:
        say(str(finding))
    place = made.archive
    shown = project.relative(place) if place.is_relative_to(project.root) else place
    record = made.record
    say(f"{'already there, with the same bytes' if made.already else 'packed'}: {shown}")
    say(f"{record.label}, {record.profile}: {count(record.files, 'file')}, {record.bytes:,} bytes")
    say(f"content {record.content_digest}")
