"""The option `--trust-code`: a person's word that code from elsewhere may run."""

from __future__ import annotations

import click

from tamesu.base.errors import UsageError
from tamesu.base.model.trust import TrustedCode
from tamesu.edge.store.paths import Project
from tamesu.stages.trust import give_word

trust_option = click.option(
    "--trust-code", is_flag=True, help="Run code that came from elsewhere on your word; needs the name of an eval."
)


def words(project: Project, name: str | None, trust_code: bool) -> tuple[TrustedCode, ...]:
    """Return the word given with a command. Raises UsageError when it is given for a whole project."""
    if not trust_code:
        return ()
    if name is None:
        raise UsageError("--trust-code: is a word for the code of one eval; name the eval whose code you reviewed")
    return give_word(project)
