"""Why a call failed at last: what a retry library put around it is taken off, and addresses in memory are no words."""

from __future__ import annotations

import re

_DEEPEST = 8
FUTURE = re.compile(r"RetryError[\[(]<Future at 0x[0-9a-f]+ state=finished raised (\w+)>[\])]")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+\b")


def root_cause(error: BaseException) -> BaseException:
    """Return the error behind one that only says that all tries were used up."""
    for _ in range(_DEEPEST):
        inner = _inner(error)
        if inner is None:
            break
        error = inner
    return error


def _inner(error: BaseException) -> BaseException | None:
    """Return the error of the last try, as retry libraries keep it, or the one that was wrapped with it."""
    kept = getattr(getattr(error, "last_attempt", None), "exception", None)
    if callable(kept):
        found = kept()
        return found if isinstance(found, BaseException) else None
    return (error.__cause__ or error.__context__) if FUTURE.search(str(error)) else None


def without_addresses(text: str) -> str:
    """Return a text without addresses in memory, which say nothing; of tries that were used up, what they met."""
    return _ADDRESS.sub("", FUTURE.sub(r"\1 after all retries", text))
