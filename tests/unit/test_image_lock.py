"""Which content a reference is locked to, and when an image is the locked one."""

from __future__ import annotations

import pytest

from tamesu.core.image_lock import is_locked_content, locked_content, repository

ONE, TWO, ID = ("sha256:" + digit * 64 for digit in "12f")


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("python", "docker.io/library/python"),
        ("python:3.12", "docker.io/library/python"),
        (f"python@{ONE}", "docker.io/library/python"),
        (f"python:3@{ONE}", "docker.io/library/python"),
        ("docker.io/python", "docker.io/library/python"),
        ("docker.io/library/python:3", "docker.io/library/python"),
        ("team/tool:1", "docker.io/team/tool"),
        ("reg.invalid:5000/tool", "reg.invalid:5000/tool"),
        ("reg.invalid:5000/team/tool:1", "reg.invalid:5000/team/tool"),
        ("localhost/tool", "localhost/tool"),
    ],
)
def test_a_repository_is_told_in_full(reference: str, name: str) -> None:
    assert repository(reference) == name


def test_an_image_is_locked_by_its_name_in_the_own_repository_or_by_its_id() -> None:
    names = (f"a/python@{TWO}", f"python@{TWO}", f"python@{ONE}")
    assert locked_content("python:3", ID, names) == f"python@{ONE}"
    assert locked_content("mine:3", ID, names) == ID
    assert locked_content("mine:3", ID, ()) == ID


def test_an_image_is_the_locked_one_by_digest_or_by_id() -> None:
    assert is_locked_content(f"python@{ONE}", ID, (f"mirror.invalid/python@{ONE}",))
    assert is_locked_content(ID, ID, ())
    assert not is_locked_content(f"python@{ONE}", ID, (f"python@{TWO}",))
    assert not is_locked_content(ONE, ID, ())
