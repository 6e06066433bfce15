"""The external images of a Dockerfile, as BuildKit would fetch them."""

from __future__ import annotations

import pytest

from tamesu.edge.documents.images.dockerfile import BuildInputs, dockerfile_images
from tamesu.edge.documents.images.instructions import split_dockerfile
from tamesu.edge.documents.images.interpolation import Resolved, Unresolved

C55 = """\
ARG B=python:3.12
FROM ${B} AS build
FROM build AS t
FROM reg.invalid:5000/i:${T:-latest}
COPY --from=other:1 /a /a
FROM --platform=$BUILDPLATFORM x
"""


def images(text: str, inputs: BuildInputs | None = None) -> list[tuple[int, Resolved]]:
    found = dockerfile_images(split_dockerfile(text), inputs or BuildInputs())
    return [(image.line, image.reference) for image in found]


def test_c55_a_base_image_from_an_argument_is_resolved() -> None:
    assert images(C55) == [(2, "python:3.12"), (4, "reg.invalid:5000/i:latest"), (5, "other:1"), (6, "x")]


def test_c55_a_build_argument_overrides_the_default() -> None:
    assert images(C55, BuildInputs({"B": "debian:12"}))[0] == (2, "debian:12")


def test_a_build_argument_counts_only_where_an_arg_declares_it() -> None:
    assert images(C55, BuildInputs({"T": "2"}))[1] == (4, "reg.invalid:5000/i:latest")
    assert images(f"ARG T\n{C55}", BuildInputs({"T": "2"}))[1] == (5, "reg.invalid:5000/i:2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM scratch\n", []),
        ("from a as b\nFROM B\n", [(1, "a")]),
        ("FROM a AS b\nFROM a:2\nCOPY --from=0 /x /x\nCOPY --from=B /x /x\n", [(1, "a"), (2, "a:2")]),
        ("ARG A=1\nARG I=i:$A\nFROM $I\n", [(3, "i:1")]),
        ("ARG A=1 B=2\nFROM i:$A-$B\n", [(2, "i:1-2")]),
        ('ARG A="a:1"\nFROM "$A"\n', [(2, "a:1")]),
        ("ARG A='$B'\nFROM i\n", [(2, "i")]),
        ("ARG A=1\nARG A=2\nFROM i:$A\n", [(3, "i:2")]),
        ("ARG A=1\nFROM i:$A\nARG A=2\nFROM j:$A\n", [(2, "i:1"), (4, "j:1")]),
        ("FROM \\\n  # note\n\n  a:1 \\\n  AS b\nFROM b\n", [(1, "a:1")]),
        ("# escape=`\nFROM a `\n AS b\nRUN dir c:\\\nFROM c\n", [(2, "a"), (5, "c")]),
        ("# note\n# escape=`\nFROM a \\\n AS b\n", [(3, "a")]),
        ("FROM a\nRUN <<EOF\nFROM b\nEOF\nFROM c\n", [(1, "a"), (5, "c")]),
        ("FROM a\nRUN <<-'E1' cat <<E2\nFROM b\n\tE1\nFROM c\nE2\nFROM d\n", [(1, "a"), (7, "d")]),
        ("FROM a\nRUN echo '<<EOF'\nFROM b\n", [(1, "a"), (3, "b")]),
        ('FROM a\nRUN ["sh", "<<EOF"]\nFROM b\n', [(1, "a"), (3, "b")]),
        ("FROM a\nRUN --mount=type=bind,from=b:1,target=/b --network=none true\n", [(1, "a"), (2, "b:1")]),
        ("FROM a AS s\nFROM b\nRUN --mount=from=s,target=/s true\n", [(1, "a"), (2, "b")]),
        ("FROM a\nRUN echo --mount=from=b\n", [(1, "a")]),
        ("FROM a\nCOPY --chown=1:1 --link --from=b:1 x y\n", [(1, "a"), (2, "b:1")]),
        ("FROM a\nCOPY x --from=b y\n", [(1, "a")]),
        ("FROM a\nONBUILD COPY --from=b:1 x y\n", [(1, "a"), (2, "b:1")]),
        ("FROM a\nADD --checksum=sha256:1 https://x.invalid/y z\n", [(1, "a")]),
        ("ARG TARGETARCH\nFROM i\n", [(2, "i")]),
        ("ARG TARGETARCH=amd64\nFROM i:$TARGETARCH\n", [(2, "i:amd64")]),
        ("FROM 0\n", [(1, "0")]),
        ("FROM a AS k\nFROM k:latest\n", [(1, "a"), (2, "k:latest")]),
        ("\tFROM\ta\n", [(1, "a")]),
        ("", []),
    ],
)
def test_an_image_is_listed_where_it_is_fetched(text: str, expected: list[tuple[int, str]]) -> None:
    assert images(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("ARG B\nFROM $B\n", 2, "the variable 'B' has no value"),
        ("FROM a\nARG B=b\nFROM $B\n", 3, "the variable 'B' has no value"),
        ("ARG TARGETARCH\nFROM i:$TARGETARCH\n", 2, "'TARGETARCH' depends on the machine that builds"),
        ("FROM i:$TARGETARCH\n", 1, "'TARGETARCH' depends on the machine that builds"),
        ("FROM i:${BUILDOS:-linux}\n", 1, "'BUILDOS' depends on the machine that builds"),
        ("FROM a b c\n", 1, "it is not `FROM image [AS stage]`"),
        ("FROM\n", 1, "it is not `FROM image [AS stage]`"),
        ("ARG B=\nFROM $B\n", 2, "it resolves to nothing"),
        ("FROM ${A%b}\n", 1, "'${A%b}' has a form that is not understood"),
        ("FROM a'b'\n", 1, "quotes inside a word are not understood"),
        ("FROM a\nCOPY --from=3 x y\n", 2, "there is no stage 3 before it"),
        ("ARG B=b\nFROM a\nCOPY --from=$B x y\n", 3, "variables are not expanded in `from`"),
        ("ARG B=b\nFROM a\nRUN --mount=from=${B} x\n", 3, "variables are not expanded in `from`"),
    ],
)
def test_an_image_that_cannot_be_known_is_listed_with_the_reason(text: str, line: int, why: str) -> None:
    found = [image for image in images(text) if isinstance(image[1], Unresolved)]
    assert [at for at, _ in found] == [line]
    assert str(found[0][1].why).startswith(why)  # type: ignore[union-attr]


def test_names_that_the_build_gives_stand_for_something_else() -> None:
    inputs = BuildInputs(contexts=frozenset({"base"}))
    assert images("FROM base\nFROM Base:latest\nFROM base:2\nCOPY --from=base a b\n", inputs) == [(3, "base:2")]


def test_arguments_that_double_each_other_are_bounded() -> None:
    lines = ["ARG A0=xxxxxxxx", *(f"ARG A{n + 1}=$A{n}$A{n}" for n in range(60)), "FROM $A60"]
    ((line, reference),) = images("\n".join(lines))
    assert line == 62
    assert isinstance(reference, Unresolved)


def test_the_syntax_image_and_an_open_heredoc_are_told() -> None:
    found = split_dockerfile("# syntax=docker/dockerfile:1\n# escape=`\nFROM a\nRUN <<EOF\nFROM b\n")
    assert (found.directives.syntax, found.directives.syntax_line, found.directives.escape) == (
        "docker/dockerfile:1",
        1,
        "`",
    )
    assert found.unclosed == 4
