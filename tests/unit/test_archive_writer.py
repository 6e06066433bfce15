"""Archives: bytes that depend on content alone, and that every reader of gzip and tar takes."""

from __future__ import annotations

import gzip
import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from tamesu.base.canonical import digest_bytes
from tamesu.edge.packages.archive_writer import ArchiveWriter

LONG = "payload/" + "folder/" * 30 + "schön.txt"
GOLDEN = "8a0f9baf06ffaec826937f83a2d8cddbcb146c610952ea3ee7549a1803432221"


def archive(*files: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for path, content in files:
        writer.add(path, content)
    writer.close()
    return stream.getvalue()


def test_the_bytes_are_the_same_on_every_python() -> None:
    """No library compresses, so that a version of one cannot change them; a new digest is a new format."""
    made = archive(("package.yml", b"schema_version: 1\n"), (LONG, b"x" * 70_000), ("payload/empty", b""))
    assert digest_bytes(made) == GOLDEN


def test_readers_find_the_files_with_fixed_owners_modes_and_times() -> None:
    made = archive(("package.yml", b"a\n"), (LONG, b"x" * 70_000))
    assert len(gzip.decompress(made)) % 512 == 0
    with tarfile.open(fileobj=io.BytesIO(made), mode="r:gz") as tar:
        assert [(m.name, m.size, m.mode, m.uid, m.gid, m.uname, m.mtime, m.isreg()) for m in tar] == [
            ("package.yml", 2, 0o644, 0, 0, "", 0, True),
            (LONG, 70_000, 0o644, 0, 0, "", 0, True),
        ]


@given(
    st.lists(
        st.tuples(
            st.text("abcé/", min_size=1, max_size=150).map(lambda t: f"p/{t.strip('/')}x"), st.binary(max_size=2000)
        )
    )
)
def test_what_was_added_is_read_back(files: list[tuple[str, bytes]]) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive(*files)), mode="r:gz") as tar:
        read = [(member.name, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]
    assert read == files
