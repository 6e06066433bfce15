"""Settings of processes that end soon: what they imported stays until they end."""

from __future__ import annotations

import atexit
import gc

# Between two looks at the youngest objects. Python's own 700 makes up a tenth of a large import.
_OBJECTS_BETWEEN_LOOKS = 50_000


def collect_seldom() -> None:
    """Let the garbage collector look seldom, and not at all when the process ends.

    With Inspect loaded the last look takes a quarter of a second; what ends with the process needs none.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    atexit.register(gc.freeze)
