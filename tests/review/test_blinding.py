"""C46: a pack does not say which model, arm or run made an output, whatever the files said that it is made from."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from tests.cli.calling import Caller
from tests.projects import ShapesProject
from tests.review.hostile import ARMS, hostile
from tests.review.packs import PackFolder, export, keys

NO_TIME = (1980, 1, 1, 0, 0, 0)
DATA_URI = re.compile(r'"data:([a-z]+/[a-z0-9]+);base64,([A-Za-z0-9+/=]+)"')


def names(project: ShapesProject) -> set[str]:
    """What no pack may say: runs, arms, models, providers."""
    parts = {part for run in project.run_ids() for part in run.split("--")[:2]}
    return {*project.run_ids(), *parts, *ARMS, "candidat", "arm", "parrot", "echo-maker", "replay", "shape-drawing"}


def all_bytes(pack: PackFolder) -> Iterator[tuple[str, bytes]]:
    """Every byte that leaves the project: member names and times, files, and what data URIs hold."""
    archive = zipfile.ZipFile(pack.archive)
    assert archive.comment == b""
    for member in archive.infolist():
        yield "name", member.filename.encode()
        assert (member.date_time, member.extra, member.comment) == (NO_TIME, b"", b"")
        content = archive.read(member)
        assert content == (pack.folder / Path(member.filename).name).read_bytes()
        yield member.filename, DATA_URI.sub("", content.decode()).encode()
        for media_type, data in DATA_URI.findall(content.decode()):
            yield media_type, base64.b64decode(data)


def said(pack: PackFolder, project: ShapesProject) -> list[tuple[str, str]]:
    """Return which names stand where."""
    found = []
    for place, content in all_bytes(pack):
        low = content.lower()
        found += [(place, name) for name in names(project) if re.search(rb"(?<![a-z])" + re.escape(name.encode()), low)]
    return found


def whole(pack: PackFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (*pack.folder.iterdir(), pack.archive)}


@pytest.fixture
def pictures(tmp_path: Path) -> ShapesProject:
    """The inputs of C46, in three arms that draw in sizes of their own."""
    return hostile(tmp_path / "lab", {"one": "png", "two": "jpeg", "three": "glass"})


def test_c46_no_byte_of_a_pack_says_who_made_what(pictures: ShapesProject, call: Caller) -> None:
    files = [path for path in pictures.eval.glob("runs/*/items/*/artifacts/*")]
    assert {path.name for path in files} == {"arm2_003.png", "arm2_003.jpg"}
    assert all(b"candidate-b" in path.read_bytes() for path in files)

    pack = export(call, pictures)

    assert len(pack.entries) == 9
    assert said(pack, pictures) == []
    assert {entry["outputs"][0]["label"] for entry in pack.entries} == {""}
    assert zipfile.ZipFile(pack.archive).namelist() == [
        f"{pack.name}/{name}" for name in ("README.txt", "responses.csv", "review.html")
    ]


def test_c46_the_search_of_this_test_finds_what_is_there(pictures: ShapesProject, call: Caller) -> None:
    """An artifact whose text chunk survived would be seen, and so would a name in the page."""
    pack = export(call, pictures)
    raw = next(path for path in pictures.eval.glob("runs/*/items/one/artifacts/*")).read_bytes()
    page = pack.folder / "review.html"
    page.write_text(
        page.read_text().replace("</body>", f'"data:image/png;base64,{base64.b64encode(raw).decode()}" arm2')
    )
    with zipfile.ZipFile(pack.archive, "w") as archive:
        archive.writestr(zipfile.ZipInfo("p/review.html", NO_TIME), page.read_bytes())
    assert {place for place, _ in said(pack, pictures)} == {"image/png", "p/review.html"}


def test_c46_order_and_ids_tell_nothing_and_differ_by_reviewer(pictures: ShapesProject, call: Caller) -> None:
    packs = [export(call, pictures, reviewer, "--seed", "5") for reviewer in ("ada", "bo")]
    orders = []
    for pack in packs:
        entries = pack.key["entries"]
        assert list(entries) == pack.ids
        assert all(re.fullmatch(r"e-[0-9a-f]{12}", name) for name in entries)
        orders.append([(entry["run_id"], entry["item"]) for entry in entries.values()])
        assert orders[-1] != sorted(orders[-1]), "not the order of the runs"
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    assert not set(packs[0].ids) & set(packs[1].ids)
    fresh = [export(call, pictures, "ada").key for _ in range(2)]
    assert fresh[0]["seed"] != fresh[1]["seed"]
    assert len(fresh[0]["seed"]) > 30
    assert not set(fresh[0]["entries"]) & set(fresh[1]["entries"])


def test_c46_the_key_stays_outside_the_pack_and_says_everything(pictures: ShapesProject, call: Caller) -> None:
    pack = export(call, pictures)
    key = pack.key
    assert pack.key_file.parent == pictures.eval / "review" / "keys"
    assert not pack.folder.is_relative_to(pictures.eval)
    assert key["seed"] not in pack.page
    assert (key["kind"], key["reviewer"], key["eval"]) == ("review", "ada", "shape-drawing/prompt-wording/replayed")
    for entry in pack.entries:
        told = key["entries"][entry["id"]]
        (file,) = told["files"]
        folder = pictures.eval / "runs" / told["run_id"] / "items" / told["item"] / "artifacts"
        (path,) = folder.iterdir()
        shown = base64.b64decode(entry["outputs"][0]["source"].partition(",")[2])
        assert file["role"] == "render"
        assert file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert file["shown_sha256"] == hashlib.sha256(shown).hexdigest()
        assert Image.open(io.BytesIO(shown)).size == Image.open(path).size
        assert file["remarks"] == entry["outputs"][0]["remarks"]


def test_a_seed_makes_the_same_pack_byte_for_byte(pictures: ShapesProject, call: Caller) -> None:
    first = export(call, pictures, "ada", "--seed", "11")
    before = whole(first)
    key = first.key_file.read_bytes()
    again = export(call, pictures, "ada", "--seed", "11")
    assert whole(again) == before
    assert (again.key_file, again.key_file.read_bytes()) == (first.key_file, key)
    assert len(keys(pictures)) == 1
    other = export(call, pictures, "ada", "--seed", "12")
    assert other.name != first.name
    assert other.name.startswith("ada-002-")


def test_what_a_text_says_itself_is_shown_and_told(tmp_path: Path, call: Caller) -> None:
    """Outputs and inputs are not scrubbed; whoever hands the pack over is warned, entry by entry."""
    items = {"boast": "I, Parrot, am the best.", "plain": "A farm.", "told": "Nothing."}
    inputs = {"boast": "Who are you?", "plain": "Draw a farm.", "told": "Draw it as candidate-a would."}
    project = hostile(tmp_path / "lab", items, ["source"], inputs, arms=("candidate-a", "candidate-b"))
    done = call(project, "review", "export", "replayed", "--reviewer", "ada")
    assert done.code == 0, done.err
    pack = PackFolder(next((project.root / "build/review").glob("*/*/*/ada-*/")), keys(project)[0])
    told = {item: [name for name, entry in pack.key["entries"].items() if entry["item"] == item] for item in items}
    warnings = done.err.splitlines()
    assert len(warnings) == 2
    brand = next(line for line in warnings if "'parrot', the name of a model" in line)
    arm = next(line for line in warnings if "'candidate-a', the name of an arm" in line)
    assert "the output says" in brand
    assert all(name in brand for name in told["boast"])
    assert "the input says" in arm
    assert all(name in arm for name in told["told"])
    assert not any(name in done.err for name in told["plain"])
    assert {entry["outputs"][0]["text"] for entry in pack.entries} == set(items.values())
    data = json.dumps([entry for entry in pack.entries if entry["id"] in told["plain"]])
    assert not re.search("parrot|candidate|replay", data, re.IGNORECASE)


def test_sounds_lose_their_containers_words_or_a_warning_says_so(tmp_path: Path, call: Caller) -> None:
    project = hostile(tmp_path / "lab", {"cut": "sound", "kept": "tagged"}, ["speech"], arms=("candidate-b",))
    done = call(project, "review", "export", "replayed", "--reviewer", "ada")
    pack = PackFolder(next((project.root / "build/review").glob("*/*/*/ada-*/")), keys(project)[0])
    names = {entry["item"]: name for name, entry in pack.key["entries"].items()}
    shown = {entry["id"]: base64.b64decode(entry["outputs"][0]["source"].partition(",")[2]) for entry in pack.entries}
    assert b"candidat" not in shown[names["cut"]]
    assert shown[names["cut"]].endswith(b"data\x04\0\0\0\x80\x81\x80\x7f")
    assert b"candidate-b" in shown[names["kept"]]
    warnings = [line for line in done.err.splitlines() if names["kept"] in line]
    assert len(warnings) == 2, done.err
    assert any("its container may say what made it" in line for line in warnings)
    assert any("'candidate-b', the name of an arm" in line for line in warnings)
    assert names["cut"] not in done.err


def test_files_of_an_input_are_shown_without_their_names(tmp_path: Path, call: Caller) -> None:
    """They are normalised as outputs are, and the key has both digests."""
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "candidate-b")
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20), (9, 9, 9)).save(buffer, "PNG", pnginfo=info)
    assets = {"arm2_ref.png": buffer.getvalue(), "about.txt": b"A photograph.", "raw.bin": b"\x00\x01"}
    project = hostile(tmp_path / "lab", {"one": "png"}, arms=("candidate-b",), assets=assets)
    pack = export(call, project)
    (entry,) = pack.entries
    text, picture, about, raw = entry["inputs"]
    assert (text["label"], text["text"]) == ("", "ask one")
    assert [one["label"] for one in (picture, about, raw)] == ["file 1", "file 2", "file 3"]
    shown = base64.b64decode(picture["source"].partition(",")[2])
    assert Image.open(io.BytesIO(shown)).size == (30, 20)
    assert b"candidate" not in shown
    assert about["text"] == "A photograph."
    assert (raw["kind"], raw["remarks"]) == ("nothing", ["a file of 2 bytes that a page cannot show"])
    assert said(pack, project) == []
    files = pack.key["entries"][entry["id"]]["inputs"]
    assert [one["sha256"] for one in files] == [hashlib.sha256(content).hexdigest() for content in assets.values()]
    assert files[0]["shown_sha256"] == hashlib.sha256(shown).hexdigest()
