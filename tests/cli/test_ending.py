"""A command that has ended is gone, whatever threads an event loop left behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.calling import Caller, one_line
from tests.projects import ShapesProject

CODE = """
import threading
from tamesu.cli.session import leave_behind_threads
if {stuck}:
    threading.Thread(target=threading.Event().wait).start()
print("said before")
leave_behind_threads({code!r})
raise SystemExit({code!r})
"""


@pytest.mark.parametrize("stuck", [True, False])
@pytest.mark.parametrize(("code", "seen"), [(130, 130), (0, 0), (None, 0), ("a reason", 1)])
def test_a_thread_that_waits_for_ever_keeps_no_process(stuck: bool, code: object, seen: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(stuck=stuck, code=code)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (seen, "said before\n")


def test_an_interruption_at_any_moment_is_none_of_clicks_aborts(
    shapes: ShapesProject, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tamesu.cli.listing.project_here", interrupted)
    line = one_line(call(shapes, "list"), 130)
    assert line == "interrupted; run again to go on, what was finished is kept"
