"""The command `pack`: a case as an archive for others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import click

from tamesu.base.model.package import Profile
from tamesu.cli.case_names import case_named
from tamesu.cli.groups import OneOf
from tamesu.cli.session import fail, project_here, say
from tamesu.cli.tidy_end import ended_tidily
from tamesu.core.packages.portable import ALLOWABLE, finding_id
from tamesu.core.report.figures import count
from tamesu.edge.store.paths import Project
from tamesu.stages.pack import Packed, PackWishes, pack_case, try_pack
from tamesu.stages.pack_findings import NotPacked
from tamesu.stages.pack_place import Output
from tamesu.stages.plan import digest_cache


@click.command(short_help="Write a case as an archive for others.")
@click.argument("case")
@click.option(
    "--profile", type=OneOf([one.value for one in Profile]), help="How much of the case, instead of publication.yml."
)
@click.option("--output", type=click.Path(), help="A file or a folder (new ones with / behind), not build/packages.")
@click.option("--allow", multiple=True, metavar="ID", help="Let a finding pass, by the ID in its line.")
@click.option("--dry-run", is_flag=True, help="Do everything and write nothing.")
def pack(case: str, profile: str | None, output: str | None, allow: tuple[str, ...], dry_run: bool) -> None:
    """Write build/packages/PUBLISHER-NAME-VERSION.tamesu.tar.gz from a case with a publication.yml.

    What would not work elsewhere and what looks like a secret forbids it, a line each; a version that was packed
    before is never overwritten. Profiles are explained in docs/packages.md.
    """
    project = project_here()
    cache = digest_cache(project)
    wishes = PackWishes(None if profile is None else Profile(profile), _output(output), frozenset(allow))
    name = case_named(project, case)
    if dry_run:
        made, how = try_pack(project, name, cache, wishes), ("would be packed", "content")
    else:
        with ended_tidily():
            made, how = pack_case(project, name, cache, wishes), ("packed", "bytes")
        cache.save()
    if isinstance(made, NotPacked):
        _refuse(made)
    _tell(project, made, how)


def _output(said: str | None) -> Output | None:
    return None if said is None else Output(Path(said), said.endswith(os.sep))


def _refuse(made: NotPacked) -> NoReturn:
    for finding in made.findings:
        say(f"{finding} [{finding_id(finding)}]" if finding.rule in ALLOWABLE else str(finding))
    for leak in made.leaks:
        say(str(leak))
    for unknown in made.unknown:
        say(f"--allow {unknown}: no finding of this package has that ID")
    number = len(made.findings) + len(made.leaks)
    what, it = ("1 finding forbids", "it") if number == 1 else (f"{number} findings forbid", "them")
    may_pass = made.leaks or any(finding.rule in ALLOWABLE for finding in made.findings)
    fail(f"{what} the package; correct {it}{', or let one that is none pass with --allow ID' if may_pass else ''}", 1)


def _tell(project: Project, made: Packed, how: tuple[str, str]) -> None:
    done, same = how
    for finding in made.warnings:
        say(str(finding))
    place = made.archive
    shown = project.relative(place) if place.is_relative_to(project.root) else place
    record = made.record
    say(f"{f'already there, with the same {same}' if made.already else done}: {shown}")
    say(f"{record.label}, {record.profile}: {count(record.files, 'file')}, {record.bytes:,} bytes")
    say(f"content {record.content_digest}")
    for line in made.notes:
        say(f"  {line}")
