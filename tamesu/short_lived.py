"""Settings of processes that end soon: what they imported stays until they end."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Between two looks at the youngest objects. Python's own 700 makes up a tenth of a large import.
_OBJECTS_BETWEEN_LOOKS = 50_000


def collect_seldom() -> None:
    """Let the garbage collector look seldom, and not at all when the process ends.

    With Inspect loaded the last look takes a quarter of a second; what ends with the process needs none.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    atexit.register(gc.freeze)


@contextmanager
def loading() -> Iterator[None]:
    """Import within without looking for garbage; what lies there afterwards is not gone through again.

    Inspect and a provider's client make half a million objects that nothing frees: looking at them, however seldom,
    took a tenth of the time until the first request.
    """
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if looking:
            gc.enable()
