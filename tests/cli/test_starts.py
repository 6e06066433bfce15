"""What a command does not need it does not import: half of the time of most commands is their start."""

from __future__ import annotations

import subprocess
import sys

import pytest

DECODERS, LOOPS, TABLES, INSPECT = "PIL", "asyncio", "pandas", "inspect_ai"


@pytest.mark.parametrize(
    ("module", "spared"),
    [
        ("tamesu.cli.linting", {DECODERS, LOOPS, TABLES, INSPECT}),
        ("tamesu.cli.deriving", {DECODERS, LOOPS, TABLES, INSPECT}),
        ("tamesu.cli.presenting", {DECODERS, LOOPS, TABLES, INSPECT}),
        ("tamesu.cli.plumbing", {DECODERS, LOOPS, TABLES, INSPECT}),
    ],
)
def test_it_starts_without(module: str, spared: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert module in done.stdout.split()
    assert spared & set(done.stdout.split()) == set()
