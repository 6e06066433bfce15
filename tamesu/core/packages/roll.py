"""Which members an archive may bring: places, names, counts and sizes, decided before one is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tamesu.base.model.package import MANIFEST, PAYLOAD, PRESENTATION, UNTRUSTED_ORIGIN, Limits
from tamesu.core.packages.allowlist import stays_out
from tamesu.core.packages.members import folded, member_fault, said
from tamesu.core.packages.refusal import Refusal
from tamesu.core.packages.tar_header import Kind

_FOLDERS = (PAYLOAD.rstrip("/"), PRESENTATION.rstrip("/"))


@dataclass(frozen=True, slots=True)
class Member:
    """One accepted member by its path in the archive; a folder has size 0."""

    path: str
    kind: Kind
    size: int

    @property
    def payload_path(self) -> str | None:
        """The path below `payload/`, None for what lies elsewhere."""
        return self.path.removeprefix(PAYLOAD) if self.path.startswith(PAYLOAD) else None


@dataclass(slots=True)
class Roll:
    """The members that were admitted so far, as a file system that minds neither case nor Unicode would hold them."""

    limits: Limits
    files: int = 0
    folders: int = 0
    total_bytes: int = 0
    _stated: set[str] = field(default_factory=set)
    _places: dict[str, tuple[str, Kind]] = field(default_factory=dict)

    def admit(self, path: str, kind: Kind, size: int) -> Member | Refusal:
        """Return the member of that path, or why the whole archive is refused."""
        plain = path.removesuffix("/") if kind is Kind.FOLDER else path
        what = _path_fault(plain, kind) or self._conflict(plain, kind) or self._excess(kind, size)
        if what is not None:
            return Refusal(what, path)
        self._add(plain, kind, size)
        return Member(plain, kind, size)

    def _conflict(self, path: str, kind: Kind) -> str | None:
        if folded(path) in self._stated:
            return "is there twice, or differs from another only by case or Unicode form"
        for place, wanted in _places(path, kind):
            spelled, known = self._places.get(folded(place), (place, wanted))
            if known is not wanted:
                return "is a file and a folder" if place == path else "lies below a file"
            if spelled != place:
                return "lies in a folder whose name differs from another only by case or Unicode form"
        return None

    def _excess(self, kind: Kind, size: int) -> str | None:
        limits = self.limits
        if kind is Kind.FOLDER:
            return f"is one folder more than {limits.files}" if self.folders >= limits.files else None
        if self.files >= limits.files:
            return f"is one file more than {limits.files}"
        if size > limits.file_bytes:
            return f"is larger than {limits.file_bytes} bytes"
        if self.total_bytes + size > limits.total_bytes:
            return f"brings the content above {limits.total_bytes} bytes"
        return None

    def _add(self, path: str, kind: Kind, size: int) -> None:
        self.files += kind is Kind.FILE
        self.folders += kind is Kind.FOLDER
        self.total_bytes += size
        self._stated.add(folded(path))
        self._places.update({folded(place): (place, what) for place, what in _places(path, kind)})


def _path_fault(path: str, kind: Kind) -> str | None:
    if UNTRUSTED_ORIGIN in folded(path).split("/"):
        return "is the name by which cases from elsewhere are marked, which no package may bring"
    fault = member_fault(path)
    if fault is not None:
        return said(fault)
    if path == MANIFEST and kind is Kind.FILE:
        return None
    if (kind is Kind.FILE and path in _FOLDERS) or path.partition("/")[0] not in _FOLDERS:
        return f"is neither {MANIFEST} nor below {PAYLOAD} or {PRESENTATION}"
    reason = stays_out(path)
    return None if reason is None else f"{reason} and never part of a package"


def _places(path: str, kind: Kind) -> Iterator[tuple[str, Kind]]:
    """Yield the folders that a path lies in, and itself."""
    parts = path.split("/")
    yield from (("/".join(parts[:depth]), Kind.FOLDER) for depth in range(1, len(parts)))
    yield path, kind
