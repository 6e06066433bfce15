"""Whatever stands in compose files, Dockerfiles and ignore files, reading them yields findings and nothing else."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tamesu.edge.documents.images.dockerfile import dockerfile_images
from tamesu.edge.documents.images.dockerignore import is_ignored, read_ignore_rules
from tamesu.edge.documents.images.instructions import split_dockerfile
from tamesu.edge.documents.images.interpolation import MAX_CHARACTERS, Unresolved, interpolate
from tamesu.edge.documents.images.reader import ReadImages, read_images
from tamesu.edge.documents.images.survey import Declared
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.source_files import files_below

PIN = "python@sha256:" + "a" * 64
RULES = re.compile(r"(image|yaml|file|schema)/[a-zA-Z-]+")

words = st.sampled_from(
    [
        "FROM ",
        "ARG ",
        "COPY --from=",
        "RUN --mount=from=",
        " AS ",
        "a",
        "b:1",
        PIN,
        "$B",
        "${B:-x}",
        "${",
        "}",
        "\n",
        "\\\n",
        "<<EOF",
        "\nEOF\n",
        "# escape=`\n",
        "`\n",
        "'",
        '"',
        "=",
        "ONBUILD ",
        "0",
        "--platform=$X ",
        " ",
        "\t",
        "scratch",
        "$TARGETARCH",
        "\r\n",
        "\x00",
        "é",
    ]
)
dockerfiles = st.lists(words | st.text(max_size=5), max_size=25).map("".join)
scalars = st.sampled_from(
    [
        None,
        True,
        5,
        3.1,
        "",
        ".",
        "ctx",
        "..",
        "/",
        "more.yml",
        "compose.yaml",
        "a",
        "b",
        PIN,
        "b:1",
        "$B",
        "${B:-x}",
        "${",
        "https://x.invalid/r.git",
        "docker-image://a",
        "service:a",
        "B=1",
        "~",
        "\x00",
        "x" * 300,
    ]
)
keys = st.sampled_from(
    [
        "services",
        "include",
        "a",
        "b",
        "image",
        "build",
        "context",
        "dockerfile",
        "dockerfile_inline",
        "args",
        "target",
        "extends",
        "file",
        "service",
        "path",
        "project_directory",
        "env_file",
        "additional_contexts",
        "x-y",
    ]
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
services = st.dictionaries(st.sampled_from(["a", "b"]), values | st.dictionaries(keys, values, max_size=4), max_size=3)
composes = st.fixed_dictionaries({}, optional={"services": services | values, "include": values, "x-y": values})


def reads(files: dict[str, bytes]) -> tuple[ReadImages, Reading]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        found = frozenset(files_below(root))
        reading = Reading(root)
        return read_images(
            reading, Declared(found, frozenset({root / "ctx"}), found, root / "t.py"), root, False
        ), reading


def check(read: ReadImages, reading: Reading) -> None:
    """Every image is pinned or has a finding, and findings have a rule, a place and a way out."""
    unpinned = {image.reference.reference for image in read.images if not image.reference.pinned}
    told = "\n".join(finding.message for finding in reading.findings)
    assert all(" ".join(f"image '{reference}' is not pinned".split()) in told for reference in unpinned)
    for finding in reading.findings:
        assert RULES.fullmatch(finding.rule)
        assert finding.line >= 1
        assert finding.fix
        assert "\n" not in finding.message


@settings(max_examples=500, deadline=None)
@given(composes, composes, dockerfiles)
def test_a_compose_file_of_any_content_yields_findings(compose: object, more: object, dockerfile: str) -> None:
    check(
        *reads(
            {
                "compose.yaml": yaml.safe_dump(compose, allow_unicode=True).encode(),
                "more.yml": yaml.safe_dump(more, allow_unicode=True).encode(),
                "ctx/Dockerfile": dockerfile.encode(),
                "ctx/.dockerignore": b"*\n",
            }
        )
    )


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200) | dockerfiles.map(str.encode), st.binary(max_size=100))
def test_bytes_of_any_kind_yield_findings(content: bytes, ignore: bytes) -> None:
    names = ("compose.yaml", "Dockerfile", ".env", "compose.lock.yml")
    check(*reads({**dict.fromkeys(names, content), ".dockerignore": ignore}))


@settings(max_examples=500, deadline=None)
@given(dockerfiles)
def test_a_dockerfile_lists_images_at_lines_that_exist(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= image.line <= lines for image in dockerfile_images(split_dockerfile(text)))


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="${}:-+?AB_1 \\'", max_size=60))
def test_interpolation_yields_bounded_text_or_a_reason(text: str) -> None:
    resolved = interpolate(text, {"A": "a", "B": ""}.get)
    assert isinstance(resolved, Unresolved) or len(resolved) <= MAX_CHARACTERS


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab*?[]!/\\.^-#\n", max_size=60), st.text(alphabet="ab/.", min_size=1, max_size=40))
def test_an_ignore_file_never_raises_and_a_last_star_leaves_everything_out(text: str, path: str) -> None:
    is_ignored(path, read_ignore_rules(text))
    steps = [step for step in path.split("/") if step]
    assert is_ignored("/".join(steps) or "a", read_ignore_rules(f"{text}\n**"))
