"""The command `present`: the page of a case."""

from __future__ import annotations

import click

from tamesu.base.errors import UsageError
from tamesu.cli.session import project_here, say
from tamesu.edge.store.paths import Project
from tamesu.stages.plan import digest_cache
from tamesu.stages.present import present_case


@click.command(short_help="Write the page of a case.")
@click.argument("case", required=False)
def present(case: str | None) -> None:
    """Write build/CASE/index.html: the question, where it stands, and all evidence, in one file that loads nothing.

    CASE, left out, is every case. An analysis.md that is not about the evidence of now is named, with the line that
    binds it.
    """
    project = project_here()
    cache = digest_cache(project)
    for name in cases_meant(project, case):
        made = present_case(project, name, cache)
        say(f"page: {project.relative(made.page)}")
        for analysis, line in made.unbound:
            say(f"{analysis}: is not about this evidence; when you have checked it, its first line is {line}")
    cache.save()


def cases_meant(project: Project, case: str | None) -> tuple[str, ...]:
    """Return the named case, or all of the project. Raises UsageError when there is none."""
    cases = project.cases() if case is None else (project.find_case(case),)
    if not cases:
        raise UsageError(f"{project.root}: holds no case yet; begin with `tamesu new case NAME`")
    return cases
