"""The pages of a registry as HTML: they load nothing, run nothing, and link to each other alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tamesu.base.model.package import ForkOrigin, PackageRecord, Publisher, RegistryEntry
from tamesu.core.report.page import environment

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
INDEX = "index.html"
CASE = "case.html"


@dataclass(frozen=True, slots=True)
class Download:
    """The archive of a version beside its page: the name of the file, its SHA-256, and its size in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """One published version: its entry, what its case is called and asks, the page of the case, and its archive."""

    entry: RegistryEntry
    title: str
    question: str
    case_page: str
    download: Download

    @property
    def place(self) -> str:
        """The folder of its pages."""
        return version_place(self.entry.package)


@dataclass(frozen=True, slots=True)
class ShownPackage:
    """A package with all of its versions, the latest last; `latest` is the latest release where there is one."""

    publisher: str
    name: str
    versions: Sequence[ShownVersion]

    @property
    def latest(self) -> ShownVersion:
        releases = [version for version in self.versions if "-" not in version.entry.package.version]
        return (releases or self.versions)[-1]

    @property
    def place(self) -> str:
        return f"{self.publisher}/{self.name}"


def version_place(package: PackageRecord) -> str:
    """Return the folder of the pages of a version, relative to the site."""
    return f"{package.publisher}/{package.name}/{package.version}"


def site_pages(publishers: Sequence[Publisher], versions: Sequence[ShownVersion]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of every page; versions are in the order of their numbers."""
    packages = tuple(_packages(versions))
    places = {version.place for version in versions}
    yield INDEX, _page("site_index.html.j2", "", packages=packages, publishers=publishers)
    for one in publishers:
        own = [package for package in packages if package.publisher == one.publisher]
        yield f"{one.publisher}/{INDEX}", _page("site_publisher.html.j2", "../", publisher=one, packages=own)
    for package in packages:
        yield f"{package.place}/{INDEX}", _page("site_package.html.j2", "../../", package=package)
    for version in versions:
        place = f"{version.place}/{INDEX}"
        origin = _origin(version.entry.package.forked_from, places)
        yield place, _page("site_version.html.j2", "../../../", version=version, origin=origin)
        yield f"{version.place}/{CASE}", version.case_page.encode()


def _packages(versions: Iterable[ShownVersion]) -> Iterator[ShownPackage]:
    grouped: dict[tuple[str, str], list[ShownVersion]] = {}
    for version in versions:
        grouped.setdefault((version.entry.package.publisher, version.entry.package.name), []).append(version)
    for (publisher, name), own in sorted(grouped.items()):
        yield ShownPackage(publisher, name, own)


def _origin(fork: ForkOrigin | None, places: set[str]) -> str | None:
    """Return the folder of the version that a package was forked from, when the registry holds it."""
    place = None if fork is None else f"{fork.publisher}/{fork.name}/{fork.version}"
    return place if place in places else None


def _page(template: str, up: str, **shown: object) -> bytes:
    """Render a page; `up` leads from it to the folder of the site."""
    return environment().get_template(template).render(policy=POLICY, up=up, **shown).encode()
