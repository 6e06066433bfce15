"""`make demo-all`: every example is run, or named with what it needs; what would be run is read from `make -n`."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.projects import ROOT

EXAMPLES = {path.parent.name for path in ROOT.glob("examples/*/Snakefile")}
SANDBOXED = {path.relative_to(ROOT).parts[1] for path in ROOT.glob("examples/**/compose.yaml")}
PINNED = f"example.test/toolchain@sha256:{'0' * 64}"


def told(target: str, image: str = "") -> subprocess.CompletedProcess[str]:
    # as in a shell of its own, also when make runs the tests
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    env["TAMESU_TOOLCHAIN_IMAGE"] = image
    command = ["make", "-n", target]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)


def run_in(output: str) -> set[str]:
    return set(re.findall(r"^cd build/demo/(\S+) && \S+/tamesu run$", output, re.MULTILINE))


def test_without_an_image_every_example_is_run_that_needs_no_docker_and_the_others_are_named() -> None:
    done = told("demo-all")
    assert done.returncode == 0, done.stderr
    assert SANDBOXED
    assert run_in(done.stdout) == EXAMPLES - SANDBOXED
    (line,) = [line for line in done.stdout.splitlines() if "not run" in line]
    assert f"as they need Docker: {' '.join(sorted(SANDBOXED))}; set TAMESU_TOOLCHAIN_IMAGE" in line


def test_with_an_image_every_example_is_run_and_sandboxes_get_it() -> None:
    done = told("demo-all", PINNED)
    assert run_in(done.stdout) == EXAMPLES
    assert "not run" not in done.stdout
    assert done.stdout.count(f"\\1 {PINNED}|") == len(SANDBOXED)


@pytest.mark.parametrize("name", sorted(SANDBOXED))
def test_a_sandboxed_example_alone_says_what_it_needs(name: str) -> None:
    done = told(f"demo-{name}")
    assert done.returncode != 0
    assert f"{name} needs Docker: set TAMESU_TOOLCHAIN_IMAGE to a pinned image" in done.stderr


def test_make_demo_is_the_shapes() -> None:
    assert run_in(told("demo").stdout) == {"shapes"}
