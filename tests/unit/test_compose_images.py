"""The images of compose files, with what they extend, include and build."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tamesu.core.image_lock import LockedImage
from tamesu.edge.documents.images.lock_file import lock_bytes, lock_path
from tamesu.edge.documents.images.reader import ReadImages, read_images
from tamesu.edge.documents.images.survey import Declared
from tamesu.edge.documents.reading import Reading
from tamesu.edge.documents.source_files import files_below

PIN = "python@sha256:" + "a" * 64
TAGGED = "python:3.12@sha256:" + "b" * 64


@dataclass(frozen=True)
class Outcome:
    """What was read: references by file, and findings as (file, line, rule)."""

    read: ReadImages
    references: list[tuple[str, str]]
    findings: list[tuple[str, int, str]]
    messages: str


def look(
    root: Path,
    files: Mapping[str, str],
    folders: tuple[str, ...] = (),
    undeclared: tuple[str, ...] = (),
    mutable: bool = False,
) -> Outcome:
    """Write the files, declare all but the undeclared (those below a folder by the folder), and read the images."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    reading = Reading(root)
    below = {path for folder in folders for path in files_below(root / folder)}
    named = {root / name for name in files if name not in undeclared} - below
    declared = Declared(
        frozenset(named | below), frozenset(root / one for one in folders), frozenset(named), root / "t.py"
    )
    read = read_images(reading, declared, root, mutable)
    return Outcome(
        read=read,
        references=[(image.reference.file, image.reference.reference) for image in read.images],
        findings=[(one.file, one.line, one.rule) for one in sorted(set(reading.findings))],
        messages="\n".join(map(str, reading.findings)),
    )


def compose(root: Path, text: str, **others: str) -> Outcome:
    return look(root, {"compose.yaml": text, **{name.replace("__", "."): body for name, body in others.items()}})


def test_pinned_images_are_listed_and_nothing_is_found(tmp_path: Path) -> None:
    found = compose(tmp_path, f"services:\n  a:\n    image: {PIN}\n  b:\n    image: {TAGGED}\n  c: {{image: {PIN}}}\n")
    assert found.references == [("compose.yaml", PIN), ("compose.yaml", TAGGED)]
    assert found.findings == []


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("python:3", "python:3"),
        ("${TAG:-python:3}", "python:3"),
        ("reg.invalid:5000/i:${T:-latest}", "reg.invalid:5000/i:latest"),
        ("${A:-${B-x}}", "x"),
        ("python@sha256:" + "A" * 64, "python@sha256:" + "A" * 64),
        (f"{PIN}0", f"{PIN}0"),
    ],
)
def test_an_image_without_digest_is_not_pinned(tmp_path: Path, written: str, resolved: str) -> None:
    found = compose(tmp_path, f"services:\n  a:\n    command: x\n    image: '{written}'\n")
    assert found.references == [("compose.yaml", resolved)]
    assert found.findings == [("compose.yaml", 4, "image/not-pinned")]
    assert f"image '{resolved}' is not pinned" in found.messages


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("${IMAGE}", "the variable 'IMAGE' has no value"),
        ("${IMAGE:?say}", "the variable 'IMAGE' is required"),
        ("i:${HOME:-x}", "the variable 'HOME' is set by the machine that runs"),
        ("${SAMPLE_METADATA_IMAGE:-x}", "'SAMPLE_METADATA_IMAGE' is set by the machine"),
    ],
)
def test_an_image_that_cannot_be_resolved_is_not_pinned_whatever_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, why: str
) -> None:
    monkeypatch.setenv("IMAGE", PIN)
    found = look(tmp_path, {"compose.yaml": f"services:\n  a:\n    image: '{written}'\n"}, mutable=True)
    assert (found.references, found.findings) == ([], [("compose.yaml", 3, "image/not-pinned")])
    assert why in found.messages


def test_mutable_images_are_listed_without_a_finding(tmp_path: Path) -> None:
    found = look(tmp_path, {"compose.yaml": "services: {a: {image: python}}\n"}, mutable=True)
    assert (found.references, found.findings) == ([("compose.yaml", "python")], [])


