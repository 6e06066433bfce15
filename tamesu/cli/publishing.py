"""The commands `publish` and `site`: packages in a registry of files, and the pages that show them."""

from __future__ import annotations

from pathlib import Path

import click

from tamesu.cli.groups import NamedCommands
from tamesu.cli.session import fail, say
from tamesu.cli.tidy_end import ended_tidily
from tamesu.core.report.figures import count
from tamesu.stages.publish import Published, publish_package
from tamesu.stages.site import build_site, check_site

_registry = click.option(
    "--registry", required=True, type=click.Path(path_type=Path), help="The folder that holds the registry."
)


@click.command(short_help="Add a package to a registry of files.")
@click.argument("package", type=click.Path(path_type=Path))
@_registry
@click.option("--owner", "owners", multiple=True, metavar="NAME", help="Who owns a publisher that is new here.")
@click.option("--allow", multiple=True, metavar="ID", help="Let a finding pass, by the ID in its line.")
def publish(package: Path, registry: Path, owners: tuple[str, ...], allow: tuple[str, ...]) -> None:
    """Verify a package and add it to a registry as PUBLISHER/NAME/VERSION; a version is never written over.

    It is looked through for secrets once more. A publisher that the registry does not know yet gets the
    owners given, else the authors of the package unless it is a fork, in publishers/PUBLISHER.yml.
    """
    with ended_tidily():
        made = publish_package(package, registry, allow, owners)
    if not isinstance(made, Published):
        for leak in made:
            say(str(leak))
        what, it = ("1 finding forbids", "it") if len(made) == 1 else (f"{len(made)} findings forbid", "them")
        fail(f"{what} it; correct {it}, or let one that is none pass with --allow ID", 1)
    if made.leftovers:
        say(f"{registry}: removed what {count(made.leftovers, 'interrupted publication')} had left")
    say(f"{'already there, the same content' if made.already else 'published'}: {made.folder}")
    say(f"{made.record.label}, owned by {', '.join(made.owners)}")


@click.group(cls=NamedCommands, short_help="Show a registry as pages without a server.")
def site() -> None:
    """Build and check the pages of a registry: plain files that load nothing from elsewhere."""


@site.command(short_help="Write the pages of a registry.")
@_registry
@click.option("--output", required=True, type=click.Path(path_type=Path), help="A folder that is new or a site.")
def build(registry: Path, output: Path) -> None:
    """Write an index, a page per publisher and package, and the page of each case, after checking every payload."""
    made = build_site(registry, output)
    say(f"{count(made.pages, 'page')} of {count(made.packages, 'package version')}: {output}")


@site.command(short_help="Check the pages of a site.")
@click.argument("folder", type=click.Path(path_type=Path))
def check(folder: Path) -> None:
    """Check that a site is whole, that its links lead somewhere, and that nothing in it runs or loads."""
    found = check_site(folder)
    for line in found.problems:
        say(line)
    if found.problems:
        fail(f"{folder}: {count(len(found.problems), 'problem')}; build the site again", 1)
    say(f"{count(found.pages, 'page')}: whole, links resolve, nothing runs or loads")
