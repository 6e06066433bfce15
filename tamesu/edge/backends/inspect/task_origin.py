"""Which installed package a task comes from: asked of Inspect only where the answer can be one."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

from inspect_ai._eval.task import log
from inspect_ai._util.package import get_distribution_for_object

from tamesu.edge.backends.inspect.tasks import MODULE_PREFIX


def search_no_package_for_copied_tasks() -> None:
    """Let Inspect know that a task of a copied file is of no package.

    Inspect reads the file list of every installed package to find that out, for each attempt again, which
    takes longer than a run of recorded answers. A task that the copied file imports is looked up as before.
    """
    log.get_distribution_for_object = _distribution  # type: ignore[attr-defined]


def _distribution(obj: Any) -> Distribution | None:
    if str(getattr(obj, "__module__", "")).startswith(MODULE_PREFIX):
        return None
    return get_distribution_for_object(obj)
