"""Site: the pages of a registry as plain files, from payloads that verify, and checked again wherever they lie."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, Refused, UsageError, shown
from tamesu.base.model.manifest import FileDigest
from tamesu.base.model.package import PUBLICATION, SUFFIX, Publisher, RegistryEntry
from tamesu.core.packages.inventory import content_digest
from tamesu.core.packages.publisher_names import PUBLISHERS
from tamesu.core.report.site import ShownVersion, site_pages, version_place
from tamesu.core.report.site_check import page_problems
from tamesu.core.report.study.case import case_page, pager_script
from tamesu.edge.packages.bound_record import unlike_files
from tamesu.edge.packages.extraction import written_files
from tamesu.edge.packages.registry import Registry, Version, read_entry, read_publisher
from tamesu.edge.store.digests import file_digest
from tamesu.edge.store.files import full_disk_named, sync_folder, write_atomic
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record
from tamesu.edge.store.runs import read_run
from tamesu.stages.plan import digest_cache
from tamesu.stages.present import study_of_case
from tamesu.stages.site_download import write_download

LISTING = "site.json"
_KINDS = (".html", SUFFIX)


@dataclass(frozen=True, slots=True)
class BuiltSite:
    pages: int
    packages: int


@dataclass(frozen=True, slots=True)
class CheckedSite:
    """What is wrong with a site, a line each."""

    pages: int
    problems: tuple[str, ...]


def build_site(root: Path, output: Path) -> BuiltSite:
    """Write the pages of a registry into a folder that is new, empty, or was a site before.

    Each version is there to be downloaded as well. Raises InvalidDocument for an entry that does not read, for a
    version without one and for links, EvidenceError and InvalidPackage for a payload that is not what its entry says
    or is unsafe, Refused for a folder that holds something else, UsageError when there is no registry.
    """
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; name the folder of a registry")
    _check_output(output)
    registry = Registry(root.resolve())
    with _replacing(output) as new:
        versions = [_version(version, new) for version in registry.versions()]
        downloads = {f"{one.place}/{one.download.name}": one.download.sha256 for one in versions}
        publishers = list(_publishers(registry, {one.entry.package.publisher for one in versions}))
        pages = dict(site_pages(publishers, versions))
        for problem in page_problems(pages, [pager_script()], downloads):
            raise EvidenceError(f"{output}: is not written, since a page would not pass `tamesu site check`: {problem}")
        digests = {**downloads, **{path: digest_bytes(content) for path, content in pages.items()}}
        for path, content in {**pages, LISTING: _listing(digests, [one.entry for one in versions])}.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(content)
    return BuiltSite(len(pages), len(versions))


def check_site(folder: Path) -> CheckedSite:
    """Return what is wrong with a site. Raises UsageError for a folder that holds none."""
    try:
        listed = msgspec.json.decode((folder / LISTING).read_bytes(), type=dict[str, Any])["files"]
        known = msgspec.convert(listed, dict[str, str])
    except (OSError, msgspec.MsgspecError, KeyError):
        what = f"holds no readable {LISTING}"
        raise UsageError(f"{folder}: {what}; name a folder that `tamesu site build` wrote") from None
    found, problems = _files(folder)
    for path in sorted(known.keys() | found.keys()):
        if path not in found:
            problems.append(f"{shown(path)}: is missing")
        elif path not in known:
            problems.append(f"{shown(path)}: is no file of the site")
        elif found[path] != known[path]:
            problems.append(f"{shown(path)}: was altered")
        elif not path.endswith(_KINDS):
            problems.append(f"{shown(path)}: is neither a page nor a package")
    pages = {path: (folder / path).read_bytes() for path in found if path.endswith(".html")}
    problems += page_problems(pages, [pager_script()], found.keys() - pages.keys())
    return CheckedSite(len(pages), tuple(problems))


def _files(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Return the files of a site by their digests, and a line for each that is no regular one."""
    found: dict[str, str] = {}
    problems = []
    for place, folders, names in os.walk(folder):
        for path in (Path(place) / name for name in [*names, *folders]):
            label = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                problems.append(f"{shown(label)}: is no regular file")
            elif path.is_file() and label != LISTING:
                found[label] = file_digest(path)
    return found, problems


