"""The command that writes image locks."""

from __future__ import annotations

import click

from tamesu.cli.session import chosen, project_here, say
from tamesu.stages.lock import Entries, disagreeing_tags, lock_evals, unlocked_errors


@click.command(short_help="Write the digests of unpinned images into lock files.")
@click.argument("name", required=False)
def lock(name: str | None) -> None:
    """Resolve every unpinned image with Docker and write a lock file beside the file that names it."""
    project = project_here()
    refs = chosen(project, name)
    written = lock_evals(project, refs, Entries.DROP if name is None else Entries.KEEP)
    for one in written:
        say(f"{one.file}: {one.images} image(s) locked{'' if one.changed else ', nothing changed'}")
    if not written:
        say(f"{len(refs)} eval(s): no unpinned image is named, nothing to lock")
    for note in disagreeing_tags(project, refs):
        say(f"note: {note}")
    errors = unlocked_errors(project, refs)
    for finding in errors:
        say(str(finding))
    if errors:
        raise SystemExit(1)
