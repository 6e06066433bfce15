"""Reading files that people put in place: never a pipe or a device, and no more than is asked for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular_file(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a regular file, of at most `most` bytes.

    Raises OSError, also for what is no regular file and for one that is larger.
    """
    # a pipe without a writer would block when it is opened
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        content = stream.read() if most is None else stream.read(most + 1)
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes")
    return content
