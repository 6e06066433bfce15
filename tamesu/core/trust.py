"""Trust: which markers of foreign cases still stand against an execution, and the line that says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tamesu.base.errors import shown
from tamesu.base.model.trust import Origin, TrustedCode


def still_untrusted(origins: Iterable[Origin], words: Sequence[TrustedCode]) -> tuple[Origin, ...]:
    """Return the markers that no word covers; a marker that changed since the word was given is another one."""
    return tuple(origin for origin in origins if not any(_covers(word, origin) for word in words))


def words_for(origins: Sequence[Origin], words: Iterable[TrustedCode]) -> tuple[TrustedCode, ...]:
    """Return the words that some of these markers need."""
    return tuple(word for word in words if any(_covers(word, origin) for origin in origins))


def given_words(origins: Iterable[Origin], time: str) -> tuple[TrustedCode, ...]:
    """Return a person's word for every marker that has content to bind it to."""
    return tuple(
        TrustedCode(origin.marker, origin.sha256, origin.content_digest, time)
        for origin in origins
        if origin.sha256 is not None
    )


def untrusted_line(origin: Origin) -> str:
    """Return the line that refuses a foreign case: where it came from, what to review, what to do then."""
    way = "then delete this file" + ("" if origin.sha256 is None else " or give --trust-code")
    what = f"this case came from elsewhere{_story(origin)}, and running it runs its code"
    return f"{origin.marker}: {what}; review {_code(origin)}, {way}"


def trusted_remarks(runs: Iterable[Sequence[TrustedCode]]) -> tuple[str, ...]:
    """Return a sentence per foreign package whose code ran on a person's word, from the words that each run needed."""
    found = [{_package(word) for word in words} for words in runs]
    return tuple(
        f"{package} ran in {sum(package in one for one in found)} run(s) on a person's word (--trust-code)"
        for package in sorted(set().union(*found))
    )


def _package(word: TrustedCode) -> str:
    digest = "a damaged marker" if word.content_digest is None else f"content {word.content_digest[:12]}"
    return f"code from elsewhere ({shown(word.marker.rpartition('/')[0])}, {digest})"


def _covers(word: TrustedCode, origin: Origin) -> bool:
    return origin.sha256 is not None and (word.marker, word.marker_sha256) == (origin.marker, origin.sha256)


def _story(origin: Origin) -> str:
    if origin.problem is not None:
        return f" (the marker {shown(origin.problem)})"
    return f" ({shown(origin.source or 'unnamed')}, unpacked {origin.unpacked_at})"


def _code(origin: Origin) -> str:
    if not origin.code:
        return origin.marker.rpartition("/")[0]
    more = len(origin.code) - 1
    return shown(origin.code[0]) + (f" and {more} more source{'' if more == 1 else 's'}" if more else "")
