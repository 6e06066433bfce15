"""What a reviewer returns is foreign: whatever the file holds, it is refused whole, and nothing else happens."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.packages.archives import hostile, member
from tests.packages.snapshots import snapshot
from tests.projects import ShapesProject
from tests.review.packs import NAME, PackFolder, export, records, responses, take_in, write
from tests.shared import banked

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>fetch('http://198.51.100.1/')</script></svg>"
HTML = b"<!doctype html><script>document.title = 'owned'</script>"


def _zip(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def _laughs(levels: int) -> bytes:
    lines = ["pack: ada-001", "a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return ("\n".join([*lines, f"reviews: *a{levels - 1}"]) + "\n").encode()


def _entry(text: str) -> bytes:
    return f"pack: PACK\nreviews:\n  - entry: {text}\n    answers: {{objects: {{passed: true}}}}\n".encode()


# What a file is called and holds (PACK stands for the pack's name), and the rule that refuses it.
RETURNS: dict[str, tuple[str, bytes, str]] = {
    "a zip of a pack": ("pack.zip", _zip(("responses.yml", b"pack: a\n")), "yaml/encoding"),
    "a zip with a way out": ("responses.yml", _zip(("../../out.yml", b"x")), "yaml/encoding"),
    "a zip of zeros": ("pack.zip", _zip(("responses.yml", bytes(20 << 20))), "yaml/encoding"),
    "a zip as a sheet": ("responses.csv", _zip(("a.csv", b"pack;entry\n")), "responses/"),
    "a tar with a way out": ("responses.tar.gz", hostile(member("../../out", b"x")), "yaml/encoding"),
    "a bomb": ("responses.yml.gz", gzip.compress(bytes(20 << 20)), "yaml/encoding"),
    "a page": ("review.html", HTML, "schema/type"),
    "a page as a sheet": ("review.csv", HTML, "responses/"),
    "a drawing with a script": ("drawing.svg", SVG, "schema/type"),
    "a drawing as a sheet": ("drawing.csv", SVG, "responses/"),
    "a tag": ("responses.yml", b"pack: !!python/object/apply:os.system ['touch owned']\nreviews: []\n", "yaml/tag"),
    "a tag of a reviewer": ("responses.yml", b"!reviews {pack: a, reviews: []}\n", "yaml/tag"),
    "many aliases": ("responses.yml", _laughs(9), "yaml/"),
    "itself": ("responses.yml", b"pack: a\nreviews: &r [*r]\n", "yaml/"),
    "deep nesting": ("responses.yml", b"pack: a\nreviews: " + b"[" * 50_000, "yaml/"),
    "too large": ("responses.yml", b"#" * (8 << 20) + b"##", "cannot be read"),
    "NUL": ("responses.yml", b"pack: a\0b\nreviews: []\n", "yaml/encoding"),
    "another encoding": ("responses.yml", "pack: a\n".encode("utf-16"), "yaml/encoding"),
    "an escape sequence": ("responses.yml", b'pack: "\x1b]0;owned\x07"\nreviews: []\n', "yaml/encoding"),
    "an escape sequence that is spelled": (
        "responses.yml",
        _entry('"\\e[2J\\e]0;owned\\a"'),
        "schema/pattern",
    ),
    "a path as a pack": (
        "responses.yml",
        b"pack: ../../keys/ada\nreviews: [{entry: e, answers: {}}]\n",
        "schema/pattern",
    ),
    "a path as an entry": ("responses.yml", _entry("../../../../out"), "schema/pattern"),
    "the prototype": ("responses.yml", _entry("__proto__"), "schema/pattern"),
    "a reviewer of his own": (
        "responses.yml",
        b"pack: PACK\nreviewer: ../../out\nreviews: [{entry: e, answers: {}}]\n",
        "schema/additionalProperties",
    ),
    "a time of his own": (
        "responses.yml",
        b"pack: PACK\ntime: '../../out'\nreviews: [{entry: e, answers: {}}]\n",
        "schema/additionalProperties",
    ),
    "a field twice": ("responses.yml", b"pack: PACK\npack: PACK\nreviews: []\n", "yaml/"),
    "two documents": ("responses.yml", b"pack: PACK\nreviews: []\n---\npack: PACK\n", "yaml/"),
    "a sheet without columns": ("responses.csv", b"=cmd|' /C calc'!A0\n", "responses/"),
    "a sheet with one huge cell": ("responses.csv", b'pack,entry\n"' + b"x" * (1 << 20), "responses/"),
}


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[ShapesProject, PackFolder]:
    """A project that waits for the answers to a pack; no test changes it."""
    project = banked(tmp_path_factory.mktemp("waiting") / "shapes")
    as_command: Callable[..., object] = lambda place, *arguments: place.tamesu(*arguments)  # noqa: E731
    return project, export(as_command, project)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", RETURNS)
def test_c37_c49_a_hostile_return_is_refused_and_changes_nothing(
    name: str, waiting: tuple[ShapesProject, PackFolder], tmp_path: Path, call: Caller
) -> None:
    project, pack = waiting
    called, content, rule = RETURNS[name]
    file = tmp_path / called
    file.write_bytes(content.replace(b"PACK", pack.name.encode()))
    around = snapshot(tmp_path)
    before = {path: what for path, what in snapshot(project.root).items() if not path.startswith(".tamesu")}
    done = take_in(call, project, file)
    assert done.code == (2 if rule == "cannot be read" else 1), done.out + done.err
    assert "Traceback" not in done.out + done.err
    told = (done.out + done.err).splitlines()
    assert any(rule in line for line in told), told
    assert all(line.isprintable() for line in told)
    after = {path: what for path, what in snapshot(project.root).items() if not path.startswith(".tamesu")}
    assert after == before
    assert snapshot(tmp_path) == around


def test_active_text_in_a_note_is_text_on_every_page(banked_shapes: ShapesProject, call: Caller) -> None:
    pack = export(call, banked_shapes)
    given = responses(pack)
    active = "<script>document.title='owned'</script><img src=x onerror=alert(1)> [x](javascript:alert(1))"
    first = given["reviews"][0]
    first["note"] = active
    first["answers"]["objects"] = {"passed": False, "reason": "object-hidden", "note": f"{active}\x1b]0;owned\x07"}
    assert take_in(call, banked_shapes, write(banked_shapes.root / "r.yml", given)).code == 0
    assert len(records(banked_shapes)) == len(pack.ids)
    for command in ("status", "review status", "report replayed", "present shape-drawing"):
        done = call(banked_shapes, *command.split())
        assert done.code == 0
        assert "\x1b" not in done.out
    call(banked_shapes, "review", "export", NAME, "--reviewer", "bo", "--all")
    pages = list(banked_shapes.path("build").rglob("*.html"))
    assert len(pages) >= 3
    for page in pages:
        text = page.read_text()
        assert "<script>document.title" not in text, page
        assert "<img src=x" not in text, page
        assert 'href="javascript:' not in text, page