def _publishers(registry: Registry, needed: set[str]) -> Iterator[Publisher]:
    there = {path.stem for path in (registry.root / PUBLISHERS).glob("*.yml") if not path.name.startswith(".")}
    yield from (read_publisher(registry.publisher(name)) for name in sorted(there | needed))


def _version(version: Version, site: Path) -> ShownVersion:
    """Return what a site shows of a version, whose archive is written where its pages will lie."""
    entry = read_entry(version)
    package = entry.package
    try:
        found = written_files(version.payload)
        links = [path for path in version.payload.rglob("*") if path.is_symlink()]
    except OSError as error:
        raise EvidenceError(f"{error.filename}: {error.strerror}; restore the registry") from None
    if links or content_digest(found) != package.content_digest:
        raise EvidenceError(f"{version.payload}: is not what entry.yml says ({package.label}); restore the registry")
    _check_bound(version, entry, found)
    place = site / version_place(package)
    place.mkdir(parents=True)
    download = write_download(version.payload, found, package, place)
    with tempfile.TemporaryDirectory(prefix="tamesu-site-") as folder:
        project = Project(Path(folder).resolve())
        shutil.copytree(version.payload, project.case(package.name), symlinks=True)
        _pin(project)
        study = study_of_case(project, package.name, digest_cache(project))
    return ShownVersion(entry, study.title, study.question, case_page(study, package.label), download)


def _check_bound(version: Version, entry: RegistryEntry, found: Collection[FileDigest]) -> None:
    """Raise EvidenceError for an entry that says something else of its package than the payload does."""
    paths = {file.path for file in found}
    publication = (version.payload / PUBLICATION).read_bytes() if PUBLICATION in paths else None
    fault = unlike_files(entry.package, paths, publication, version.entry.name)
    if fault is not None:
        raise EvidenceError(f"{version.folder}: {fault}; restore the registry")


def _pin(project: Project) -> None:
    """Pin the Inspect version that most runs were executed with, so that they count whatever is installed here."""
    versions: Counter[str] = Counter()
    for path in project.root.glob("cases/*/experiments/*/evals/*/runs/*/run.yml"):
        with suppress(EvidenceError):
            versions[read_run(RunPaths(path.parent)).execution.inspect_version] += 1
    if versions:
        write_atomic(project.config, dump_record({"inspect_version": versions.most_common(1)[0][0]}))


def _listing(files: Mapping[str, str], entries: list[RegistryEntry]) -> bytes:
    """Return what a site holds, by content."""
    said = {
        "schema_version": 1,
        "packages": [
            {
                "publisher": one.package.publisher,
                "name": one.package.name,
                "version": one.package.version,
                "content_digest": one.package.content_digest,
            }
            for one in entries
        ],
        "files": dict(sorted(files.items())),
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=1) + b"\n"


def _check_output(output: Path) -> None:
    if os.path.lexists(output) and (not output.is_dir() or output.is_symlink()):
        raise Refused(f"{output}: is no folder; name a new one")
    if output.is_dir() and any(output.iterdir()) and not (output / LISTING).is_file():
        raise Refused(f"{output}: holds something that is no site; name a new folder")


@contextmanager
def _replacing(output: Path) -> Iterator[Path]:
    """Yield a new folder beside a site that takes its place at the end, so that there is never half a site."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with full_disk_named(output), tempfile.TemporaryDirectory(prefix=".site-", dir=output.parent) as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        new.mkdir()
        yield new
        os.sync()
        if output.exists():
            output.rename(old)
        try:
            new.rename(output)
        except OSError:
            if old.exists():
                old.rename(output)
            raise
        sync_folder(output.parent)
