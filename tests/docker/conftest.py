"""Fixtures of the tests that need a Docker engine."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def image() -> str:
    """The pinned toolchain image that the machine offers."""
    reference = os.environ.get("TAMESU_TOOLCHAIN_IMAGE", "")
    assert "@sha256:" in reference, "TAMESU_TOOLCHAIN_IMAGE must hold a pinned image reference"
    return reference
