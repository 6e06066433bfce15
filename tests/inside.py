"""The command line inside the test's process: the same entry as `python -m tamesu`, without its start.

For what a test asks to learn how things stand. What a test is about is called as users call it.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch


def planned(root: Path, env: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return what `tamesu plan --json` says of the project's first eval."""
    from tamesu.cli.main import cli
    from tamesu.cli.session import guarded

    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with chdir(root), patch.dict(os.environ, env or {}), redirect_stdout(out), redirect_stderr(err):
        try:
            guarded(lambda: cli(["plan", "--json"], prog_name="tamesu"))
        except SystemExit as end:
            code = end.code
    assert code == 0, err.getvalue()
    return json.loads(out.getvalue())[0]
