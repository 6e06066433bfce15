"""A real headless Chromium, driven over its DevTools protocol: open a page, evaluate, press keys, take a picture.

`with browser() as tab:` starts one in a folder of its own and ends it, by its process ID, with the block. Nothing that
it opens may reach the network: its only proxy is a closed port.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--proxy-server=http://127.0.0.1:9",
    "--remote-debugging-port=0",
)
_PATIENCE = 60.0  # seconds; other tests may have all processors
_CODES = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    " ": ("Space", 32, " "),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}
_SHIFT = 8


class PageError(AssertionError):
    """JavaScript that threw, or a page that did not come to what was waited for."""


@dataclass
class Tab:
    """One page. `messages` holds what it wrote to its console and what it threw, `requests` the URLs it asked for."""

    socket: ClientConnection
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _number: int = 0
    _loads: int = 0
    _downloads: int = 0

    def open(self, url: str | Path) -> None:
        """Load a page, a file by its path, and wait until it has loaded."""
        address = url.resolve().as_uri() if isinstance(url, Path) else url
        before = self._loads
        failed = self.call("Page.navigate", url=address).get("errorText")
        if failed:
            raise PageError(f"{address}: {failed}")
        self._wait(lambda: self._loads > before, f"{address} to load")

    def reload(self) -> None:
        before = self._loads
        self.call("Page.reload")
        self._wait(lambda: self._loads > before, "the page to load again")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, a promise awaited, as plain JSON. Raises PageError when it throws."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageError(_thrown(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Evaluate until the value is true, and return it. Raises PageError after a minute."""
        end = time.monotonic() + _PATIENCE
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise PageError(f"waited for: {expression}")
            self._listen(0.05)
        return value

    def press(self, key: str, shift: bool = False) -> None:
        """Press and release a key: a character, or Enter, Escape, Tab, ArrowLeft and the like."""
        code, number, text = _CODES.get(key, (f"Key{key.upper()}" if key.isalpha() else "", ord(key.upper()[0]), key))
        event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": _SHIFT if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Insert a text where the focus is, as a keyboard or an input method would."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Press the mouse in the middle of the first element that fits a CSS selector, scrolled into view."""
        found = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        if found is None:
            raise PageError(f"no element is {selector}")
        at = {"x": found[0], "y": found[1], "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **at)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **at)

    def look(self, width: int, height: int = 900, dark: bool = False) -> None:
        """Set the size of the window in CSS pixels and the colour scheme that the user prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, whole: bool = False) -> Path:
        """Write a PNG of the window, or of the whole page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))
        return path

    def downloads_to(self, folder: Path) -> None:
        """Let the page save files in a folder, without asking."""
        folder.mkdir(parents=True, exist_ok=True)
        allowed = {"behavior": "allow", "downloadPath": str(folder), "eventsEnabled": True}
        self.call("Browser.setDownloadBehavior", **allowed)

    def wait_for_download(self, count: int = 1) -> None:
        """Wait until as many downloads, of all so far, are complete on disk."""
        self._wait(lambda: self._downloads >= count, f"download {count}")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result. Raises PageError for a refusal."""
        self._number += 1
        self.socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            message = self._listen(end - time.monotonic())
            if message is not None and message.get("id") == self._number:
                if "error" in message:
                    raise PageError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result
        raise PageError(f"{method}: no answer")

    def _wait(self, done: Any, what: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > end:
                raise PageError(f"waited for {what}")
            self._listen(0.5)

    def _listen(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message, None when there is none in time; remember what events tell."""
        try:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=max(0.001, seconds)))
        except TimeoutError:
            return None
        told = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loads += 1
            case "Browser.downloadProgress":
                self._downloads += told["state"] == "completed"
            case "Runtime.consoleAPICalled":
                self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in told["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(_thrown(told["exceptionDetails"]))
            case "Log.entryAdded":
                self.messages.append(told["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.messages.append(f"dialog: {told['message']}")
                self._number += 1  # its answer is not waited for
                accept = {"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                self.socket.send(json.dumps(accept))
        return message


def _thrown(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))


@contextmanager
def browser() -> Iterator[Tab]:
    """Start Chromium with an empty profile, give its one tab, and end it."""
    folder = Path(tempfile.mkdtemp(prefix="tamesu-chromium-"))
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "stderr").open("wb"),
        start_new_session=True,
    )
    try:
        with connect(_address(process, folder), max_size=None, proxy=None, open_timeout=_PATIENCE) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Log", "Network"):
                tab.call(f"{domain}.enable")
            yield tab
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _address(process: subprocess.Popen[bytes], folder: Path) -> str:
    """Return the address of the tab once the browser listens."""
    port = _port(process, folder)
    with connect(f"ws://127.0.0.1:{port[0]}{port[1]}", max_size=None, proxy=None, open_timeout=_PATIENCE) as socket:
        probe = Tab(socket)
        targets = probe.call("Target.getTargets")["targetInfos"]
    page = next(target["targetId"] for target in targets if target["type"] == "page")
    return f"ws://127.0.0.1:{port[0]}/devtools/page/{page}"


def _port(process: subprocess.Popen[bytes], folder: Path) -> tuple[str, str]:
    written = folder / "profile" / "DevToolsActivePort"
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        lines = written.read_text().splitlines() if written.exists() else []
        if len(lines) == 2:
            return lines[0], lines[1]
        time.sleep(0.05)
    raise PageError(f"Chromium did not start: {(folder / 'stderr').read_text()[-500:]}")