def test_a_declared_env_file_gives_values_and_an_undeclared_one_does_not(tmp_path: Path) -> None:
    files = {"compose.yaml": "services: {a: {image: '${I}'}}\n", ".env": f"I={PIN}\n"}
    assert look(tmp_path, files).references == [("compose.yaml", PIN)]
    assert look(tmp_path, files, undeclared=(".env",)).references == []


def test_merges_and_anchors_are_followed(tmp_path: Path) -> None:
    found = compose(tmp_path, f"x-b: &b\n  image: {PIN}\nservices:\n  a: {{<<: *b}}\n  c: {{<<: *b, image: d:1}}\n")
    assert found.references == [("compose.yaml", PIN), ("compose.yaml", "d:1")]
    assert found.findings == [("compose.yaml", 5, "image/not-pinned")]


def test_c37_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    started = time.process_time()
    found = compose(tmp_path, "\n".join(["a0: &a0 [" + "x, " * 10 + "x]", *levels, "services: {a: {image: b}}", ""]))
    assert time.process_time() - started < 1
    assert [rule for _, _, rule in found.findings] == ["yaml/alias-bomb"]


class TestExtends:
    def test_a_service_of_the_same_file(self, tmp_path: Path) -> None:
        found = compose(
            tmp_path, f"services:\n  base: {{image: {PIN}}}\n  a: {{extends: base}}\n  b: {{extends: {{service: a}}}}\n"
        )
        assert (found.references, found.findings) == ([("compose.yaml", PIN)], [])

    def test_a_service_of_another_file_counts_at_its_line_there(self, tmp_path: Path) -> None:
        text = "services:\n  a: {extends: {file: base.yml, service: b}}\n"
        found = compose(tmp_path, text, base__yml="services:\n  b:\n    image: python:3\n")
        assert found.references == [("base.yml", "python:3")]
        assert found.findings == [("base.yml", 3, "image/not-pinned")]

    def test_what_the_service_writes_itself_overrides(self, tmp_path: Path) -> None:
        text = f"services:\n  a: {{extends: {{file: base.yml, service: b}}, image: {PIN}}}\n"
        found = compose(tmp_path, text, base__yml="services: {b: {image: 'python:3'}}\n")
        assert (found.references, found.findings) == ([("compose.yaml", PIN)], [])

    def test_paths_start_from_the_file_that_writes_them(self, tmp_path: Path) -> None:
        found = look(
            tmp_path,
            {
                "compose.yaml": "services: {a: {extends: {file: sub/base.yml, service: b}}}\n",
                "sub/base.yml": "services: {b: {build: ctx}}\n",
                "sub/ctx/Dockerfile": f"FROM {PIN}\n",
            },
            folders=("sub",),
        )
        assert (found.references, found.findings) == ([("sub/ctx/Dockerfile", PIN)], [])

    @pytest.mark.parametrize(
        "services",
        [
            "a: {extends: a}",
            "a: {extends: b}\n  b: {extends: {service: a}}",
            "a: {extends: {file: compose.yaml, service: a}}",
            "a: {extends: nothing}",
            "a: {extends: [b]}",
            "a: {extends: {file: 5}}",
        ],
    )
    def test_a_circle_or_another_shape_is_found(self, tmp_path: Path, services: str) -> None:
        found = compose(tmp_path, f"services:\n  {services}\n")
        assert ("compose.yaml", 2, "image/compose-shape") in found.findings
        assert found.references == []

    @pytest.mark.parametrize("file", ["../out.yml", "base.yml", "/etc/base.yml", "https://x.invalid/b.yml", "~/b.yml"])
    def test_a_file_that_is_not_declared_is_found(self, tmp_path: Path, file: str) -> None:
        (tmp_path / "base.yml").write_text(f"services: {{b: {{image: {PIN}}}}}\n")
        (tmp_path / "project").mkdir()
        text = f"services:\n  a:\n    image: {PIN}\n    extends:\n      file: {file}\n      service: b\n"
        found = compose(tmp_path / "project", text)
        assert found.findings == [("compose.yaml", 5, "image/undeclared-file")]

    def test_files_are_bounded(self, tmp_path: Path) -> None:
        files = {f"f{n}.yml": f"services: {{a: {{extends: {{file: f{n + 1}.yml, service: a}}}}}}\n" for n in range(80)}
        found = look(tmp_path, {**files, "f80.yml": f"services: {{a: {{image: {PIN}}}}}\n"})
        assert {rule for _, _, rule in found.findings} == {"image/compose-shape"}


