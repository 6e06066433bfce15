"""What of a case would not work, or not be there, on another machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tamesu.base.canonical import digest_bytes
from tamesu.base.errors import shown
from tamesu.base.model.finding import Finding, Severity
from tamesu.base.model.manifest import Execution
from tamesu.base.model.package import LIMITS, PUBLICATION, Profile
from tamesu.core.packages.allowlist import is_log, ships, stays_out
from tamesu.core.packages.members import collisions, member_fault, said
from tamesu.core.packages.scrub import HOME

LONGEST_PATH = 200  # characters; Windows takes 260 for a whole path unless it is told otherwise
_PROSE = re.compile(r".*\.(?:md|txt|rst|html|csv|jsonl)", re.IGNORECASE)
_EVIDENCE = re.compile(r"(?:.*/)?evals/[^/]+/(?:runs|logs|review)/.*")
# Rules whose findings a person may let pass; a package with one of the others could not be unpacked everywhere.
ALLOWABLE = frozenset({"portable/absolute-path", "portable/home-path", "portable/mutable-image", "portable/left-out"})


@dataclass(frozen=True, slots=True)
class Contents:
    """What lies in a case, by paths relative to it; `sizes` are those of regular files, in bytes."""

    case: str
    sizes: Mapping[str, int]
    links: Collection[str]
    special: Collection[str]
    closed: Collection[str]

    def label(self, path: str) -> str:
        """Return the project path of a file as it fits into one line, whole, however long it is."""
        plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in path)
        return f"cases/{self.case}/{plain}".rstrip("/")


def finding_id(finding: Finding) -> str:
    """Return the name by which a person lets a finding pass: 12 hex digits, the same until what it says changes."""
    told = f"{finding.rule}\n{finding.file}\n{finding.line}\n{finding.message}"
    return digest_bytes(told.encode())[:12]


def shipped(contents: Contents, profile: Profile) -> tuple[str, ...]:
    """Return the files that a package of a profile holds, sorted."""
    return tuple(sorted(path for path in contents.sizes if ships(path, profile)))


def unpublished(contents: Contents) -> Finding:
    """Return the finding that a case does not say under which name it is published."""
    fix = f"write cases/{contents.case}/{PUBLICATION}: publisher, name, version, licence, authors, data_review"
    return _error(contents, PUBLICATION, "publication", "is missing", fix)


def unreviewed(contents: Contents) -> Finding:
    """Return the finding that nobody looked at the data of a fork yet."""
    fix = "write reviewer, date and statement of who looked, and see whether authors names all who made the case"
    return _error(contents, PUBLICATION, "data-review", "has a data_review that nobody made yet", fix)


def file_findings(contents: Contents, profile: Profile) -> Iterator[Finding]:
    """Yield what is wrong with the names, kinds and sizes of a case's files, hidden and private ones left alone."""
    for path in filter(_seen, contents.sizes):
        fault = member_fault(path)
        if fault is not None:
            fix = "rename it with letters, digits, dots, hyphens and underscores"
            yield _error(contents, path, "name", said(fault), fix)
        elif len(path) > LONGEST_PATH:
            message = f"has a path of {len(path)} characters, which Windows may not unpack"
            yield _finding(contents, path, "long-path", message, "shorten names of folders and files", "warning")
    for path in filter(_seen, contents.links):
        yield _error(contents, path, "link", "is a link, which no package holds", "put the file itself in its place")
    for path in filter(_seen, contents.special):
        yield _error(contents, path, "special-file", "is neither a file nor a folder", "remove it")
    for path in filter(_seen, contents.closed):
        yield _error(contents, path, "special-file", "is a folder that cannot be listed", "correct its permissions")
    files = shipped(contents, profile)
    for group in collisions(files):
        message = f"is the same name as {', '.join(shown(name) for name in group[1:])} on some systems"
        yield _error(contents, group[0], "collision", message, "rename one of them")
    yield from _sizes(contents, files)


