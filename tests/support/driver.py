"""Drives a page in the browser by keyboard and DevTools, and collects its errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.browser import Page, browser
from tests.support.waiting import Deadline

_KEYS = {
    "Enter": 13,
    "Tab": 9,
    "Escape": 27,
    " ": 32,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "ArrowRight": 39,
}
_ERROR_EVENTS = ("Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening")
_STEP = 0.02
_LEFT = "Inspected target navigated or closed"
"""What DevTools say of a command to a page that the browser has left."""


class Driver:
    """Drives the page of a browser. `errors` are those logged since `open`: violations of the
    page's policy, exceptions, dialogs."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.errors: list[str] = []
        for domain in ("Log", "Runtime", "Page"):  # of the network's, each request has five events
            self.command(f"{domain}.enable")

    def command(self, method: str, **parameters: Any) -> Any:
        """The result of a DevTools command."""
        return self._page.command(method, parameters, self._note_error)

    def _note_error(self, event: dict[str, Any]) -> None:
        if event.get("method") in _ERROR_EVENTS:
            self.errors.append(json.dumps(event["params"]))

    def run(self, expression: str) -> Any:
        """The value of an expression, awaited."""
        reply = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until an expression is true; AssertionError with the page's text if it never is. A
        page that is left meanwhile has no value."""
        end = Deadline()
        while not (value := self._run_here(expression)):
            text = self.run("document.body.innerText.slice(-1500)") if end.passed() else ""
            assert not end.passed(), f"never: {expression}\n{self.errors}\n{text}"
            time.sleep(_STEP)
        return value

    def _run_here(self, expression: str) -> Any:
        """The value of an expression; None if the browser leaves the page before it is known."""
        try:
            return self.run(expression)
        except AssertionError as error:
            if _LEFT in str(error):
                return None
            raise

    def open(
        self, url: str, *, theme: str = "light", width: int = 1280, script: bool = True
    ) -> None:
        """Load a page with this theme of the system, with or without JavaScript."""
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        media = [{"name": "prefers-color-scheme", "value": theme}]
        self.command("Emulation.setEmulatedMedia", features=media)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.run("window.isOldPage = true")
        self.command("Page.navigate", url=url)
        self.until("!window.isOldPage && document.readyState === 'complete'")
        self.errors.clear()

    @contextmanager
    def blocked(self, urls: str) -> Iterator[None]:
        """A `with` block in which what matches a pattern is neither loaded nor in the cache."""
        self.command("Network.enable")
        try:
            self.command("Network.setCacheDisabled", cacheDisabled=True)
            self.command("Network.setBlockedURLs", urls=[urls])
            yield
        finally:
            self.command("Network.disable")

    def press(self, key: str, shift: bool = False) -> None:
        """Press and release a key."""
        event: dict[str, Any] = {"key": key, "code": key, "modifiers": 8 if shift else 0}
        event["windowsVirtualKeyCode"] = _KEYS[key]
        text = {"text": "\r" if key == "Enter" else " "} if key in ("Enter", " ") else {}
        self.command("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self.command("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Insert text into the focused element."""
        self.command("Input.insertText", text=text)

    def fill(self, name: str, text: str) -> None:
        """Put text into a field."""
        value = json.dumps(text)
        self.run(
            f"{{ const field = document.getElementById('{name}'); field.value = {value};"
            "for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind)) }"
        )

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def assert_no_errors(self) -> None:
        """Check that the browser logged no errors since the page was opened."""
        time.sleep(_STEP)
        self.run("0")  # events so far arrive before its reply
        assert not self.errors, self.errors


@contextmanager
def driver(folder: Path) -> Iterator[Driver]:
    """A browser with an empty page."""
    with browser(folder, "about:blank") as page:
        yield Driver(page)