class TestInclude:
    @pytest.mark.parametrize(
        "include", ["[more.yml]", "more.yml", "[{path: more.yml}]", "[{path: [more.yml]}]", "[./sub/../more.yml]"]
    )
    def test_every_form_is_followed(self, tmp_path: Path, include: str) -> None:
        text = f"include: {include}\nservices: {{a: {{image: {PIN}}}}}\n"
        found = compose(tmp_path, text, more__yml="services:\n  b:\n    image: python:3\n")
        assert sorted(found.references) == [("compose.yaml", PIN), ("more.yml", "python:3")]
        assert found.findings == [("more.yml", 3, "image/not-pinned")]

    def test_a_file_of_includes_alone_holds_no_services_of_its_own(self, tmp_path: Path) -> None:
        found = compose(tmp_path, "include: [more.yml]\n", more__yml=f"services: {{b: {{image: {PIN}}}}}\n")
        assert (found.references, found.findings) == ([("more.yml", PIN)], [])

    def test_of_several_paths_in_one_entry_the_later_overrides(self, tmp_path: Path) -> None:
        text = "include: [{path: [one.yml, two.yml]}]\n"
        one, two = "services: {b: {image: 'python:3'}}\n", f"services: {{b: {{image: {PIN}}}}}\n"
        found = compose(tmp_path, text, one__yml=one, two__yml=two)
        assert (found.references, found.findings) == ([("two.yml", PIN)], [])

    def test_variables_of_the_including_project_go_first(self, tmp_path: Path) -> None:
        found = look(
            tmp_path,
            {
                "compose.yaml": "include: [sub/more.yml]\n",
                ".env": "A=outer\n",
                "sub/.env": "A=inner\nB=inner\n",
                "sub/more.yml": "services: {b: {image: '${A}:${B}'}}\n",
            },
        )
        assert found.references == [("sub/more.yml", "outer:inner")]

    def test_an_env_file_of_the_entry_is_read_when_it_is_declared(self, tmp_path: Path) -> None:
        files = {
            "compose.yaml": "include:\n  - path: more.yml\n    env_file: my.env\n",
            "my.env": f"I={PIN}\n",
            "more.yml": "services: {b: {image: '${I}'}}\n",
        }
        assert look(tmp_path, files).references == [("more.yml", PIN)]
        hidden = look(tmp_path, files, undeclared=("my.env",))
        assert ("compose.yaml", 3, "image/undeclared-file") in hidden.findings

    def test_a_circle_is_found(self, tmp_path: Path) -> None:
        found = compose(tmp_path, "include: [more.yml]\n", more__yml="include: [compose.yaml]\nservices: {}\n")
        assert ("more.yml", 1, "image/compose-shape") in found.findings

    def test_files_that_include_each_other_twice_are_bounded(self, tmp_path: Path) -> None:
        files = {f"c{n}.yml": f"include: [c{n + 1}.yml, ./c{n + 1}.yml]\nservices: {{}}\n" for n in range(30)}
        found = look(tmp_path, {**files, "c30.yml": "services: {}\n", "compose.yaml": "include: [c0.yml]\n"})
        assert "too many files" in found.messages


