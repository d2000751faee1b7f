"""Reasoning, tool calls and images in each of the four formats, as the vendors stream them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import IDLE, LAST, chat, choose, enter, send
from tests.support.playground_cases import CASES, HEAD, case, streamed
from tests.support.recording import Recorder
from tests.support.running import Running
from tests.support.scripted import Leaving
from tests.support.scripted import script as steps
from tests.support.thorough import diagonal, some

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

PNG = "iVBORw0KGgo="


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_reasoning_and_tool_calls_are_shown(
    page: Driver, scripted: tuple[Running, Recorder], file: Path
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.speak = steps(HEAD + streamed(example["events"]), "close")
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    assert chat(page, "the weather in Rome?") == "It is sunny."
    assert page.run(f"{LAST}.querySelector('.thoughts').textContent") == "let me see"
    assert "weather" in page.run(f"{LAST}.querySelector('.tool').innerText")
    arguments = page.run(f"{LAST}.querySelector('.tool pre').innerText")
    assert json.loads(arguments) == {"at": "Rome"}
    facts = page.run(f"{LAST}.querySelector('.facts').textContent")
    assert "7 tokens in, 5 out" in facts
    page.assert_no_errors()


@pytest.mark.parametrize("file", some(CASES[::-1], 2), ids=lambda file: file.stem)
def test_stop_closes_the_upstreams_connection(
    page: Driver, scripted: tuple[Running, Recorder], file: Path
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.speak = leaving = Leaving(HEAD, streamed(example["events"][:-1]))
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    send(page, "go on for ever")
    page.until(f"{LAST}.querySelector('.body').innerText.startsWith('It is')")
    page.click("#send")
    assert leaving.is_left()
    page.until(IDLE)
    assert "stopped" in page.run(f"{LAST}.querySelector('.facts').textContent")


def give(page: Driver, how: str) -> None:
    """Paste an image into the draft, or drop it on the page."""
    event = (
        "new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})"
        if how == "paste"
        else "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})"
    )
    page.run(
        f"{{ const bytes = Uint8Array.from(atob('{PNG}'), (c) => c.charCodeAt(0));"
        "const data = new DataTransfer();"
        "data.items.add(new File([bytes], 'x.png', {type: 'image/png'}));"
        f"document.getElementById('draft').dispatchEvent({event}) }}"
    )
    page.until("document.querySelectorAll('#images img').length === 1")


@pytest.mark.parametrize(
    ("file", "how"),
    diagonal(CASES, ["paste", "drop"]),
    ids=lambda value: getattr(value, "stem", value),
)
def test_an_image_is_sent_in_the_form_of_the_format(
    page: Driver, scripted: tuple[Running, Recorder], file: Path, how: str
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.speak = steps(HEAD + streamed(example["events"]), "close")
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    give(page, how)
    chat(page, "what is this?")
    body = json.loads(upstream.last.body)
    for key in example["parts"]["at"]:
        body = body[key]
    assert body == example["parts"]["are"]


def test_a_file_of_another_kind_is_refused(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    front, _ = scripted
    enter(page, front.url)
    page.run(
        "{ const data = new DataTransfer();"
        "data.items.add(new File(['x'], 'old.zip', {type: 'application/zip'}));"
        "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data})) }"
    )
    page.until(
        "document.getElementById('composer-error').textContent.includes('old.zip is not an image')"
    )
    assert page.run("document.querySelectorAll('#images img').length") == 0
