"""A model server that answers so many requests and holds the rest, so that calls are in flight at a chosen moment."""

from __future__ import annotations

import re
import threading
from collections import Counter

from tests.servers import Asked, ModelServer, Reply, Usage

_LONGEST_HOLD = 120.0
_ITEM = re.compile(r"item (\d{4})")
COSTS_TEN_CENTS = Reply(usage=Usage(10, 100))  # at 1000 USD per million tokens of output, of which 100 are the most


def item_of(asked: Asked) -> str:
    """Return the ID of the item that a request asks for."""
    found = _ITEM.search(asked.prompt)
    assert found is not None, asked.prompt
    return f"sum-{found[1]}"


class Gate:
    """Decides which requests are answered: the next `open_for` ones, and all once it is opened.

    Ask `arrived` and `let_through` for what was seen since the last `close`.
    """

    def __init__(self, reply: Reply = COSTS_TEN_CENTS) -> None:
        self._reply = reply
        self._lock = threading.Lock()
        self._opened = threading.Event()
        self._left = 0
        self.arrived = 0
        self.let_through = 0
        self._opened.set()

    def __call__(self, asked: Asked) -> Reply:
        with self._lock:
            self.arrived += 1
            opened, through = self._opened, self._left > 0
            self._left -= through
            self.let_through += through
        if not through:
            opened.wait(_LONGEST_HOLD)
        return self._reply

    def close(self, open_for: int) -> None:
        """Hold every request from now on but the next ones; what is held already goes on being held."""
        with self._lock:
            self._left, self.arrived, self.let_through = open_for, 0, 0
            if self._opened.is_set():
                self._opened = threading.Event()

    def open(self) -> None:
        """Answer everything, held requests included."""
        self._opened.set()


def asked_items(server: ModelServer, since: int = 0) -> Counter[str]:
    """Return how often each item was asked, from a position in the server's memory."""
    return Counter(item_of(asked) for asked in server.asked[since:])
