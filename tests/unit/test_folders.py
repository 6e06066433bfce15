"""A folder appears whole or not at all, and takes the place of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamesu.base.errors import EvidenceError
from tamesu.edge.store.folders import publish_folder

FILES = (("assets/a.png", b"picture"), ("dataset.yml", b"name: a\n"))


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_files_are_there_and_nothing_else(tmp_path: Path) -> None:
    publish_folder(tmp_path / "deep" / "new", FILES)
    assert content(tmp_path / "deep" / "new") == dict(FILES)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["new"]


@pytest.mark.parametrize("ended", [EvidenceError("a picture is missing"), KeyboardInterrupt()])
def test_what_raises_midway_leaves_nothing(ended: BaseException, tmp_path: Path) -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield FILES[0]
        raise ended

    with pytest.raises(type(ended)):
        publish_folder(tmp_path / "new", files())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder", "empty folder", "dangling link"])
def test_nothing_that_is_there_is_replaced(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "new"
    match kind:
        case "file":
            target.write_bytes(b"mine")
        case "folder" | "empty folder":
            target.mkdir()
            if kind == "folder":
                (target / "mine").write_bytes(b"mine")
        case _:
            target.symlink_to("nowhere")
    before = (target.is_symlink(), target.is_dir(), content(tmp_path))
    with pytest.raises(FileExistsError):
        publish_folder(target, FILES)
    assert (target.is_symlink(), target.is_dir(), content(tmp_path)) == before
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_one_that_came_while_files_were_written_stays(tmp_path: Path) -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield FILES[0]
        publish_folder(tmp_path / "elsewhere" / "new", FILES)
        (tmp_path / "elsewhere" / "new").rename(tmp_path / "new")
        yield ("dataset.yml", b"name: late\n")

    with pytest.raises(FileExistsError):
        publish_folder(tmp_path / "new", files())
    assert content(tmp_path / "new") == dict(FILES)


def test_what_a_death_left_unfinished_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".unfinished-0123" / "assets").mkdir(parents=True)
    (tmp_path / ".unfinished-0123" / "assets" / "a.png").write_bytes(b"half")
    publish_folder(tmp_path / "new", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
