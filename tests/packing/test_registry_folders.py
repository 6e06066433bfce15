"""A registry is read as the files it is: nothing of it vanishes, leads elsewhere, or says what its payload does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tamesu.cli.main import cli
from tests.cli.calling import Caller, one_line
from tests.packing.cases import ARCHIVE, published
from tests.projects import ShapesProject, fresh

VERSION = Path("acme/shapes/1.0.0")
CANARY = "what nobody may print"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[ShapesProject, Path]:
    """A project and a registry that its case is published in; tests work on copies of the registry."""
    folder = tmp_path_factory.mktemp("made")
    project, registry = published(fresh(folder / "shapes")), folder / "registry"
    registry.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        _run(project, patch, "pack", "shape-drawing")
        _run(project, patch, "publish", ARCHIVE.as_posix(), "--registry", str(registry))
    return project, registry


def _run(project: ShapesProject, patch: pytest.MonkeyPatch, *arguments: str) -> None:
    patch.chdir(project.root)
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output


@pytest.fixture
def registry(made: tuple[ShapesProject, Path], tmp_path: Path) -> Path:
    (tmp_path / "elsewhere.txt").write_text(f"{CANARY}\n")
    return Path(shutil.copytree(made[1], tmp_path / "registry"))


@pytest.fixture
def built(made: tuple[ShapesProject, Path], registry: Path, call: Caller) -> Callable[[], str]:
    """Build a site of the registry, which must be refused, and return the line that says why."""

    def build() -> str:
        out = registry.with_name("site")
        line = one_line(call(made[0], "site", "build", "--registry", str(registry), "--output", str(out)), 1)
        assert not out.exists() and CANARY not in line
        return line

    return build


def linked(path: Path) -> None:
    """Put a link in the place of a file or folder, to the same elsewhere."""
    moved = path.rename(path.with_name(f".moved-{path.name}"))
    path.symlink_to(moved)


@pytest.mark.parametrize("place", ["acme", "acme/shapes", VERSION, VERSION / "payload", VERSION / "entry.yml",
                                   "publishers", "publishers/acme.yml"])  # fmt: skip
def test_a_link_in_a_registry_is_refused(
    place: str | Path, registry: Path, built: Callable[[], str], made: tuple[ShapesProject, Path], call: Caller
) -> None:
    linked(registry / place)
    says = f"{registry / place}: is a link; put what it leads to in its place"
    assert built().startswith(says)
    line = one_line(call(made[0], "publish", ARCHIVE.as_posix(), "--registry", str(registry)), 1)
    assert line.startswith(says)


@pytest.mark.parametrize("place", ["publishers/acme.yml", VERSION / "entry.yml"])
def test_what_a_link_leads_to_is_not_printed(place: str | Path, registry: Path, built: Callable[[], str]) -> None:
    (registry / place).unlink()
    (registry / place).symlink_to(registry.with_name("elsewhere.txt"))
    assert "is a link" in built()


def test_a_link_that_leads_nowhere_does_not_vanish(registry: Path, built: Callable[[], str]) -> None:
    (registry / "acme/shapes/1.0.1").symlink_to("nowhere")
    assert built().startswith(f"{registry}/acme/shapes/1.0.1: is a link")


@pytest.mark.parametrize("also", ["nothing", "payload"])
def test_a_version_without_its_entry_does_not_vanish(also: str, registry: Path, built: Callable[[], str]) -> None:
    (registry / VERSION / "entry.yml").unlink()
    if also == "payload":
        (registry / VERSION).rename(registry / "acme/shapes/latest")
        assert built().startswith(f"{registry}/acme/shapes/latest: holds no entry.yml; restore it")
    else:
        shutil.rmtree(registry / VERSION / "payload")
        assert built().startswith(f"{registry / VERSION}: holds no entry.yml; restore it")


def test_what_is_no_part_of_a_registry_is_passed_by(
    registry: Path, made: tuple[ShapesProject, Path], call: Caller
) -> None:
    for folder in ("docs/guide/images", ".git/refs/1.0.0", "acme/.old/1.0.0", "acme/shapes/.staged"):
        (registry / folder).mkdir(parents=True)
    (registry / "README.md").write_text("# A registry\n")
    (registry / "LICENSE").symlink_to("README.md")
    out = registry.with_name("site")
    assert call(made[0], "site", "build", "--registry", str(registry), "--output", str(out)).code == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("licence", "Public domain"),
        ("authors", ["Mallory"]),
        ("tags", []),
        ("data_review", {"reviewer": "Bea Example", "date": "2026-02-01", "statement": "Nobody looked."}),
        ("forked_from", {"publisher": "b", "name": "c", "version": "1.0.0", "content_digest": "0" * 64}),
    ],
)
def test_an_entry_says_what_its_payload_says(field: str, value: Any, registry: Path, built: Callable[[], str]) -> None:
    alter(registry / VERSION, {field: value})
    assert built() == (
        f"{registry / VERSION}: entry.yml and payload/publication.yml differ in `{field}`; restore the registry"
    )


@pytest.mark.parametrize("field", ["publisher", "name", "version"])
def test_an_entry_that_was_moved_with_its_names_is_not_that_of_its_payload(
    field: str, registry: Path, built: Callable[[], str]
) -> None:
    other = {"publisher": "acme", "name": "shapes", "version": "1.0.0", field: "2.0.0"}
    if field != "version":
        other[field] = "evil"
    moved = registry / other["publisher"] / other["name"] / other["version"]
    moved.parent.mkdir(parents=True, exist_ok=True)
    (registry / VERSION).rename(moved)
    (registry / "publishers/evil.yml").write_text("publisher: evil\nowners: [a]\n")
    alter(moved, {field: other[field]})
    assert built() == f"{moved}: entry.yml and payload/publication.yml differ in `{field}`; restore the registry"


def test_a_profile_that_the_payload_is_not_of_is_refused(registry: Path, built: Callable[[], str]) -> None:
    alter(registry / VERSION, {"profile": "report-only"})
    assert "its profile is report-only, but its payload holds no view-only.yml" in built()


@pytest.mark.parametrize("time", ["9999-99-99T99:99:99Z", "2026-02-31T12:00:00Z", "2026-01-31T24:01:00Z"])
def test_a_time_that_never_was_is_refused(time: str, registry: Path, built: Callable[[], str]) -> None:
    entry = registry / VERSION / "entry.yml"
    said = yaml.safe_load(entry.read_text())
    entry.write_text(yaml.safe_dump({**said, "published_at": time}))
    assert f"schema/format 'published_at': '{time}' is in no calendar" in built()


def alter(version: Path, fields: dict[str, Any]) -> None:
    entry = version / "entry.yml"
    said = yaml.safe_load(entry.read_text())
    said["package"] |= fields
    entry.write_text(yaml.safe_dump(said))
