"""Show: what a browser on this machine is given of a project: pages that exist, by name, and how work stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from markupsafe import escape

from tamesu.core.report.live import STATE_PATH, live_page, live_policy
from tamesu.edge.serving.server import Reply
from tamesu.edge.store.paths import Project
from tamesu.stages.watch import Watcher

_HTML = "text/html; charset=utf-8"
_STILL = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of the cases that are shown. A path only ever picks one of them; none leads to a file by itself."""

    project: Project
    watcher: Watcher
    _last: dict[str, bytes] = field(default_factory=dict)

    def reply(self, path: str) -> Reply | None:
        """Return what lies at an absolute path, None for nothing."""
        if path == "/":
            return self._entrance()
        if path.startswith(f"{STATE_PATH}/"):
            return self._state(path.removeprefix(f"{STATE_PATH}/"))
        parts = path[1:].split("/")
        if parts[0] not in self.watcher.cases:
            return None
        match parts[1:]:
            case [""] | ["index.html"]:
                return self._case(parts[0])
            case []:
                return _moved(f"/{parts[0]}/")
            case [experiment, name]:
                return self._eval(parts[0], experiment, name)
        return None

    def _entrance(self) -> Reply:
        if len(self.watcher.cases) == 1:
            return _moved(f"/{self.watcher.cases[0]}/")
        links = "".join(f'<li><a href="/{escape(case)}/">{escape(case)}</a></li>' for case in self.watcher.cases)
        page = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Cases</title><h1>Cases</h1><ul>{links}</ul>'
        )
        return Reply(page.encode(), _HTML, _STILL)

    def _state(self, rest: str) -> Reply | None:
        case = rest.partition("/")[0]
        if case not in self.watcher.cases:
            return None
        state = {"version": self.watcher.version(case), "progress": self.watcher.progress}
        return Reply(msgspec.json.encode(state), "application/json")

    def _case(self, case: str) -> Reply | None:
        # while a workflow makes the page anew it is gone for a moment
        page = _read(self.project.case_page(case)) or self._last.get(case)
        if page is not None:
            self._last[case] = page
        return None if page is None else Reply(live_page(page.decode()).encode(), _HTML, live_policy())

    def _eval(self, case: str, experiment: str, name: str) -> Reply | None:
        for ref in self.project.refs():
            if (ref.case, ref.experiment, f"{ref.eval}.html") == (case, experiment, name):
                page = _read(self.project.page(ref))
                return None if page is None else Reply(page, _HTML, _STILL)
        return None


def _moved(location: str) -> Reply:
    return Reply(b"", "text/plain; charset=utf-8", status=302, location=location)


def _read(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
