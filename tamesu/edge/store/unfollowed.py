"""Opening a file that is no link, and saying so of one that is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def open_unfollowed(path: Path) -> int:
    """Return a descriptor to read a file from; a pipe does not block. Raises OSError, for a link `is a link`."""
    try:
        return os.open(path, _FLAGS)
    except OSError as error:
        # the system speaks of too many levels of links
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, "is a link", str(path)) from None
        raise
