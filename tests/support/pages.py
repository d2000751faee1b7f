"""The console in front of a mock, or of an upstream with scripted responses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.driver import Driver
from tests.support.recording import Recorder, recorder
from tests.support.running import (
    ALL,
    Platform,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    replaced,
    shipped,
)

PLAYGROUND = "/console/playground"

LAST = "[...document.querySelectorAll('.turn.model')].at(-1)"
"""The last reply, in JavaScript."""

IDLE = "document.getElementById('send').textContent === 'Send'"
"""Whether no reply is under way, in JavaScript."""

CONVERSATION = (
    "Promise.all([import('/console/page/playground/transcript.js'),"
    " import('/console/page/playground/reply.js'), import('/console/page/playground/facts.js')])"
    ".then(([{Round, Answer}, {Reply}, {newSession}]) => { const session = newSession();"
    "for (let n = 0; n < 100; n++) {"
    " const round = new Round({text: 'question ' + n, files: []}, () => 0);"
    " const reply = new Reply();"
    " const answer = new Answer('m', reply, round, 0, {});"
    " reply.write('# Head\\n\\ntext **b** `c`\\n\\n```js\\nx = 1;\\n```\\n'.repeat(5));"
    " reply.end(); answer.end({session}); } })"
)
"""Adds two hundred turns to a page, in JavaScript."""

_PRICES = """
prices:
  gpt-4o: {input: 2.5, output: 10, cached_input: 1.25}
"""
_CORS = """
cors: {origins: ["${MOCK}"]}
"""
_FAULTS = """
  "fault-*":
    to: [{upstream: openai}, {upstream: anthropic}, {upstream: gemini}]
    translate: off
"""


def _config(folder: Path) -> str:
    config = replaced(shipped(folder), r"\nroutes:\n", f"{_FAULTS}{_PRICES}{_CORS}\nroutes:\n")
    return patient(config).replace("workers: 2", "workers: 1")


@contextmanager
def console(folder: Path) -> Iterator[Platform]:
    """The shipped gateway with prices and faults, and a mock with a delay."""
    config = _config(folder / "project")
    with (
        mock(folder, "--delay", "0.02") as upstream,
        gateway(folder / "project", config, pointed_at(upstream.url)) as front,
    ):
        yield Platform(front, upstream, folder / "project")


@contextmanager
def scripted(folder: Path) -> Iterator[tuple[Running, Recorder]]:
    """The same with a Recorder as the upstream, whose `speak` a test sets."""
    folder.mkdir(exist_ok=True)
    with recorder() as upstream:
        config = _config(folder / "project")
        with gateway(folder / "project", config, pointed_at(upstream.url)) as front:
            yield front, upstream


def forget(page: Driver, url: str) -> None:
    """Remove what the browser has stored for the pages; the page that is open is left."""
    page.open(f"{url}/console/page/mark.svg")
    page.run("sessionStorage.clear(); localStorage.clear()")


def enter(page: Driver, url: str, token: str = ALL, **more: object) -> None:
    """Open the playground, as for the first time, and check a token."""
    forget(page, url)
    page.open(url + PLAYGROUND, **more)  # type: ignore[arg-type]
    page.fill("token", token)
    page.click("#check")
    page.until("document.querySelector('#token-status .good, #token-status .problem') !== null")


def choose(page: Driver, model: str, format_: str = "") -> None:
    """Choose a model by its name, and a format."""
    page.fill("model", model)
    if format_:
        page.fill("format", format_)


def send(page: Driver, text: str) -> None:
    """Send a message, and wait until its reply has begun."""
    before = page.run("document.querySelectorAll('.turn.model').length")
    page.fill("draft", text)
    page.click("#send")
    page.until(f"document.querySelectorAll('.turn.model').length > {before}")


def chat(page: Driver, text: str) -> str:
    """Send a message; the visible text of the complete reply."""
    send(page, text)
    page.until(IDLE)
    return str(page.run(f"{LAST}.querySelector('.body').innerText"))