class TestBuild:
    DOCKERFILE = "ARG B=python:3\nFROM ${B}\n"

    @pytest.mark.parametrize(
        "build",
        [
            "ctx",
            "./ctx/",
            "{context: ctx}",
            "{context: ctx, dockerfile: ./Dockerfile, target: x}",
            "{context: '${C:-ctx}'}",
            "{context: ctx, args: {OTHER: '1'}}",
            "{context: ctx, args: [B]}",
            "{context: ctx, args: {B: }}",
        ],
    )
    def test_the_base_image_of_a_build_counts_in_the_dockerfile(self, tmp_path: Path, build: str) -> None:
        text = f"services:\n  a:\n    image: name:of-the-result\n    build: {build}\n"
        found = look(tmp_path, {"compose.yaml": text, "ctx/Dockerfile": self.DOCKERFILE}, folders=("ctx",))
        assert found.references == [("ctx/Dockerfile", "python:3")]
        assert found.findings == [("ctx/Dockerfile", 2, "image/not-pinned")]

    @pytest.mark.parametrize("args", [f"{{B: '{PIN}'}}", f"['B={PIN}']", f"{{B: '${{X:-{PIN}}}'}}"])
    def test_c55_build_arguments_override(self, tmp_path: Path, args: str) -> None:
        text = f"services: {{a: {{build: {{context: ctx, args: {args}}}}}}}\n"
        found = look(tmp_path, {"compose.yaml": text, "ctx/Dockerfile": self.DOCKERFILE}, folders=("ctx",))
        assert (found.references, found.findings) == ([("ctx/Dockerfile", PIN)], [])

    def test_c55_every_external_image_is_unpinned_and_a_stage_is_none(self, tmp_path: Path) -> None:
        text = (
            "ARG B=python:3.12\nFROM ${B} AS build\nFROM build AS t\nFROM reg.invalid:5000/i:${T:-latest}\n"
            "COPY --from=other:1 /a /a\nFROM --platform=$BUILDPLATFORM x\n"
        )
        found = look(tmp_path, {"Dockerfile": text})
        assert found.references == [
            ("Dockerfile", name) for name in ("python:3.12", "reg.invalid:5000/i:latest", "other:1", "x")
        ]
        assert found.findings == [("Dockerfile", line, "image/not-pinned") for line in (2, 4, 5, 6)]
        compose = f"services: {{a: {{build: {{context: ctx, args: {{B: '{PIN}'}}}}}}}}\n"
        built = look(tmp_path / "built", {"compose.yaml": compose, "ctx/Dockerfile": text}, folders=("ctx",))
        assert built.references[0] == ("ctx/Dockerfile", PIN)
        assert built.findings == [("ctx/Dockerfile", line, "image/not-pinned") for line in (4, 5, 6)]

    def test_an_argument_that_cannot_be_resolved_is_no_default(self, tmp_path: Path) -> None:
        text = "services: {a: {build: {context: ctx, args: {B: '${X}'}}}}\n"
        found = look(tmp_path, {"compose.yaml": text, "ctx/Dockerfile": self.DOCKERFILE}, folders=("ctx",))
        assert (found.references, found.findings) == ([], [("ctx/Dockerfile", 2, "image/not-pinned")])

    def test_a_number_that_yaml_changes_has_to_be_quoted(self, tmp_path: Path) -> None:
        files = {"ctx/Dockerfile": "ARG V\nFROM python:$V\n"}
        text = "services: {a: {build: {context: ctx, args: {V: %s}}}}\n"
        assert look(tmp_path, {"compose.yaml": text % "3.10", **files}, folders=("ctx",)).references == []
        assert look(tmp_path, {"compose.yaml": text % "3.12", **files}, folders=("ctx",)).references == [
            ("ctx/Dockerfile", "python:3.12")
        ]

    def test_arguments_of_an_extended_build_are_merged(self, tmp_path: Path) -> None:
        text = (
            "services:\n  base: {build: {context: ctx, args: {B: 'one:1', C: '2'}}}\n"
            f"  a: {{extends: base, build: {{args: ['B={PIN}']}}}}\n"
        )
        found = look(
            tmp_path, {"compose.yaml": text, "ctx/Dockerfile": "ARG B\nARG C\nFROM $B\nFROM i:$C\n"}, folders=("ctx",)
        )
        assert found.references == [
            ("ctx/Dockerfile", "one:1"), ("ctx/Dockerfile", "i:2"), ("ctx/Dockerfile", PIN)
        ]  # fmt: skip

    def test_an_inline_dockerfile_counts_at_its_line(self, tmp_path: Path) -> None:
        text = "services:\n  a:\n    build:\n      dockerfile_inline: |\n        ARG B=c:1\n        FROM $${B}\n"
        found = look(tmp_path, {"sub/compose.yaml": text}, folders=("sub",))
        assert found.references == [("sub/compose.yaml", "c:1")]
        assert found.findings == [("sub/compose.yaml", 6, "image/not-pinned")]

    def test_names_that_stand_for_images_and_services(self, tmp_path: Path) -> None:
        text = (
            "services:\n  a:\n    build:\n      context: ctx\n      additional_contexts:\n"
            f"        base: docker-image://{PIN}\n        tools: docker-image://tools:1\n        other: service:b\n"
            f"        files: ctx\n  b: {{image: {PIN}}}\n"
        )
        dockerfile = "FROM base\nCOPY --from=tools a a\nCOPY --from=other a a\nCOPY --from=files a a\n"
        found = look(tmp_path, {"compose.yaml": text, "ctx/Dockerfile": dockerfile}, folders=("ctx",))
        assert [reference for _, reference in found.references] == [PIN, "tools:1"]
        assert found.findings == [("compose.yaml", 7, "image/not-pinned")]

    def test_the_name_of_a_result_is_no_image_elsewhere(self, tmp_path: Path) -> None:
        text = "services:\n  a: {image: mine, build: ctx}\n  b: {image: 'mine:latest'}\n"
        found = look(tmp_path, {"compose.yaml": text, "ctx/Dockerfile": f"FROM {PIN}\n"}, folders=("ctx",))
        assert (found.references, found.findings) == ([("ctx/Dockerfile", PIN)], [])

    @pytest.mark.parametrize(
        "context",
        ["https://x.invalid/r.git", "git@x.invalid:r", "x/r.git#main", "github.com/a/b", "${C}", "docker-image://a"],
    )
    def test_a_remote_or_unknown_context_is_not_pinned(self, tmp_path: Path, context: str) -> None:
        found = look(tmp_path, {"compose.yaml": f"services:\n  a:\n    build: '{context}'\n"}, mutable=True)
        assert found.findings == [("compose.yaml", 3, "image/not-pinned")]

    def test_a_context_must_be_declared_whole(self, tmp_path: Path) -> None:
        files = {
            "compose.yaml": "services:\n  a:\n    build: ctx\n",
            "ctx/Dockerfile": f"FROM {PIN}\n",
            "ctx/data.bin": "x",
            "ctx/deep/more.bin": "x",
        }
        assert look(tmp_path, files).findings == []
        assert look(tmp_path, files, folders=("ctx",)).findings == []
        assert look(tmp_path, files, undeclared=("ctx/deep/more.bin",)).findings == [
            ("compose.yaml", 3, "image/undeclared-context")
        ]
        undeclared = look(tmp_path, files, undeclared=("ctx/Dockerfile", "ctx/data.bin"))
        assert [rule for _, _, rule in undeclared.findings] == ["image/undeclared-context", "image/undeclared-file"]

    @pytest.mark.parametrize("context", ["..", "/tmp", "~/ctx", "missing"])
    def test_a_context_outside_or_missing_is_found(self, tmp_path: Path, context: str) -> None:
        (tmp_path / "project").mkdir()
        text = f"services:\n  a:\n    build:\n      context: {context}\n      dockerfile_inline: FROM {PIN}\n"
        found = compose(tmp_path / "project", text)
        assert found.findings == [("compose.yaml", 4, "image/undeclared-context")]

    def test_what_dockerignore_names_does_not_count(self, tmp_path: Path) -> None:
        files = {
            "compose.yaml": "services: {a: {build: ctx}}\n",
            "ctx/Dockerfile": f"FROM {PIN}\n",
            "ctx/.dockerignore": "*\n!app\napp/**/*.log\n",
            "ctx/app/main.bin": "x",
            "ctx/app/deep/a.log": "x",
            "ctx/notes.bin": "x",
            "elsewhere.log": "x",
        }
        found = look(tmp_path, files, folders=("ctx",))
        assert {path.relative_to(tmp_path).as_posix() for path in found.read.ignored} == {
            "ctx/app/deep/a.log",
            "ctx/notes.bin",
        }

    def test_a_file_used_by_a_compose_file_counts_as_that_uses_it(self, tmp_path: Path) -> None:
        files = {
            "compose.yaml": f"services: {{a: {{build: {{context: ., args: {{B: '{PIN}'}}}}}}}}\n",
            "Dockerfile": self.DOCKERFILE,
        }
        assert look(tmp_path, files).findings == []
        assert look(
            tmp_path, {"Dockerfile": self.DOCKERFILE, "compose.yaml": f"services: {{a: {{image: {PIN}}}}}"}
        ).findings == [("Dockerfile", 2, "image/not-pinned")]


