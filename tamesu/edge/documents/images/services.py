"""The services of a compose file as layers: what `extends` brings first, what the service writes itself last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tamesu.base.canonical import Json
from tamesu.edge.documents.images.compose_file import ComposeFile, Field, Loader, below, surroundings
from tamesu.edge.documents.images.interpolation import Lookup, Unresolved

MAX_EXTENDS = 50


@dataclass(frozen=True, slots=True)
class Service:
    """A service by the mappings that make it up; a later one counts more."""

    name: str
    layers: tuple[Field, ...]

    @property
    def own(self) -> Field:
        return self.layers[-1]

    def last(self, key: str) -> Field | None:
        """Return the value of a key that counts; a null is none."""
        return next(reversed(self.each(key)), None)

    def each(self, key: str) -> tuple[Field, ...]:
        """Return every value of a key, the one that counts least first."""
        found = ((layer, entries(layer).get(key)) for layer in self.layers)
        return tuple(layer.inner(key, value) for layer, value in found if value is not None)


def entries(field: Field) -> dict[str, Json]:
    """Return a mapping, or nothing for what is none."""
    return field.value if isinstance(field.value, dict) else {}


@dataclass(frozen=True, slots=True)
class Services:
    """Finds the services of a project: those of a file, and of the files that it includes."""

    loader: Loader

    def of(self, file: ComposeFile, including: tuple[Path, ...] = ()) -> Iterator[Service]:
        """Yield every service; what has no right shape or leads in a circle is noted and left out."""
        root = file.root
        services = root.inner("services", entries(root).get("services"))
        include = root.inner("include", entries(root).get("include"))
        if include.value is not None:
            yield from self._included(include, (*including, file.path))
        if services.value is None and include.value is not None:
            return
        if not isinstance(services.value, dict):
            self.loader.survey.shape(file.path, services.position, "`services` is no mapping of services")
            return
        if not services.value and include.value is None:
            self.loader.survey.shape(file.path, services.position, "`services` holds no service")
        for name in services.value:
            layers = self._layers(file, name, ())
            if layers:
                yield Service(name, layers)

    def _shape(self, field: Field, message: str) -> None:
        self.loader.survey.shape(field.file.path, field.position, message)

    def _layers(self, file: ComposeFile, name: str, chain: tuple[tuple[Path, str], ...]) -> tuple[Field, ...]:
        field = Field(file, ("services", name), file.services.get(name))
        if not isinstance(field.value, dict):
            self._shape(field, f"service '{name}' is no mapping")
            return ()
        extends = field.inner("extends", field.value.get("extends"))
        if extends.value is None:
            return (field,)
        if (file.path, name) in chain or len(chain) >= MAX_EXTENDS:
            self._shape(extends, f"service '{name}' extends itself in a circle, or through too many others")
            return (field,)
        return (*self._extended(extends, (*chain, (file.path, name))), field)

    def _extended(self, extends: Field, chain: tuple[tuple[Path, str], ...]) -> tuple[Field, ...]:
        """Return the layers of the service that another one extends."""
        written = entries(extends)
        service = extends.inner("service", written.get("service")) if written else extends
        name = service.text()
        if not isinstance(extends.value, str | dict) or isinstance(name, Unresolved):
            self._shape(extends, "`extends` is neither the name of a service nor `service` with `file`")
            return ()
        file: ComposeFile | None = extends.file
        if written.get("file") is not None:
            path = self.loader.named(extends.inner("file", written["file"]))
            # what it extends in its own file keeps the variables of the project
            file = None if path is None else self.loader.open(path, path.parent, extends.file.lookup)
        if file is None:
            return ()
        if name not in file.services:
            self._shape(extends, f"there is no service '{name}' to extend")
            return ()
        return self._layers(file, name, chain)

    def _included(self, include: Field, including: tuple[Path, ...]) -> Iterator[Service]:
        listed = include.value if isinstance(include.value, list) else [include.value]
        for number, value in enumerate(listed):
            entry = include.inner(number, value) if isinstance(include.value, list) else include
            if not isinstance(value, str | dict):
                self._shape(entry, "an entry of `include` is neither a path nor a mapping with `path`")
                continue
            yield from self._included_entry(entry, including)

    def _included_entry(self, entry: Field, including: tuple[Path, ...]) -> Iterator[Service]:
        written = entries(entry)
        mapping = isinstance(entry.value, dict)
        paths = _several(entry.inner("path", written.get("path")) if mapping else entry)
        found = [path for path in map(self.loader.named, paths) if path is not None]
        if not paths:
            self._shape(entry, "an entry of `include` has no path")
        folder = found[0].parent if found else entry.file.folder
        if written.get("project_directory") is not None:
            directory = entry.inner("project_directory", written["project_directory"])
            where = directory.text()
            if isinstance(where, Unresolved):
                self._shape(directory, f"the folder of an included project cannot be resolved: {where.why}")
                return
            folder = below(entry.file.folder, where)
        lookup = self._lookup(entry, folder)
        projects: list[dict[str, Service]] = []
        for path in found:
            if path in including:
                self._shape(entry, f"{path.name} includes itself in a circle")
                continue
            file = self.loader.open(path, folder, lookup)
            projects.append({} if file is None else {one.name: one for one in self.of(file, including)})
        # of several paths in one entry, a later one overrides
        for name in dict.fromkeys(name for project in projects for name in project):
            layers = tuple(field for project in projects if name in project for field in project[name].layers)
            yield Service(name, layers)

    def _lookup(self, entry: Field, folder: Path) -> Lookup:
        env = entry.inner("env_file", entries(entry).get("env_file"))
        if env.value is None:
            files: tuple[Path, ...] = (folder / ".env",)
        else:
            files = tuple(path for path in map(self.loader.named, _several(env)) if path is not None)
        return surroundings(self.loader.survey, files, entry.file.lookup)


def _several(field: Field) -> list[Field]:
    """Return the values of a field that holds one or a list of them; none when it is empty."""
    if isinstance(field.value, list):
        return [field.inner(number, value) for number, value in enumerate(field.value)]
    return [] if field.value is None else [field]
