"""Places at an endpoint: how many calls may be in flight there, over all jobs and evals of a project.

Each place is a lock that dies with its process, so a cap holds whatever is killed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tamesu.base.canonical import digest
from tamesu.base.errors import RunHeld
from tamesu.base.model.plan import Holder
from tamesu.edge.store.locks import held, holder
from tamesu.edge.store.paths import Project

_POLL_SECONDS = 0.05


def endpoint_holder(project: Project, endpoint: str) -> Holder | None:
    """Return a live process that works on an endpoint, None when none of the project does."""
    name = f"endpoint-{digest(endpoint)[:12]}"
    files = (project.lock(name), *sorted(project.lock(name).parent.glob(f"{name}-[0-9]*.lock")))
    return next((who for file in files if (who := holder(file)) is not None), None)


@contextmanager
def places_held(
    project: Project, endpoint: str, wanted: int, cap: int | None, patience_seconds: float
) -> Iterator[None]:
    """Hold so many of an endpoint's `cap` places; without a cap the whole endpoint. Raises RunHeld when patience ends.

    Whoever waits for places holds the gate, so that two who want many do not take them from each other.
    """
    name = f"endpoint-{digest(endpoint)[:12]}"
    if cap is None:
        with held(project.lock(name), f"endpoint {endpoint}", patience_seconds):
            yield
        return
    with ExitStack() as taken:
        with held(project.lock(f"{name}-gate"), f"endpoint {endpoint}", patience_seconds):
            deadline = time.monotonic() + patience_seconds
            missing = min(wanted, cap)
            while missing:
                missing -= _take(project, name, cap, missing, taken)
                if missing and time.monotonic() >= deadline:
                    raise RunHeld(f"endpoint {endpoint}: its {cap} places are taken; wait, or raise max_connections")
                if missing:
                    time.sleep(_POLL_SECONDS)
        yield


def _take(project: Project, name: str, cap: int, missing: int, taken: ExitStack) -> int:
    """Take up to `missing` free places and return how many it were."""
    before = missing
    for number in range(cap):
        if not missing:
            break
        try:
            taken.enter_context(held(project.lock(f"{name}-{number}"), name, 0.0))
        except RunHeld:
            continue
        missing -= 1
    return before - missing