@pytest.mark.parametrize(
    "text",
    [
        "services:\n",
        "services: []\n",
        "services: {a: }\n",
        "services: {a: {command: x}}\n",
        "services: {a: {image: x, extends: 5}}\n",
        "services: {a: {build: [x]}}\n",
        "include: [5]\n",
        "include: [{}]\n",
        "version: '3'\n",
        "- a\n",
        "",
    ],
)
def test_another_shape_is_found(tmp_path: Path, text: str) -> None:
    assert "image/compose-shape" in {rule for _, _, rule in compose(tmp_path, text).findings}


def test_a_yaml_without_services_is_no_compose_file(tmp_path: Path) -> None:
    assert look(tmp_path, {"data.yaml": "image: python:3\n", "include.yml": "include: [x]\n"}).findings == []


class TestLock:
    def test_a_locked_image_is_as_good_as_a_pinned_one(self, tmp_path: Path) -> None:
        lock = lock_bytes({"python:3": LockedImage(PIN)}).decode()
        found = look(tmp_path, {"compose.yaml": "services: {a: {image: 'python:3'}}\n", "compose.lock.yml": lock})
        assert found.findings == []
        (image,) = found.read.images
        assert (image.reference.reference, image.reference.locked) == ("python:3", PIN)
        assert found.read.locks == {tmp_path / "compose.yaml": tmp_path / "compose.lock.yml"}

    def test_a_lock_counts_for_its_own_file_alone(self, tmp_path: Path) -> None:
        lock = lock_bytes({"python:3": LockedImage(PIN)}).decode()
        found = look(
            tmp_path, {"Dockerfile": "FROM python:3\n", "compose.lock.yml": lock, "compose.yaml": "include: []\n"}
        )
        assert found.findings == [("Dockerfile", 1, "image/not-pinned")]

    def test_a_lock_that_is_none_is_found(self, tmp_path: Path) -> None:
        lock = "images:\n  - {reference: a, locked: latest}\n"
        found = look(tmp_path, {"compose.yaml": "services: {a: {image: a}}\n", "compose.lock.yml": lock})
        assert ("compose.lock.yml", 2, "schema/pattern") in found.findings
        assert ("compose.yaml", 1, "image/not-pinned") in found.findings

    def test_names_and_bytes_are_determined(self) -> None:
        sources = ("compose.yaml", "docker-compose.yml", "Dockerfile", "a.dockerfile")
        assert [lock_path(Path(name)).name for name in sources] == [
            "compose.lock.yml",
            "docker-compose.lock.yml",
            "Dockerfile.lock.yml",
            "a.dockerfile.lock.yml",
        ]
        assert lock_bytes({"b": LockedImage("2"), "a": LockedImage("1")}) == lock_bytes(
            {"a": LockedImage("1"), "b": LockedImage("2")}
        )
        assert lock_bytes({"b": LockedImage("2"), "a": LockedImage("1")}).decode().splitlines()[1:] == [
            "schema_version: 1", "images:", "- reference: a", "  locked: '1'", "- reference: b", "  locked: '2'"
        ]  # fmt: skip
