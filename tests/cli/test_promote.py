"""`tamesu promote`: accepted pictures of a closed eval become a dataset; nothing else does, and nothing is replaced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tamesu.edge.documents.eval_reader import read_eval
from tamesu.edge.store.paths import Project
from tamesu.stages import promote as stage
from tamesu.workflow_files import workflow_folder
from tests.cli.calling import Caller, evidence, one_line
from tests.product_images import CASE, DATASETS, EVAL, ProductImages, closed
from tests.projects import fresh

NAME = "product-shots/written-details/replayed"
SCHEMA = json.loads((workflow_folder() / "schemas/promotion.schema.json").read_text(encoding="utf-8"))
V2 = DATASETS / "products-v2"
ACCEPTED = [
    ("name-only", "bottle"),
    ("written-details", "kettle"),
    ("written-details", "mug"),
    ("written-details", "bottle"),
    ("written-details", "desk-lamp"),
    ("written-details", "backpack"),
]
FOLLOWING = """\
name: following
question: Does the picture help?
status: active
task: image_generation
dataset: ../../../../datasets/products-v2/dataset.yml
defaults:
  budget_usd: 1.00
  parameters: {recordings: recordings.jsonl}
arms: [{id: name-only, prompts: {user: ask.md.j2}}]
runs: [{provider: replay, model: painter-small}]
evaluation: {mechanical: [decodable_image]}
metrics: {primary: generation_success_rate}
"""


@pytest.fixture
def images(tmp_path: Path) -> ProductImages:
    return closed(tmp_path / "product-images")


def files(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, what is no evidence apart."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".tamesu" not in path.parts)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def promotion(project: ProductImages, folder: Path = V2) -> dict[str, Any]:
    return yaml.safe_load(project.path(folder / "promotion.yml").read_text())


def source_of(item: dict[str, Any]) -> tuple[str, str]:
    return item["run_id"].split("--")[1], item["item"]


def lines(project: ProductImages, folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in project.path(folder / "items.jsonl").read_text().splitlines()]


# --- what becomes of it


def test_every_accepted_picture_becomes_an_item_with_its_provenance(images: ProductImages, call: Caller) -> None:
    before = files(images.root)
    done = call(images, "promote", "replayed")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{NAME}: 6 pictures of 2 runs promoted: {V2.as_posix()} (selection none)",
        "  recorded: 6 of 6 pictures are replayed recordings, not what a live model returned",
        "next: an eval of this case asks it with `dataset: ../../../../datasets/products-v2/dataset.yml`",
    ]
    record = promotion(images)
    assert list(Draft202012Validator(SCHEMA).iter_errors(record)) == []
    assert [source_of(item) for item in record["items"]] == ACCEPTED
    for item in record["items"]:
        copy, source = images.path(V2 / item["asset"]), images.path(item["artifact"])
        assert copy.read_bytes() == source.read_bytes()
        assert (hashlib.sha256(copy.read_bytes()).hexdigest(), copy.stat().st_size) == (item["sha256"], item["size"])
        assert (item["recorded"], item["accepted_by"]["judgments"]) == (True, {})  # the judge only screens
        assert [check["name"] for check in item["accepted_by"]["checks"]][:2] == ["decodable_image", "non_uniform"]
        assert [name.split("@")[0] for name in item["accepted_by"]["reviews"]] == ["ada"]
    (closing,) = yaml.safe_load((images.eval / "closing.yml").read_text())["closings"]
    assert (record["eval"], record["closed"], record["closing"]) == (NAME, closing["time"], closing["evidence"])
    assert record["evidence"] in (images.eval / "evaluation-report.md").read_text()
    assert record["counts"] == {"planned": 18, "accepted": 6, "undecided": 0, "promoted": 6}
    # Beside the new folder nothing changed, and nothing unfinished is left.
    after = files(images.root)
    assert {path for path in after if path not in before} == {
        f"{V2.as_posix()}/{name}" for name in files(images.path(V2))
    }
    assert {path: after[path] for path in before} == before


def test_the_new_dataset_is_clean_and_an_eval_over_it_plans_with_its_pictures(
    images: ProductImages, call: Caller
) -> None:
    call(images, "promote", "replayed")
    assert call(images, "lint").out == "1 eval(s): no errors\n"
    manifest = yaml.safe_load(images.path(V2 / "dataset.yml").read_text())
    assert (manifest["name"], manifest["items_from"]) == ("products-v2", "items.jsonl")
    assert f"6 accepted pictures of {NAME}, closed on " in manifest["description"]
    assert "They are replayed recordings, not what a live model returned." in manifest["description"]
    following = images.path(EVAL.parent / "following/eval.yml")
    following.parent.mkdir()
    following.write_text(FOLLOWING)
    following.with_name("ask.md.j2").write_text("Put {{ item.id }} on a shelf.\n")
    record = promotion(images)
    header = {"tamesu_recording": 1, "label": "nothing, for a test"}
    answers = [{"item": item["id"], "turns": [{"text": "no"}]} for item in record["items"]]
    following.with_name("recordings.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in (header, *answers)))
    planned = call(images, "plan", "following", "--json")
    assert (planned.code, planned.err) == (0, "")
    (plan,) = json.loads(planned.out)
    assert plan["blockers"] == []
    (run,) = plan["runs"]
    assert (run["state"], run["planned"]) == ("owed", 6)
    here = Project(images.root)
    matrix = read_eval(here, here.find_ref("following")).matrix
    assert matrix is not None
    assert dict(matrix.runs[0].assets) == {item["id"]: (item["sha256"],) for item in record["items"]}


def test_first_pass_takes_one_picture_of_each_product_under_its_own_id(images: ProductImages, call: Caller) -> None:
    done = call(images, "promote", "replayed", "--selection", "first_pass", "--dataset", "page-pictures")
    assert done.code == 0
    assert "  1 accepted picture left out: of each item only the first was asked for" in done.out.splitlines()
    record = promotion(images, DATASETS / "page-pictures")
    assert [source_of(item) for item in record["items"]] == [one for one in ACCEPTED if one != ACCEPTED[3]]
    assert (record["selection"], record["declared_selection"]) == ("first_pass", "none")
    items = lines(images, DATASETS / "page-pictures")
    assert [(item["id"], item["assets"]) for item in items[:2]] == [
        ("bottle", ["assets/bottle.png"]),
        ("kettle", ["assets/kettle.png"]),
    ]
    assert items[0]["input"] == {"product": "drinking bottle", "colour": "blue", "detail": "a black cap"}
    assert items[0]["metadata"] == {"shelf": "outdoor"}
    assert call(images, "lint").out == "1 eval(s): no errors\n"


def test_what_eval_yml_declares_is_taken_when_nothing_is_said(images: ProductImages, call: Caller) -> None:
    images.edit(EVAL / "eval.yml", "selection: none", "selection: first_pass")
    assert "policy changed after it was closed" in one_line(call(images, "promote", "replayed"), 2)
    assert call(images, "close", "replayed").code == 0
    assert "5 pictures of 2 runs promoted" in call(images, "promote", "replayed").out
    assert promotion(images)["declared_selection"] == "first_pass"


def test_ids_of_several_pictures_of_one_item_tell_no_model_and_no_arm(images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    ids = [item["id"] for item in lines(images, V2)]
    assert len(set(ids)) == 6
    assert sum(name.startswith("bottle-") for name in ids) == 2
    written = images.path(V2 / "items.jsonl").read_text() + images.path(V2 / "dataset.yml").read_text()
    assert all(word not in written for word in ("painter-small", "name-only"))


def test_a_dry_run_says_what_would_be_and_writes_nothing(images: ProductImages, call: Caller) -> None:
    before = files(images.root)
    done = call(images, "promote", "replayed", "--dry-run")
    assert (done.code, done.err) == (0, "")
    first = f"{NAME}: 6 pictures of 2 runs would be promoted: {V2.as_posix()} (selection none)"
    assert done.out.splitlines()[0] == first
    assert files(images.root) == before


def test_json_holds_what_promotion_yml_does(images: ProductImages, call: Caller) -> None:
    view = json.loads(call(images, "promote", "replayed", "--json").out)
    assert {name: view[name] for name in ("ending", "dataset", "folder")} == {
        "ending": "promoted",
        "dataset": "products-v2",
        "folder": V2.as_posix(),
    }
    assert view["promotion"] == promotion(images)


def test_the_same_evidence_promoted_in_the_same_way_yields_the_same_bytes(images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    call(images, "promote", "replayed", "--dataset", "twins")
    one, twin = files(images.path(V2)), files(images.path(DATASETS / "twins"))
    assert {name for name in one | twin if one.get(name) != twin.get(name)} == {"dataset.yml"}  # it holds its name


# --- nothing is replaced


def test_the_same_promotion_again_writes_nothing_and_another_one_is_the_next_version(
    images: ProductImages, call: Caller
) -> None:
    call(images, "promote", "replayed")
    before = files(images.root)
    assert f"6 pictures of 2 runs promoted already: {V2.as_posix()}" in call(images, "promote", "replayed").out
    assert files(images.root) == before
    call(images, "promote", "replayed", "--selection", "first_pass")
    assert len(lines(images, DATASETS / "products-v3")) == 5
    (picture, *_) = images.path(V2 / "assets").iterdir()
    picture.write_bytes(b"another one")
    assert "promoted: cases/product-shots/datasets/products-v4 (" in call(images, "promote", "replayed").out
    assert picture.read_bytes() == b"another one"


@pytest.mark.parametrize("content", [b"", b"eval: 3\n", b"\xff", b"a: [", b"items: [{asset: ../../../../secret}]\n"])
def test_a_damaged_promotion_of_another_dataset_is_passed_over(
    content: bytes, images: ProductImages, call: Caller
) -> None:
    images.path(DATASETS / "products-v1/promotion.yml").write_bytes(content)
    assert f"promoted: {V2.as_posix()} (" in call(images, "promote", "replayed").out
    assert images.path(DATASETS / "products-v1/promotion.yml").read_bytes() == content


@pytest.mark.parametrize("name", ["products-v1", "products-v2"])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_name_that_is_taken_is_refused(name: str, more: tuple[str, ...], images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    before = files(images.root)
    line = one_line(call(images, "promote", "replayed", "--dataset", name, *more), 2)
    assert line.startswith(f"{DATASETS.as_posix()}/{name}: exists already and is not overwritten; choose another")
    assert line.endswith("leave it out for products-v3")
    assert files(images.root) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dataset", "Products V2"), "'Products V2' cannot name a dataset: use lowercase letters, digits and single"),
        (("--dataset", "../elsewhere"), "cannot name a dataset"),
        (("--dataset", "con"), "is a device's name on some systems"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    arguments: tuple[str, ...], said: str, images: ProductImages, call: Caller
) -> None:
    assert said in one_line(call(images, "promote", "replayed", *arguments), 2)


def test_an_unknown_selection_says_which_there_are(images: ProductImages, call: Caller) -> None:
    done = call(images, "promote", "replayed", "--selection", "first")
    assert done.code == 2
    assert "'none', 'first_pass'. Did you mean first_pass?" in done.err


def test_a_folder_of_datasets_that_leads_elsewhere_is_refused(images: ProductImages, call: Caller) -> None:
    outside = images.root.parent / "outside"
    outside.mkdir()
    images.path(DATASETS).rename(images.path(CASE / "inputs"))
    images.path(DATASETS).symlink_to(outside)
    images.edit(EVAL / "eval.yml", "/datasets/products-v1/", "/inputs/products-v1/")
    line = one_line(call(images, "promote", "replayed"), 2)
    assert line == f"{DATASETS.as_posix()}: leads out of the project; keep every file below its folder"
    assert list(outside.iterdir()) == []


# --- only what is closed, and only what was recorded


def reopened(project: ProductImages) -> None:
    project.edit(EVAL / "eval.yml", "status: complete", "status: active")


def never_closed(project: ProductImages) -> None:
    (project.eval / "closing.yml").unlink()


def another_policy(project: ProductImages) -> None:
    project.edit(EVAL / "eval.yml", "width: 320", "width: 100")


def another_item(project: ProductImages) -> None:
    project.edit(DATASETS / "products-v1/dataset.yml", "dark green", "light green")


def a_review_less(project: ProductImages) -> None:
    next(project.eval.glob("runs/*/items/kettle/reviews/*.yml")).unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (never_closed, f"was never closed; `tamesu close {NAME}` first"),
        (reopened, f"opened again since; `tamesu close {NAME}` first"),
        (another_policy, "evidence or policy changed after it was closed"),
        (another_item, "evidence or policy changed after it was closed"),
        (a_review_less, "evidence or policy changed after it was closed"),
    ],
)
def test_only_a_closing_that_stands_is_promoted_from(
    change: Callable[[ProductImages], None], said: str, images: ProductImages, call: Caller
) -> None:
    change(images)
    assert said in one_line(call(images, "promote", "replayed"), 2)
    assert not images.path(V2).exists()


def altered(picture: Path) -> None:
    picture.write_bytes(picture.read_bytes() + b"x")


def missing(picture: Path) -> None:
    picture.unlink()


def other(picture: Path) -> None:
    picture.write_bytes(bytes(picture.stat().st_size))


def accepted_picture(project: ProductImages) -> Path:
    (found,) = project.eval.glob("runs/*--written-details--*/items/mug/artifacts/output-0001.png")
    return found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (altered, "items/mug/artifacts/output-0001.png: differs"),
        (missing, "items/mug/artifacts/output-0001.png: is mi"),
    ],
)
def test_a_picture_that_is_not_what_was_recorded_refuses(
    change: Callable[[Path], None], said: str, images: ProductImages, call: Caller
) -> None:
    change(accepted_picture(images))
    assert said in one_line(call(images, "promote", "replayed"), 1)
    assert not images.path(V2).exists()


@pytest.mark.parametrize(
    ("change", "said"), [(altered, "cannot be read"), (missing, "cannot be read"), (other, "is not what its result")]
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_picture_that_changes_after_it_was_verified_refuses_and_leaves_nothing(
    change: Callable[[Path], None],
    said: str,
    more: tuple[str, ...],
    images: ProductImages,
    call: Caller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digest = stage.evidence_digest

    def changing(*arguments: Any) -> str:
        change(accepted_picture(images))
        return digest(*arguments)

    monkeypatch.setattr(stage, "evidence_digest", changing)
    line = one_line(call(images, "promote", "replayed", *more), 1)
    assert f"/items/mug/artifacts/output-0001.png: {said}" in line
    assert line.endswith("restore it from version control, or rebuild it with `tamesu rescore`")
    assert [path.name for path in images.path(DATASETS).iterdir()] == ["products-v1"]


def test_where_nothing_was_accepted_it_ends_with_1_and_writes_nothing(images: ProductImages, call: Caller) -> None:
    images.edit(EVAL / "eval.yml", "width: 320", "width: 4000")
    assert call(images, "close", "replayed").code == 0
    line = one_line(call(images, "promote", "replayed"), 1)
    assert line == f"{NAME}: none of 18 outputs was accepted; evaluation-report.md says why"
    assert [path.name for path in images.path(DATASETS).iterdir()] == ["products-v1"]


def test_outputs_whose_review_was_waived_stay_out_and_are_told(images: ProductImages, call: Caller) -> None:
    a_review_less(images)
    assert call(images, "close", "replayed", "--allow-incomplete-review").code == 0
    told = call(images, "promote", "replayed").out.splitlines()
    assert "  1 output left out: judgement was waived, so nothing decided" in told
    assert promotion(images)["counts"]["undecided"] == 1


def test_another_task_is_refused(tmp_path: Path, call: Caller) -> None:
    shapes = fresh(tmp_path / "shapes")
    line = one_line(call(shapes, "promote", "replayed"), 2)
    assert line.endswith("its task is artifact_bundle; only pictures of image_generation are promoted")


def test_a_case_from_elsewhere_is_promoted_as_no_code_of_it_runs(images: ProductImages, call: Caller) -> None:
    origin = {"content_digest": "0" * 64, "source": "a colleague", "unpacked_at": "2026-01-31T12:00:00Z"}
    images.path(CASE / ".untrusted-origin").write_text(yaml.safe_dump(origin))
    before = evidence(images)
    assert call(images, "promote", "replayed").code == 0
    assert evidence(images) == before


# --- what was altered since


def in_items(old: str, new: str) -> Callable[[Path], object]:
    """Return an edit of items.jsonl."""

    def change(folder: Path) -> None:
        path = folder / "items.jsonl"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    return change


def first_picture(folder: Path) -> Path:
    return next(iter(sorted((folder / "assets").iterdir())))


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        (in_items('"blue"', '"red"'), "items.jsonl", "is not what was promoted"),
        (in_items('"outdoor"', '"indoor"'), "items.jsonl", "is not what was promoted"),
        (in_items('{"id": "bottle-', '{"id": "flask-'), "items.jsonl", "is gone"),
        (lambda folder: first_picture(folder).write_bytes(b"\x89PNG\r\n\x1a\nother"), "assets/", "is not the picture"),
        (lambda folder: first_picture(folder).unlink(), "items.jsonl", "or it is missing"),
    ],
    ids=["input", "metadata", "id", "picture", "missing picture"],
)
def test_what_was_altered_since_is_found_by_lint_and_told_by_promote(
    change: Callable[[Path], object], where: str, said: str, images: ProductImages, call: Caller
) -> None:
    call(images, "promote", "replayed")
    change(images.path(V2))
    before = files(images.path(V2))
    linted = call(images, "lint")
    assert linted.code == 1
    (line, *_) = [line for line in linted.out.splitlines() if "dataset/not-as-promoted" in line]
    assert line.startswith(f"{V2.as_posix()}/{where}")
    assert any(said in line for line in linted.out.splitlines() if "dataset/not-as-promoted" in line)
    told = call(images, "promote", "replayed")
    assert told.code == 0
    assert "promoted already" not in told.out
    assert f"  altered since it was promoted: {V2.as_posix()}/" in told.out
    assert "promoted: cases/product-shots/datasets/products-v3 (" in told.out
    assert files(images.path(V2)) == before


def test_an_item_of_an_altered_set_is_found_by_lint_of_the_eval_that_asks_it(
    images: ProductImages, call: Caller
) -> None:
    call(images, "promote", "replayed")
    following = images.path(EVAL.parent / "following/eval.yml")
    following.parent.mkdir()
    following.write_text(FOLLOWING)
    following.with_name("ask.md.j2").write_text("Put {{ item.id }} on a shelf.\n")
    following.with_name("recordings.jsonl").write_text('{"tamesu_recording": 1, "label": "nothing, for a test"}\n')
    assert "not-as-promoted" not in call(images, "lint", "following").out
    in_items('"blue"', '"red"')(images.path(V2))
    assert "not-as-promoted" in call(images, "lint", "following").out


def test_another_order_of_keys_is_no_alteration(images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    path = images.path(V2 / "items.jsonl")
    path.write_text("".join(f"{json.dumps(one, sort_keys=True)}\r\n" for one in lines(images, V2)))
    assert call(images, "lint").out == "1 eval(s): no errors\n"
    assert "promoted already" in call(images, "promote", "replayed").out


def test_a_promotion_of_an_early_version_is_known_again(images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    path = images.path(V2 / "promotion.yml")
    early = promotion(images)
    for item in early["items"]:
        del item["content"]
    path.write_text(yaml.safe_dump(early, sort_keys=False))
    assert call(images, "lint").out == "1 eval(s): no errors\n"
    assert "promoted already" in call(images, "promote", "replayed").out
    in_items('"blue"', '"red"')(images.path(V2))
    assert "altered since it was promoted" in call(images, "promote", "replayed").out


def test_a_promotion_that_cannot_be_read_is_found_by_lint(images: ProductImages, call: Caller) -> None:
    call(images, "promote", "replayed")
    images.path(V2 / "promotion.yml").write_text("eval: 3\n")
    assert f"{V2.as_posix()}/promotion.yml:1:1: error dataset/not-as-promoted" in call(images, "lint").out
