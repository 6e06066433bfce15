"""Places at an endpoint: a cap that holds over all who want some."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tamesu.base.errors import RunHeld
from tamesu.edge.store.paths import Project
from tamesu.edge.store.places import places_held


def test_c24_no_more_than_the_cap_are_held_at_once_whoever_wants_how_many(tmp_path: Path) -> None:
    project, lock = Project(tmp_path), threading.Lock()
    held, peak, done = 0, 0, 0

    def work(wanted: int) -> None:
        nonlocal held, peak, done
        for _ in range(5):
            with places_held(project, "openai@default", wanted, 4, 60.0):
                with lock:
                    held += wanted
                    peak = max(peak, held)
                with lock:
                    held -= wanted
                    done += 1

    threads = [threading.Thread(target=work, args=(wanted,)) for wanted in (1, 2, 3, 4, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == 25
    assert 1 <= peak <= 4


def test_one_who_wants_more_than_the_cap_gets_all_places(tmp_path: Path) -> None:
    project = Project(tmp_path)
    taken = pytest.raises(RunHeld, match="its 2 places are taken")
    with places_held(project, "e", 9, 2, 0.0), taken, places_held(project, "e", 1, 2, 0.0):
        pass
    with places_held(project, "e", 1, 2, 0.0), places_held(project, "e", 1, 2, 0.0):
        pass


def test_without_a_cap_the_whole_endpoint_is_held(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with places_held(project, "e", 1, None, 0.0):
        with pytest.raises(RunHeld), places_held(project, "e", 1, None, 0.0):
            pass
        with places_held(project, "another", 1, None, 0.0):
            pass
