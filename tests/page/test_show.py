"""`tamesu show`: this machine alone, known pages alone, and a browser that follows the evidence."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tamesu.base.model.progress import AttemptBegun
from tamesu.edge.store.locks import held
from tamesu.edge.store.paths import Project
from tamesu.edge.store.progress import open_progress, tell_progress
from tamesu.stages.watch import Watcher
from tests.browser import browser
from tests.casebook import CASE, page_of, present
from tests.projects import ShapesProject
from tests.workflow.situations import one_run


@dataclass
class Shown:
    """A `tamesu show` that serves, and where."""

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(self, path: str, method: str = "GET", host: str | None = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        connection.endheaders()
        return connection.getresponse()

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C, and return exit code and what it said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def showing(project: ShapesProject, *arguments: str) -> Iterator[Shown]:
    command = [sys.executable, "-m", "tamesu", "show", "--no-open", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=project.root, **pipes) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("show: http://127.0.0.1:"), line + process.communicate(timeout=60)[1]
            yield Shown(process, int(line.rpartition(":")[2].partition("/")[0]))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def test_pages_are_served_by_name_and_ctrl_c_ends_it_in_one_line(banked_shapes: ShapesProject) -> None:
    with showing(banked_shapes) as shown:
        entrance = shown.ask("/")
        assert (entrance.status, entrance.getheader("Location")) == (302, f"/{CASE}/")
        case = shown.ask(f"/{CASE}/")
        assert case.status == 200
        served = case.read().decode()
        written = page_of(banked_shapes).read_text()
        assert served.count("<script>") == written.count("<script>") + 1
        assert "connect-src" not in written and "/-/state" not in written
        headers = {
            name: case.getheader(name) for name in ("Cache-Control", "X-Content-Type-Options", "X-Frame-Options")
        }
        assert list(headers.values()) == ["no-store", "nosniff", "DENY"]
        assert "frame-ancestors 'none'" in (case.getheader("Content-Security-Policy") or "")
        page = shown.ask(f"/{CASE}/prompt-wording/replayed.html")
        assert page.read() == banked_shapes.path("build/shape-drawing/prompt-wording/replayed.html").read_bytes()
        head = shown.ask(f"/{CASE}/index.html", "HEAD")
        assert (head.status, int(head.getheader("Content-Length") or 0), head.read()) == (
            200,
            len(served.encode()),
            b"",
        )
        state = json.loads(shown.ask(f"/-/state/{CASE}/").read())
        assert state["version"].removeprefix("sha256:") in written and state["progress"] == ""
        assert shown.end() == (130, "tamesu: show: ended\n")


SECRET = "unlikely-to-be-served"
NOT_SERVED = (
    "/../secret.txt",
    f"/{CASE}/../../secret.txt",
    f"/{CASE}/%2e%2e/%2e%2e/secret.txt",
    f"/{CASE}/..%2f..%2fsecret.txt",
    f"/{CASE}/..%5c..%5csecret.txt",
    f"/{CASE}/prompt-wording/",
    f"/{CASE}/prompt-wording/../index.html",
    f"/{CASE}/prompt-wording/other.html",
    f"/{CASE}//index.html",
    f"/{CASE}/index.html%00",
    f"/{CASE}/%ff",
    "/etc/passwd",
    "/.tamesu/",
    "/-/state/other/",
    "http://127.0.0.1/secret.txt",
    "*",
    "/" + "a" * 3000,
)


def test_nothing_but_known_pages_is_served_to_nobody_but_this_machine(banked_shapes: ShapesProject) -> None:
    for place in ("secret.txt", "build/secret.txt", "build/shape-drawing/secret.txt"):
        banked_shapes.path(place).write_text(SECRET)
    banked_shapes.path("build/shape-drawing/other.html").symlink_to("../secret.txt")
    with showing(banked_shapes, CASE) as shown:
        for path in (*NOT_SERVED, f"/{CASE}/secret.txt", "/secret.txt", f"/{CASE}/other.html"):
            reply = shown.ask(path)
            assert (reply.status, SECRET.encode() in reply.read()) == (404, False), path
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            reply = shown.ask(f"/{CASE}/", method)
            assert (reply.status, reply.getheader("Allow")) == (405, "GET, HEAD"), method
        for host in ("evil.invalid", f"evil.invalid:{shown.port}", "127.0.0.1", f"127.0.0.1.evil.invalid:{shown.port}"):
            reply = shown.ask(f"/{CASE}/", host=host)
            assert (reply.status, b"<html" in reply.read()) == (421, False), host
        assert shown.ask(f"/{CASE}/", host=f"localhost:{shown.port}").status == 200
        listening = psutil.Process(shown.process.pid).net_connections(kind="inet")
        assert {one.laddr.ip for one in listening} == {"127.0.0.1"}


def test_a_port_that_is_taken_is_refused_in_one_line(banked_shapes: ShapesProject) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = banked_shapes.tamesu("show", "--no-open", "--port", str(port))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"--port {port}: address already in use; choose another, or 0" in done.err


def test_the_browser_follows_an_edit_and_stays_where_it_was(banked_shapes: ShapesProject) -> None:
    with showing(banked_shapes) as shown, browser() as tab:
        tab.look(1280)
        tab.open(shown.url)
        tab.evaluate("document.querySelector('[name=arm]').value = 'terse'; scrollTo({top: 1500, behavior: 'instant'})")
        tab.evaluate("window.before = true")
        banked_shapes.edit("cases/shape-drawing/experiments/prompt-wording/README.md", "Hypothesis", "New hypothesis")
        tab.wait_for("window.before === undefined && document.body?.textContent.includes('New hypothesis')")
        tab.wait_for("Math.abs(scrollY - 1500) < 60")
        assert tab.evaluate("document.querySelector('[name=arm]').value") == "terse"
        assert tab.messages == []
        assert {url.partition("/-/")[0].rstrip("/") for url in tab.requests if url.startswith("http")} <= {
            shown.url.rstrip("/"),
            f"{shown.url}{CASE}",
        }
        assert shown.end()[0] == 130
        tab.wait_for("document.querySelector('.live').textContent.startsWith('No longer served')")


def test_a_run_is_followed_while_it_goes_on(tmp_path: Path) -> None:
    project = one_run(tmp_path / "shapes", items=("red-sun",), paid=False)
    with showing(project) as shown, browser() as tab:
        tab.open(shown.url)
        assert tab.evaluate("document.querySelector('.answer').textContent").startswith("Not answered yet")
        done = project.tamesu("run")
        assert done.code == 0, done.err
        tab.wait_for("document.querySelector('.answers .status')?.textContent === 'awaiting review'")
        assert tab.evaluate("document.querySelector('.tally').textContent") == "1 of 1 pass the scorers, 1 owed"
        assert tab.messages == []


def test_work_is_told_as_long_as_somebody_does_it(banked_shapes: ShapesProject) -> None:
    project = Project(banked_shapes.root)
    run_id = sorted(banked_shapes.run_ids())[0]
    file = project.progress("a")
    open_progress(file)
    begun = AttemptBegun("", CASE, run_id, 2, "replay", "m", "a", 1, asked=5, paid=False, recorded=True)
    watcher = Watcher(project, (CASE,), lambda line: None)
    watcher.begin()
    with held(project.lock(run_id), "a run", 5):
        tell_progress(file, begun)
        watcher.look()
        assert watcher.progress == "At work: 0 of 5 items, recorded answers"
    watcher.look()
    assert watcher.progress == ""


def test_a_page_is_made_when_its_files_have_become_quiet(banked_shapes: ShapesProject) -> None:
    project, told = Project(banked_shapes.root), []
    watcher = Watcher(project, (CASE,), told.append)
    watcher.begin()
    first = page_of(banked_shapes).read_bytes()
    readme = banked_shapes.path("cases/shape-drawing/README.md")
    readme.write_text("# Another title\n\nx\n")
    watcher.look()
    assert page_of(banked_shapes).read_bytes() == first  # it may still be written to
    watcher.look()
    assert "<h1>Another title</h1>" in page_of(banked_shapes).read_text()
    made = page_of(banked_shapes).stat().st_mtime_ns
    watcher.look()
    assert page_of(banked_shapes).stat().st_mtime_ns == made
    assert told == []
    assert present(banked_shapes) == page_of(banked_shapes).read_text()
