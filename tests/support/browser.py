"""A headless Chromium with one page, driven over its DevTools protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.support.running import PATIENCE, environment
from tests.support.waiting import Deadline, under_load

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
"""The path of Chromium; "" if it is not installed."""

_OPTIONS = [
    *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--use-gl=disabled", "--disable-software-rasterizer", "--disable-gpu-rasterization"),
    "--disable-extensions",
    *("--no-proxy-server", "--disable-background-networking", "--remote-debugging-port=0"),
    "--no-sandbox",  # required for root; it loads only pages of the tests
]


class Page:
    """A page that is open in the browser."""

    def __init__(self, devtools: ClientConnection) -> None:
        self._devtools = devtools
        self._count = 0

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise.

        Raises AssertionError with the exception of the page, TimeoutError after PATIENCE.
        """
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        result = self.command("Runtime.evaluate", parameters)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def command(
        self,
        method: str,
        parameters: dict[str, Any],
        on_event: Callable[[dict[str, Any]], None] = lambda event: None,
    ) -> Any:
        """The result of a DevTools command; `on_event` is called with each event before it."""
        self._count += 1
        command = {"id": self._count, "method": method, "params": parameters}
        self._devtools.send(json.dumps(command))
        while (message := json.loads(self._devtools.recv(PATIENCE))).get("id") != self._count:
            on_event(message)
        assert "error" not in message, message["error"]
        return message["result"]


@contextmanager
def browser(folder: Path, url: str) -> Iterator[Page]:
    """Open `url` in a browser whose profile is in `folder`."""
    folder.mkdir(exist_ok=True)
    profile = folder / "profile"
    log = folder / "chromium.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [CHROMIUM, *_OPTIONS, f"--user-data-dir={profile}", url],
            env=environment({"HOME": str(folder)}),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        address = _devtools(process, profile, url, log)
        # No pings: their thread would change the random state under other tests.
        with connect(address, max_size=None, open_timeout=PATIENCE, ping_interval=None) as devtools:
            page = Page(devtools)
            _wait_until_loaded(page, url)
            yield page
    finally:
        process.terminate()
        process.wait(under_load())


def _devtools(process: subprocess.Popen[bytes], profile: Path, url: str, log: Path) -> str:
    """The DevTools address of the page with this URL, which may still be loading."""
    announced = profile / "DevToolsActivePort"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = Deadline()
    while process.poll() is None and not deadline.passed():
        time.sleep(0.05)
        lines = announced.read_text().splitlines() if announced.exists() else []
        if not lines:
            continue
        with opener.open(f"http://127.0.0.1:{lines[0]}/json/list", timeout=PATIENCE) as answer:
            for target in json.loads(answer.read()):
                if target["type"] == "page" and target["url"].startswith(url):
                    return str(target["webSocketDebuggerUrl"])
    raise AssertionError(f"Chromium did not open {url}. It said:\n{log.read_text()[-3000:]}")


def _wait_until_loaded(page: Page, url: str) -> None:
    """Wait for the page; before, scripts would run in the empty page."""
    loaded = f"location.href.startsWith({url!r}) && document.readyState === 'complete'"
    deadline = Deadline()
    while not deadline.passed():
        with suppress(AssertionError):  # the page was replaced while the expression ran
            if page.run(loaded):
                return
        time.sleep(0.02)
    raise AssertionError(f"Chromium did not load {url}")