def _sizes(contents: Contents, files: Collection[str]) -> Iterator[Finding]:
    for path in files:
        if contents.sizes[path] > LIMITS.file_bytes:
            message = f"has {contents.sizes[path]:,} bytes; a file of a package has at most {LIMITS.file_bytes:,}"
            yield _error(contents, path, "size", message, "split the file, or keep it outside the case")
    if len(files) > LIMITS.files:
        message = f"{len(files):,} files; a package holds at most {LIMITS.files:,}"
        yield _error(contents, "", "size", message, "publish a smaller case, or the profile report-only")
    total = sum(contents.sizes[path] for path in files)
    if total > LIMITS.total_bytes:
        message = f"{total:,} bytes in all; a package holds at most {LIMITS.total_bytes:,}"
        yield _error(contents, "", "size", message, "publish a smaller case, or the profile report-only")


def text_findings(contents: Contents, path: str, text: str, root: str) -> Iterator[Finding]:
    """Yield the first place of a text that names a home folder, and the first that names the project's own folder.

    A warning in prose and in evidence, where it breaks nothing or can no longer be changed; logs are packed without.
    """
    if is_log(path):
        return
    severity: Severity = "warning" if _PROSE.fullmatch(path) or _EVIDENCE.fullmatch(path) else "error"
    own = text.find(root) if len(root) > 1 else -1
    if own >= 0:
        message, fix = "names this project's folder on this machine", "write paths relative to the file"
        yield _finding(contents, path, "absolute-path", message, fix, severity, _line(text, own))
    home = next((match for match in HOME.finditer(text) if not text.startswith(root, match.start())), None)
    if home is not None:
        message = f"names a home folder, {shown(home.group())}"
        fix = "write a path relative to the file, or one that every machine has"
        yield _finding(contents, path, "home-path", message, fix, severity, _line(text, home.start()))


def named_findings(contents: Contents, manifest: str, named: Iterable[str], profile: Profile) -> Iterator[Finding]:
    """Yield the files that an eval names (project paths) and a package does not hold."""
    if profile is Profile.REPORT_ONLY:
        return
    inside = f"cases/{contents.case}/"
    for label in sorted(named):
        path = label.removeprefix(inside)
        if not label.startswith(inside):
            message, fix = f"names {shown(label)}, which lies outside the case", "keep a copy inside the case"
            yield Finding(manifest, 1, 1, "error", "portable/left-out", message, fix)
        elif not ships(path, profile):
            message = f"names {shown(label)}, which {_why(path)}, so that no package holds it"
            yield Finding(manifest, 1, 1, "error", "portable/left-out", message, "give it another name or place")


def endpoint_findings(manifest: str, providers: Iterable[str]) -> Iterator[Finding]:
    """Yield the providers of an eval whose base URL the project states, which is part of identity and not of a case."""
    for provider in sorted(set(providers)):
        message = f"asks {provider}, whose base URL stands in config/config.yaml, which no package holds"
        fix = "tell readers to set it as well; until then the runs are stale there"
        yield Finding(manifest, 1, 1, "warning", "portable/endpoint", message, fix)


def image_findings(manifest: str, execution: Execution) -> Iterator[Finding]:
    """Yield the images of an eval that another machine may not get, or get otherwise."""
    for image in execution.images:
        if image.pinned or (image.locked is not None and not image.locked.startswith("sha256:")):
            continue
        how = "is not pinned" if image.locked is None else "exists on one machine only"
        message = f"the image {shown(image.reference)} of {shown(image.file)} {how}"
        fix = "write name@sha256:<digest>, or run `tamesu lock` where its registry answers"
        yield Finding(manifest, 1, 1, "error", "portable/mutable-image", message, fix)


def _seen(path: str) -> bool:
    """Whether a path could be packed by its place: nothing of it is hidden, private or a cache."""
    return not any(segment.startswith(".") for segment in path.split("/")) and stays_out(path) is None


def _why(path: str) -> str:
    private = stays_out(path)
    fault = member_fault(path)
    return private or (said(fault) if fault is not None else "is a derived view")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _error(contents: Contents, path: str, rule: str, message: str, fix: str) -> Finding:
    return _finding(contents, path, rule, message, fix, "error")


def _finding(
    contents: Contents, path: str, rule: str, message: str, fix: str, severity: Severity, line: int = 1
) -> Finding:
    return Finding(contents.label(path), line, 1, severity, f"portable/{rule}", message, fix)
