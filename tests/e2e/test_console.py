"""A chat in the playground, in a real browser with the real gateway."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import IDLE, LAST, PLAYGROUND, chat, choose, enter, send
from tests.support.recording import Recorder
from tests.support.running import ALL, Platform, Running
from tests.support.scripted import Leaving
from tests.support.scripted import script as steps
from tests.support.thorough import some

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
FORMATS = [
    ("chat", "gpt-4o"),
    ("responses", "gpt-4o"),
    ("messages", "claude-sonnet"),
    ("generate", "gemini-2.5-flash"),
]


@pytest.mark.parametrize(("format_", "model"), FORMATS)
def test_a_chat_streams_word_by_word(
    page: Driver, console: Platform, format_: str, model: str
) -> None:
    enter(page, console.url)
    choose(page, model, format_)
    page.run(
        "window.seen = new Set(); new MutationObserver(() => seen.add("
        f"{LAST}?.querySelector('.body').textContent)).observe("
        "document.getElementById('turns'), {childList: true, subtree: true, characterData: true})"
    )
    message = " ".join(f"word{n}" for n in range(12))
    assert chat(page, message) == message
    assert page.run("seen.size") > 4
    facts = page.run(f"{LAST}.querySelector('.facts').textContent")
    assert "first token" in facts
    assert "15 tokens in, 12 out" in facts
    assert chat(page, "and again") == "and again"
    page.assert_no_errors()


@pytest.mark.parametrize(
    ("format_", "model"),
    some(
        [
            ("responses", "gemini-2.5-flash"),
            ("messages", "gpt-4o"),
            ("chat", "claude-sonnet"),
            ("generate", "claude-sonnet"),
        ],
        2,
    ),
)
def test_a_chat_in_a_format_that_is_translated(
    page: Driver, console: Platform, format_: str, model: str
) -> None:
    enter(page, console.url)
    choose(page, model, format_)
    assert "translated" in page.run("document.getElementById('format').selectedOptions[0].text")
    assert chat(page, "from one vendor to another") == "from one vendor to another"
    assert "tokens in" in page.run(f"{LAST}.querySelector('.facts').textContent")
    page.assert_no_errors()


@pytest.mark.parametrize(("format_", "model"), some(FORMATS[::-1], 2))
def test_a_chat_without_a_stream(page: Driver, console: Platform, format_: str, model: str) -> None:
    enter(page, console.url)
    choose(page, model, format_)
    page.click("#stream")
    assert chat(page, "all at once") == "all at once"
    page.assert_no_errors()


def test_a_reply_shows_its_cost_if_the_model_has_a_price(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    chat(page, "one two three")
    facts = f"{LAST}.querySelector('.facts').textContent"
    assert "0.000045 USD" in page.run(facts)
    assert "session" not in page.run(facts)
    chat(page, "four")
    assert re.search(r"session playground-\w+: 2 turns · \d+ tokens in, 0% cached", page.run(facts))


@pytest.mark.parametrize("how", ["button", "escape"])
def test_stop_closes_the_upstreams_connection(
    page: Driver, scripted: tuple[Running, Recorder], how: str
) -> None:
    front, upstream = scripted
    chunk = {"choices": [{"index": 0, "delta": {"content": "begun"}}]}
    upstream.speak = leaving = Leaving(EVENTS, f"data: {json.dumps(chunk)}\n\n".encode())
    enter(page, front.url)
    choose(page, "gpt-4o", "chat")
    send(page, "go on for ever")
    page.until(f"{LAST}.querySelector('.body').innerText === 'begun'")
    if how == "button":
        page.click("#send")
    else:
        page.press("Escape")
    assert leaving.is_left()
    page.until(IDLE)
    assert "stopped" in page.run(f"{LAST}.querySelector('.facts').textContent")
    page.assert_no_errors()


def test_a_wrong_token_is_reported_at_once(page: Driver, console: Platform) -> None:
    enter(page, console.url, "mw-wrong")
    status = page.text("#token-status")
    assert "not known here" in status
    assert "401" in status
    assert "invalid_api_key" in status
    assert "req_" in status
    assert page.run("document.getElementById('model').disabled") is True
    page.fill("draft", "x")
    page.click("#send")
    page.until("document.getElementById('composer-error').textContent !== ''")
    assert page.run("document.querySelectorAll('.turn').length") == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("pt-4o", ["404", "model_not_found", "Did you mean", "req_", "Choose a model"]),
        ("fault-status-503", ["503", "mock_fault", "Retry"]),
        ("fault-status-429-retry-after-180", ["429", "Wait 3 minutes"]),
        ("fault-error-after-3", ["mock_fault", "Retry"]),
        ("fault-close-after-3", ["Retry"]),
    ],
)
def test_an_error_has_details_and_advice(
    page: Driver, console: Platform, model: str, words: list[str]
) -> None:
    enter(page, console.url)
    choose(page, model, "chat")
    chat(page, "a b c d e f g")
    problem = page.run(f"{LAST}.querySelector('.problem').innerText")
    assert [word for word in words if word not in problem] == [], problem


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script><svg onload=alert(2)><iframe src='javascript:alert(3)'></iframe>",
    "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
    '![x](https://127.0.0.1:9/pixel.png) ![y](x"onerror="alert(1))',
    "[" * 500 + "x" + "](" * 500,
    "*_`~" * 3000,
    "> " * 2000 + "deep",
    "\n".join("  " * n + "- item" for n in range(300)),
    "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|" * 3000,
    "```" + "x" * 5000 + "\n" + "y" * 50_000,
    "word" * 30_000,
    "\u202e\u0000\ufeff\u2028 <b>&lt;i&gt;</b> &#60;script&#62;",
]


def test_hostile_output_of_a_model_stays_text(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    page.click("#stream")
    bad = "script,img,svg,iframe,object,embed,form,input,style"
    unsafe = f"{LAST}.querySelectorAll('.body :is({bad})').length"
    links = f"[...{LAST}.querySelectorAll('.body a')].map((a) => a.protocol + a.rel)"
    for text in HOSTILE:
        page.click("#clear")
        chat(page, text)
        page.assert_no_errors()
        assert page.run(unsafe) == 0, text[:80]
        assert set(page.run(links)) <= {"https:noopener noreferrer"}, text[:80]
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), text[:80]


def test_the_driver_sees_violations_of_the_policy(page: Driver, console: Platform) -> None:
    page.open(console.url + PLAYGROUND)
    page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')")
    page.until("document.querySelector('img[onerror]').complete")
    page.run("0")
    assert any("Content Security Policy" in error for error in page.errors)


def test_html_in_a_message_is_shown_as_text(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    assert chat(page, HOSTILE[0]) == HOSTILE[0]


def test_reasoning_and_tool_calls_are_shown(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    front, upstream = scripted
    call = {"index": 0, "id": "c", "function": {"name": "weather", "arguments": '{"at":'}}
    more = {"index": 0, "function": {"arguments": '"Rome"}'}}
    deltas = [{"reasoning_content": "let me see"}, {"tool_calls": [call]}, {"tool_calls": [more]}]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    upstream.speak = steps(EVENTS + body.encode(), "close")
    enter(page, front.url)
    choose(page, "gpt-4o", "chat")
    chat(page, "the weather in Rome?")
    assert page.run(f"{LAST}.querySelector('.thoughts').textContent") == "let me see"
    assert "weather" in page.run(f"{LAST}.querySelector('.tool').innerText")
    assert '"at": "Rome"' in page.run(f"{LAST}.querySelector('.tool pre').innerText")
    page.run(f"{LAST}.querySelector('.raw').open = true")
    page.until(f"{LAST}.querySelector('.raw pre')?.innerText.includes('[DONE]')")


def test_retry_edit_and_clear(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "first")
    chat(page, "second")
    page.run(f"{LAST}.querySelector('[aria-label^=Retry]').click()")
    page.until(f"document.querySelectorAll('.turn').length === 4 && {IDLE}")
    page.run("document.querySelector('.turn.user [aria-label^=Edit]').click()")
    assert page.run("document.activeElement.id + document.activeElement.value") == "draftfirst"
    page.fill("draft", "instead")
    page.click("#send")
    page.until(f"{LAST}?.querySelector('.body').innerText === 'instead' && {IDLE}")
    assert page.run("[...document.querySelectorAll('.message')].map((node) => node.innerText)") == [
        "instead"
    ]
    page.click("#clear")
    assert page.run("document.querySelectorAll('.turn').length") == 0


def test_retry_of_an_earlier_turn_removes_the_edited_one(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "first")
    chat(page, "second")
    page.run("[...document.querySelectorAll('.user [aria-label^=Edit]')].at(-1).click()")
    page.run("document.querySelector('.model [aria-label^=Retry]').click()")
    page.until(f"document.querySelectorAll('.turn').length === 2 && {IDLE}")
    assert page.run("document.getElementById('editing').hidden")
    chat(page, "third")
    assert page.run("[...document.querySelectorAll('.message')].map((node) => node.innerText)") == [
        "first",
        "third",
    ]


def test_an_image_is_sent_with_the_message(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    front, upstream = scripted
    upstream.reset()
    enter(page, front.url)
    choose(page, "gpt-4o", "chat")
    page.run(
        "fetch('data:image/png;base64,iVBORw0KGgo=').catch(() => 0); {"
        "const bytes = Uint8Array.from(atob('iVBORw0KGgo='), (c) => c.charCodeAt(0));"
        "const data = new DataTransfer();"
        "data.items.add(new File([bytes], 'x.png', {type: 'image/png'}));"
        "document.getElementById('draft').dispatchEvent("
        "new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})) }"
    )
    page.until("document.querySelectorAll('#images img').length === 1")
    chat(page, "what is this?")
    content = json.loads(upstream.last.body)["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


def test_no_token_is_in_a_log(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "hello")
    assert ALL not in console.gateway.output() + console.mock.output()
