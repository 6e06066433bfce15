"""What a task module declares is read from its text; what its text cannot tell is left to execution."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamesu.core.scaffold import StagedRole
from tamesu.edge.documents.task_outline import module_names, read_task_outline

TASK = """\
import inspect_ai.scorer as s
from inspect_ai import task

@task
def first(dataset): ...

@s.scorer(metrics=[])
def exact():
    async def score(state, target):
        stage.add("answer", "a.txt", text, "text/plain")
        stage.add("card", "c.png", body, kind)
        seen.add("no role")
    return score
"""


def test_task_scorers_and_roles_are_found(tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.write_text(TASK + "raise SystemExit('executed')\n")
    outline = read_task_outline(path, "task.py")
    assert (outline.task, outline.scorers) == ("first", ("exact",))
    assert outline.roles == (StagedRole("answer", "text/plain"), StagedRole("card", ""))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def a(): b = 1\n", ("a",)),
        ("class A: ...\nasync def b(): ...\nc = d = 1\n", ("A", "b", "c", "d")),
        ("import os.path\nimport x.y as z\nfrom m import n as o, p\n", ("os", "z", "o", "p")),
        ("try:\n    import a\nexcept ImportError:\n    a = None\n", {"a"}),
        ("if x:\n    def a(): ...\nelse:\n    a = None\n", {"a"}),
        ("with open('f') as g:\n    (h := 1)\n", {"g", "h"}),
        ("from m import *\n", None),
        ("globals()['a'] = 1\n", None),
        ("def __getattr__(name): ...\n", None),
        ("import sys\nsetattr(sys.modules[__name__], 'a', 1)\n", None),
        ("def broken(:\n", None),
        ("\x00", None),
        ("", ()),
    ],
)
def test_names_that_a_module_binds(text: str, names: object) -> None:
    found = module_names(text.encode())
    if isinstance(names, set):
        assert set(found or ()) == names
    else:
        assert found == names
