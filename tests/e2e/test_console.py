"""The pages in a real browser, before the real gateway: as a person finds them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.support.axe import script, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver, driver
from tests.support.pages import console, told
from tests.support.recording import Recorder
from tests.support.running import ALL, Platform, Running
from tests.support.scripted import Leaving
from tests.support.scripted import script as steps

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

PLAYGROUND = "/console/playground"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
LAST = "[...document.querySelectorAll('.turn.model')].at(-1)"
IDLE = "document.getElementById('send').textContent === 'Send'"
FORMATS = [
    ("chat", "gpt-4o"),
    ("responses", "gpt-4o"),
    ("messages", "claude-sonnet"),
    ("generate", "gemini-2.5-flash"),
]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with console(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Recorder]]:
    with told(tmp_path_factory.mktemp("told")) as running:
        yield running


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with driver(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = script(tmp_path_factory.mktemp("axe"))
    if not found:
        pytest.skip("axe-core cannot be had: npm is missing, or reaches nothing")
    return found


def enter(page: Driver, url: str, token: str = ALL, **more: object) -> None:
    """Open the playground and check a token."""
    page.open(url + PLAYGROUND, **more)  # type: ignore[arg-type]
    page.fill("token", token)
    page.click("#check")
    page.until("document.querySelector('#token-said .good, #token-said .problem') !== null")


def choose(page: Driver, model: str, format_: str = "") -> None:
    known = page.run(
        f"[...document.getElementById('model').options].some((o) => o.value === {model!r})"
    )
    page.fill("model", model if known else "\0other")
    if not known:
        page.fill("other", model)
    if format_:
        page.fill("format", format_)


def send(page: Driver, text: str) -> None:
    before = page.run("document.querySelectorAll('.turn.model').length")
    page.fill("draft", text)
    page.click("#send")
    page.until(f"document.querySelectorAll('.turn.model').length > {before}")


def chat(page: Driver, text: str) -> str:
    """Send a message, and what is shown of the reply in the end."""
    send(page, text)
    page.until(IDLE)
    return str(page.run(f"{LAST}.querySelector('.body').innerText"))


@pytest.mark.parametrize(("format_", "model"), FORMATS)
def test_a_chat_streams_word_by_word(
    page: Driver, platform: Platform, format_: str, model: str
) -> None:
    enter(page, platform.url)
    choose(page, model, format_)
    page.run(
        "window.seen = new Set(); new MutationObserver(() => seen.add("
        f"{LAST}?.querySelector('.body').textContent)).observe("
        "document.getElementById('turns'), {childList: true, subtree: true, characterData: true})"
    )
    said = " ".join(f"word{n}" for n in range(12))
    assert chat(page, said) == said
    assert page.run("seen.size") > 4
    facts = page.run(f"{LAST}.querySelector('.facts').textContent")
    assert "first token" in facts
    assert "15 tokens in, 12 out" in facts
    assert chat(page, "and again") == "and again"
    page.sound()


@pytest.mark.parametrize(("format_", "model"), FORMATS)
def test_a_chat_without_a_stream(
    page: Driver, platform: Platform, format_: str, model: str
) -> None:
    enter(page, platform.url)
    choose(page, model, format_)
    page.click("#stream")
    assert chat(page, "all at once") == "all at once"
    page.sound()


def test_cost_stands_where_a_price_is_known(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
    choose(page, "gpt-4o", "chat")
    chat(page, "one two three")
    assert "0.000045 USD" in page.run(f"{LAST}.querySelector('.facts').textContent")


@pytest.mark.parametrize("how", ["button", "escape"])
def test_stopping_ends_the_upstreams_request(
    page: Driver, scripted: tuple[Running, Recorder], how: str
) -> None:
    front, upstream = scripted
    chunk = {"choices": [{"index": 0, "delta": {"content": "begun"}}]}
    upstream.speak = leaving = Leaving(EVENTS, f"data: {json.dumps(chunk)}\n\n".encode())
    enter(page, front.url)
    choose(page, "gpt-4o", "chat")
    send(page, "go on for ever")
    page.until(f"{LAST}.querySelector('.body').innerText === 'begun'")
    moment = time.monotonic()
    if how == "button":
        page.click("#send")
    else:
        page.press("Escape")
    assert leaving.seconds_after(moment) < 2
    page.until(IDLE)
    assert "stopped" in page.run(f"{LAST}.querySelector('.facts').textContent")
    page.sound()


def test_a_wrong_token_is_told_at_once(page: Driver, platform: Platform) -> None:
    enter(page, platform.url, "mw-wrong")
    said = page.text("#token-said")
    assert "not known here" in said
    assert "401" in said
    assert "invalid_api_key" in said
    assert "req_" in said
    assert page.run("document.getElementById('model').disabled") is True
    page.fill("draft", "x")
    page.click("#send")
    page.until("document.getElementById('composer-said').textContent !== ''")
    assert page.run("document.querySelectorAll('.turn').length") == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gpt-5o", ["404", "model_not_found", "Did you mean", "req_", "Choose a model"]),
        ("fault-status-503", ["503", "mock_fault", "Retry"]),
        ("fault-status-429-retry-after-7", ["429", "Wait 7 s"]),
        ("fault-error-after-3", ["mock_fault", "Retry"]),
        ("fault-close-after-3", ["Retry"]),
    ],
)
def test_an_error_says_what_and_what_to_do(
    page: Driver, platform: Platform, model: str, words: list[str]
) -> None:
    enter(page, platform.url)
    choose(page, model, "chat")
    chat(page, "a b c d e f g")
    problem = page.run(f"{LAST}.querySelector('.problem').innerText")
    assert [word for word in words if word not in problem] == []


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script><svg onload=alert(2)><iframe src='javascript:alert(3)'></iframe>",
    "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
    "![x](https://127.0.0.1:9/pixel.png) ![y](x\"onerror=\"alert(1))",
    "[" * 500 + "x" + "](" * 500,
    "*_`~" * 3000,
    "> " * 2000 + "deep",
    "\n".join("  " * n + "- item" for n in range(300)),
    "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|" * 3000,
    "```" + "x" * 5000 + "\n" + "y" * 50_000,
    "word" * 30_000,
    "\u202e\u0000\ufeff\u2028 <b>&lt;i&gt;</b> &#60;script&#62;",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_model_says_stays_text(page: Driver, platform: Platform, text: str) -> None:
    enter(page, platform.url)
    choose(page, "gpt-4o", "chat")
    page.click("#stream")
    chat(page, text)
    page.sound()
    unsafe = (
        f"{LAST}.querySelectorAll('.body :is(script,img,svg,iframe,object,embed,form,input,style)')"
    )
    assert page.run(f"{unsafe}.length") == 0
    links = page.run(f"[...{LAST}.querySelectorAll('.body a')].map((a) => [a.protocol, a.rel])")
    assert all(one in (["https:", "noopener noreferrer"],) for one in links)
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_text_that_looks_like_html_is_shown_as_it_is(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
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


def test_retry_edit_and_clear(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
    chat(page, "first")
    chat(page, "second")
    page.run(f"{LAST}.querySelector('[aria-label^=Retry]').click()")
    page.until(f"document.querySelectorAll('.turn').length === 4 && {IDLE}")
    page.run("document.querySelector('.turn.user [aria-label^=Edit]').click()")
    assert page.run("document.activeElement.id + document.activeElement.value") == "draftfirst"
    page.fill("draft", "instead")
    page.click("#send")
    page.until(f"{LAST}?.querySelector('.body').innerText === 'instead' && {IDLE}")
    assert page.run("[...document.querySelectorAll('.own')].map((one) => one.innerText)") == ["instead"]
    page.click("#clear")
    assert page.run("document.querySelectorAll('.turn').length") == 0


def test_an_image_goes_with_the_message(page: Driver, scripted: tuple[Running, Recorder]) -> None:
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


def test_a_reload_keeps_nothing_unless_asked(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
    chat(page, "a secret")
    page.open(platform.url + PLAYGROUND)
    assert page.run("document.getElementById('token').value") == ""
    stored = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
    assert ALL not in page.run(stored)
    enter(page, platform.url)
    page.click("#keep")
    page.open(platform.url + PLAYGROUND)
    page.until("document.querySelector('#token-said .good') !== null")
    page.click("#keep")
    assert ALL not in page.run(stored)


def test_with_the_keyboard_alone(page: Driver, platform: Platform) -> None:
    page.open(platform.url + PLAYGROUND)
    focus = "document.activeElement.id"
    for _ in range(12):
        page.press("Tab")
        if page.run(focus) == "token":
            break
    page.type(ALL)
    page.press("Enter")
    page.until("document.querySelector('#token-said .good') !== null")
    for _ in range(25):
        page.press("Tab")
        if page.run(focus) == "draft":
            break
    page.type("typed")
    page.press("Enter", shift=True)
    page.type("by hand")
    page.press("Enter")
    page.until(f"{LAST}?.querySelector('.body').innerText === 'typed\\nby hand' && {IDLE}")
    assert page.run(focus) == "draft"
    page.until("document.getElementById('said').innerText.includes('Reply complete.')")
    page.sound()


def test_the_conversation_as_code(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
    chat(page, "it's \"quoted\"")
    page.click("#code")
    page.until("document.getElementById('dialog').open")
    for number, words in enumerate(["curl -N", "from openai import OpenAI", 'import OpenAI from']):
        page.run(f"document.getElementById('languages').children[{number}].click()")
        page.until(f"document.getElementById('program').innerText.includes({words!r})")
        assert ALL not in page.text("#program")
        assert "TOKEN" in page.text("#program")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_pages_are_for_everybody(
    page: Driver, platform: Platform, axe: str, theme: str, width: int
) -> None:
    page.open(platform.url + "/", theme=theme, width=width)
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    page.open(platform.url + PLAYGROUND, theme=theme, width=width)
    assert violations(page, axe) == []
    enter(page, platform.url, theme=theme, width=width)
    chat(page, "# Head\n\n- [x](https://a.b/)\n\n```py\n1\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n`x` **y**")
    choose(page, "gpt-9")
    chat(page, "nobody")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_theme_can_be_chosen_and_stays(page: Driver, platform: Platform) -> None:
    page.open(platform.url + "/", theme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.run(colour)
    page.click(".theme")
    dark = page.run(colour)
    assert light != dark
    page.open(platform.url + PLAYGROUND, theme="light")
    assert page.run(colour) == dark
    page.run("localStorage.clear()")


def test_home_works_without_scripts(page: Driver, platform: Platform) -> None:
    page.open(platform.url + "/", script=False)
    assert page.text("#base") == f"{platform.url}/v1"
    page.run("document.getElementById('chat-1').checked = true")
    assert "from openai import OpenAI" in page.text("main")
    assert "gpt-4o" in page.text("table")
    page.sound()
    page.open(platform.url + "/")


def test_the_reference_tries_out_an_operation(page: Driver, platform: Platform) -> None:
    page.open(platform.url + "/docs")
    page.until("document.querySelectorAll('.opblock').length > 15")
    page.click(".authorize")
    page.until("document.querySelector('.auth-container input') !== null")
    page.run("document.querySelector('.auth-container input').focus()")
    page.type(ALL)
    page.click(".auth-btn-wrapper .authorize")
    page.click(".btn-done")
    page.click(".opblock button")
    page.until("document.querySelector('.try-out__btn') !== null")
    page.click(".try-out__btn")
    page.until("document.querySelector('.execute') !== null")
    page.click(".execute")
    page.until("document.querySelector('.live-responses-table .response-col_status') !== null")
    shown = page.text(".live-responses-table")
    assert "200" in shown
    assert "chat.completion" in shown
    page.sound()


def test_two_hundred_messages_stay_quick(page: Driver, platform: Platform) -> None:
    enter(page, platform.url)
    choose(page, "gpt-4o", "chat")
    page.run(
        "Promise.all([import('/console/page/playground/transcript.js'),"
        " import('/console/page/playground/reply.js')]).then(([{question, Answer}, {Reply}]) => {"
        "for (let n = 0; n < 100; n++) {"
        " question({text: 'question ' + n, images: []}, () => 0);"
        " const answer = new Answer('m', {});"
        " answer.reply = new Reply(() => 0);"
        " answer.reply.write('# Head\\n\\ntext **bold** `code`\\n\\n```js\\nlet x = 1;\\n```\\n'.repeat(5));"
        " answer.reply.end(); answer.end(); } })"
    )
    page.until("document.querySelectorAll('.turn').length === 200")
    page.run(
        "window.frames_ = []; let last = performance.now(); window.going = true;"
        "const tick = (now) => { frames_.push(now - last); last = now; going && requestAnimationFrame(tick) };"
        "requestAnimationFrame(tick)"
    )
    chat(page, " ".join("word" for _ in range(60)))
    frames = sorted(page.run("window.going = false, frames_"))
    assert len(frames) > 20
    assert frames[len(frames) // 2] < 34
