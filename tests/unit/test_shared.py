"""What is made once per session is whole, and is made again only when the first attempt at it failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.shared import made_once


class Sessions:
    """A stand-in for the temporary folders of the workers of one session."""

    def __init__(self, base: Path) -> None:
        self._base = base

    def getbasetemp(self) -> Path:
        return self._base


def workers(folder: Path, count: int) -> list[Sessions]:
    found = [folder / f"popen-gw{number}" for number in range(count)]
    for base in found:
        base.mkdir()
    return [Sessions(base) for base in found]


def test_all_workers_get_one_folder_that_was_made_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        folder.mkdir()
        (folder / "evidence").write_text("whole")

    def ask(worker: Sessions) -> str:
        return (made_once(worker, "thing", make) / "evidence").read_text()  # type: ignore[arg-type]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, workers(tmp_path, 4))) == ["whole"] * 4
    assert made == [tmp_path / "shared-thing"]


def test_what_failed_is_made_again_from_nothing(tmp_path: Path) -> None:
    (session,) = workers(tmp_path, 1)

    def fail(folder: Path) -> None:
        folder.mkdir()
        (folder / "half").touch()
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        made_once(session, "thing", fail)  # type: ignore[arg-type]
    folder = made_once(session, "thing", lambda folder: folder.mkdir())  # type: ignore[arg-type]
    assert list(folder.iterdir()) == []
