"""Whatever bytes the marker of a foreign case holds: it marks, and its content is known or its fault is."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamesu.core.trust import given_words, still_untrusted, untrusted_line
from tamesu.edge.documents.origins import read_origins
from tamesu.edge.store.paths import Project

DIGEST = "b5db5d66aa259840819fa6c443a67b360d68cac1b75526ccb1045e70d8f09a0a"
LINES = st.sampled_from(
    [
        f"content_digest: {DIGEST}\n",
        "content_digest: ''\n",
        "source: acme\n",
        "source: &a [*a]\n",
        "unpacked_at: '2026-01-31T12:00:00Z'\n",
        "unpacked_at: 2026-01-31\n",
        "schema_version: 1\n",
        "\ufeff",
        "- !!python/object/apply:os.system [true]\n",
        "\x00",
    ]
)
CONTENTS = st.one_of(st.binary(max_size=200), st.lists(LINES, max_size=5).map(lambda parts: "".join(parts).encode()))


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder).resolve() / "cases" / "a").mkdir(parents=True)
        yield Project(Path(folder).resolve())


@given(content=CONTENTS)
def test_any_marker_marks_and_is_bound_by_its_bytes(project: Project, content: bytes) -> None:
    project.untrusted_marker("a").write_bytes(content)
    (origin,) = read_origins(project)
    assert origin.sha256 == hashlib.sha256(content).hexdigest()
    assert (origin.problem is None) == (origin.content_digest == DIGEST)
    assert still_untrusted([origin], ()) == (origin,)
    assert untrusted_line(origin).isprintable()
    assert still_untrusted([origin], given_words([origin], "2026-02-01T00:00:00Z")) == ()


@given(content=CONTENTS, other=CONTENTS)
def test_a_word_for_one_marker_is_none_for_another(project: Project, content: bytes, other: bytes) -> None:
    project.untrusted_marker("a").write_bytes(content)
    words = given_words(read_origins(project), "2026-02-01T00:00:00Z")
    project.untrusted_marker("a").write_bytes(other)
    left = still_untrusted(read_origins(project), words)
    assert (left == ()) == (content == other)
