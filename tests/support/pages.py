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
    ".then(([{question, Answer}, {Reply}, {newSession}]) => { const session = newSession();"
    "for (let n = 0; n < 100; n++) {"
    " question({text: 'question ' + n, images: []}, () => 0);"
    " const answer = new Answer({model: 'm', session}, () => 0);"
    " answer.reply = new Reply(() => 0);"
    " answer.reply.write('# Head\\n\\ntext **b** `c`\\n\\n```js\\nx = 1;\\n```\\n'.repeat(5));"
    " answer.reply.end(); answer.end(); } })"
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


def enter(page: Driver, url: str, token: str = ALL, **more: object) -> None:
    """Open the playground and check a token."""
    page.open(url + PLAYGROUND, **more)  # type: ignore[arg-type]
    page.fill("token", token)
    page.click("#check")
    page.until("document.querySelector('#token-status .good, #token-status .problem') !== null")


def choose(page: Driver, model: str, format_: str = "") -> None:
    """Choose a model, in the list or by name, and a format."""
    listed = page.run(
        f"[...document.getElementById('model').options].some((o) => o.value === {model!r})"
    )
    page.fill("model", model if listed else "\0other")
    if not listed:
        page.fill("other", model)
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
