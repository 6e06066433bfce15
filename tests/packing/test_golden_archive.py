"""The bytes of an archive, held by a digest: whatever Python, zlib or YAML library writes it."""

from __future__ import annotations

import hashlib
import io

from tamesu.base.canonical import digest_bytes
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import MANIFEST, PAYLOAD, DataReview, Profile, Publication
from tamesu.core.packages.record import package_record
from tamesu.edge.packages.archive_writer import ArchiveWriter
from tamesu.edge.packages.record_file import record_bytes

GOLDEN = "4aabd552c0905def070591354b78ba3ae9d051087a4035d099fe14f861516c33"
FILES = {
    "case.yml": b"a\n",
    "datasets/" + "long-" * 30 + "name.jsonl": b'{"id":"1"}\n',
    "datasets/größe/空.txt": "größe\n".encode(),
    "empty.md": b"",
    "large.bin": bytes(range(256)) * 700,  # several stored blocks
}


def test_the_bytes_of_an_archive_are_the_same_on_every_python() -> None:
    review = DataReview("Bea Example", "2026-01-31", "Made up: nobody is in it, said “größe”.")
    publication = Publication("acme", "shapes", "1.0.0", "CC-BY-4.0", ("Ada Example", "Bö"), data_review=review)
    digests = [FileDigest(path, digest_bytes(content), len(content)) for path, content in FILES.items()]
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    writer.add(MANIFEST, record_bytes(package_record(publication, Profile.FULL, digests, "1.0.0")))
    for path, content in FILES.items():
        writer.add(PAYLOAD + path, content)
    writer.close()
    assert hashlib.sha256(stream.getvalue()).hexdigest() == GOLDEN
