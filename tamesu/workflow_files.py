"""Where the packaged workflow lies: in an installed package, or beside it in a checkout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def without_modules_of_the_project() -> Iterator[None]:
    """Import without the working folder, which Snakemake puts first: a msgspec.py there is no module of ours."""
    before, here = list(sys.path), Path.cwd()
    sys.path[:] = [place for place in before if Path(place).resolve() != here]
    try:
        yield
    finally:
        sys.path[:] = before


def workflow_folder() -> Path:
    """Return the folder that holds Snakefile, rules, schemas and profiles."""
    package = Path(__file__).resolve().parent
    packaged = package / "workflow"
    return packaged if (packaged / "Snakefile").exists() else package.parent


def snakefile() -> Path:
    """Return the packaged Snakefile, for the `include:` of a project's stub."""
    return workflow_folder() / "Snakefile"


def profile() -> Path:
    """Return the packaged Snakemake profile."""
    return workflow_folder() / "profiles" / "default"


def scaffold_folder() -> Path:
    """Return the folder of the templates that `tamesu new` fills in."""
    return Path(__file__).resolve().parent / "scaffold"
