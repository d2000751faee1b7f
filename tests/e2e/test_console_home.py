"""The home page with many models, in a real browser."""

from __future__ import annotations

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import PLAYGROUND, chat, choose, enter, forget
from tests.support.recording import Recorder
from tests.support.running import Platform, Running
from tests.support.scripted import script as steps

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

ROWS = "[...document.querySelectorAll('#model-table tbody tr:not([hidden])')]"
NAMES = f"{ROWS}.map((row) => row.querySelector('code').innerText)"


def status_of(model: str) -> str:
    """The status of a model on the page, in JavaScript."""
    row = f"row.querySelector('code').innerText === '{model}'"
    text = "querySelector('.status > :last-child')?.textContent"
    return f"[...document.querySelectorAll('#model-table tbody tr')].find((row) => {row})?.{text}"


def press(page: Driver, title: str) -> None:
    page.run(
        "[...document.querySelectorAll('#filters button')]"
        f".find((node) => node.innerText === '{title}').click()"
    )


def test_models_are_found_by_words_and_by_what_they_do(page: Driver, console: Platform) -> None:
    page.open(console.url + "/")
    total = len(page.run(NAMES))
    page.fill("find", "SONNET claude")
    assert page.run(NAMES) == ["claude-sonnet"]
    assert page.text("#found") == f"1 of {total} models"
    page.fill("find", "")
    press(page, "Embeddings")
    names = page.run(NAMES)
    assert {"text-embedding-3-small", "gemini-embedding-001"} <= set(names)
    assert "gpt-4o" not in names
    page.fill("find", "nothing-has-this")
    assert page.text("#found") == f"0 of {total} models"
    press(page, "All")
    page.fill("find", "")
    assert len(page.run(NAMES)) == total
    page.assert_no_errors()


def test_a_model_is_tried_in_the_playground(page: Driver, console: Platform) -> None:
    forget(page, console.url)
    page.open(console.url + "/")
    page.fill("find", "claude-sonnet")
    page.run(f"{ROWS}[0].querySelector('.try').click()")
    page.until(f"location.pathname === '{PLAYGROUND}' && document.readyState === 'complete'")
    page.until("document.getElementById('model')?.value === 'claude-sonnet'")


def test_the_status_is_what_the_worker_has_seen(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    front, upstream = scripted
    enter(page, front.url)
    choose(page, "gemini-2.5-flash", "generate")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    upstream.speak = steps(head + b"Content-Length: 2\r\n\r\n{}", "close")
    chat(page, "hello")
    page.open(front.url + "/")
    page.until(f"{status_of('gemini-2.5-flash')} === 'Healthy'")
    assert page.run(status_of("gpt-image-1")) == "Unknown"
    answer = page.run("fetch('console/status.json').then((response) => response.text())")
    assert upstream.url not in answer
    page.assert_no_errors()


def test_a_name_has_the_direction_of_its_letters(page: Driver, console: Platform) -> None:
    page.open(console.url + "/")
    places = page.run(
        "['\u05d3\u05d2\u05dd (beta)', 'model (\u05d3\u05d2\u05dd)'].map((name) => {"
        f" const node = {ROWS}[0].querySelector('code'); node.textContent = name;"
        " const range = document.createRange(); const left = (from, to) => {"
        " range.setStart(node.firstChild, from); range.setEnd(node.firstChild, to);"
        " return range.getBoundingClientRect().left; };"
        " return left(0, 3) - left(name.length - 3, name.length - 1); })"
    )
    assert places[0] > 0 > places[1]


@pytest.mark.parametrize(("theme", "width"), looks(0))
def test_the_table_passes_axe(
    page: Driver, console: Platform, axe: str, theme: str, width: int
) -> None:
    page.open(console.url + "/", theme=theme, width=width)
    page.until("document.querySelector('.status') !== null")
    press(page, "Chat")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
