"""Site: the pages of a registry as plain files, from payloads that verify, and checked again wherever they lie."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import EvidenceError, Refused, UsageError, shown
from tamesu.base.model.package import Publisher, RegistryEntry
from tamesu.core.packages.inventory import content_digest
from tamesu.core.report.site import ShownVersion, site_pages
from tamesu.core.report.site_check import page_problems
from tamesu.core.report.study.case import case_page, pager_script
from tamesu.edge.packages.extraction import written_files
from tamesu.edge.packages.registry import PUBLISHERS, Registry, Version, read_entry, read_publisher
from tamesu.edge.store.files import full_disk_named, sync_folder, write_atomic
from tamesu.edge.store.paths import Project, RunPaths
from tamesu.edge.store.records import dump_record
from tamesu.edge.store.runs import read_run
from tamesu.stages.plan import digest_cache
from tamesu.stages.present import study_of_case

LISTING = "site.json"


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

    Raises InvalidDocument for an entry that does not read, EvidenceError for a payload that is not what its entry
    says, Refused for a folder that holds something else, UsageError when there is no registry.
    """
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; name the folder of a registry")
    _check_output(output)
    registry = Registry(root.resolve())
    versions = [_version(version) for version in registry.versions()]
    publishers = list(_publishers(registry, {one.entry.package.publisher for one in versions}))
    pages = dict(site_pages(publishers, versions))
    problems = tuple(page_problems(pages, [pager_script()]))
    if problems:
        raise EvidenceError(f"{output}: is not written, since a page would not pass `tamesu site check`: {problems[0]}")
    _replace(output, {**pages, LISTING: _listing(pages, [one.entry for one in versions])})
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
        elif digest_bytes(found[path]) != known[path]:
            problems.append(f"{shown(path)}: was altered")
    problems += page_problems(found, [pager_script()])
    return CheckedSite(sum(path.endswith(".html") for path in found), tuple(problems))


def _files(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of a site, and a line for each that is no regular one."""
    found: dict[str, bytes] = {}
    problems = []
    for place, folders, names in os.walk(folder):
        for path in (Path(place) / name for name in [*names, *folders]):
            label = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                problems.append(f"{shown(label)}: is no regular file")
            elif path.is_file() and label != LISTING:
                found[label] = path.read_bytes()
    return found, problems


def _publishers(registry: Registry, needed: set[str]) -> Iterator[Publisher]:
    there = {path.stem for path in (registry.root / PUBLISHERS).glob("*.yml") if not path.name.startswith(".")}
    yield from (read_publisher(registry.publisher(name)) for name in sorted(there | needed))


def _version(version: Version) -> ShownVersion:
    entry = read_entry(version)
    package = entry.package
    try:
        found = written_files(version.payload)
        links = [path for path in version.payload.rglob("*") if path.is_symlink()]
    except OSError as error:
        raise EvidenceError(f"{error.filename}: {error.strerror}; restore the registry") from None
    if links or content_digest(found) != package.content_digest:
        raise EvidenceError(f"{version.payload}: is not what entry.yml says ({package.label}); restore the registry")
    with tempfile.TemporaryDirectory(prefix="tamesu-site-") as folder:
        project = Project(Path(folder).resolve())
        shutil.copytree(version.payload, project.case(package.name), symlinks=True)
        _pin(project)
        study = study_of_case(project, package.name, digest_cache(project))
    return ShownVersion(entry, study.title, study.question, case_page(study))


def _pin(project: Project) -> None:
    """Pin the Inspect version that most runs were executed with, so that they count whatever is installed here."""
    versions: Counter[str] = Counter()
    for path in project.root.glob("cases/*/experiments/*/evals/*/runs/*/run.yml"):
        with suppress(EvidenceError):
            versions[read_run(RunPaths(path.parent)).execution.inspect_version] += 1
    if versions:
        write_atomic(project.config, dump_record({"inspect_version": versions.most_common(1)[0][0]}))


def _listing(pages: Mapping[str, bytes], entries: list[RegistryEntry]) -> bytes:
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
        "files": {path: digest_bytes(content) for path, content in sorted(pages.items())},
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=1) + b"\n"


def _check_output(output: Path) -> None:
    if os.path.lexists(output) and (not output.is_dir() or output.is_symlink()):
        raise Refused(f"{output}: is no folder; name a new one")
    if output.is_dir() and any(output.iterdir()) and not (output / LISTING).is_file():
        raise Refused(f"{output}: holds something that is no site; name a new folder")


def _replace(output: Path, files: Mapping[str, bytes]) -> None:
    """Write a site beside its folder, then change places, so that there is never half a site."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with full_disk_named(output), tempfile.TemporaryDirectory(prefix=".site-", dir=output.parent) as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        for path, content in files.items():
            target = new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        os.sync()
        if output.exists():
            output.rename(old)
        new.rename(output)
        sync_folder(output.parent)
