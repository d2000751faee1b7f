"""The playground's lanes, tools, files, formulas and what it keeps, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import IDLE, LAST, PLAYGROUND, chat, choose, enter, forget, send
from tests.support.playground_cases import CASES, HEAD, case, streamed
from tests.support.recording import Recorder
from tests.support.running import ALL, Platform, Running
from tests.support.scripted import script as steps

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

TURNS = "[...document.querySelectorAll('.turn')].map((node) => node.ariaLabel)"
BODIES = "[...document.querySelectorAll('.turn .body')].map((node) => node.innerText)"
TOOL = {"name": "weather", "description": "The weather", "input_schema": {"type": "object"}}
LONG_WORD = "word" * 150


def again(page: Driver, url: str) -> None:
    """Load the playground again, with the token."""
    page.open(url + PLAYGROUND)
    page.fill("token", ALL)
    page.click("#check")
    page.until("document.querySelector('#token-status .good') !== null")


def compare(page: Driver, *models: str) -> None:
    """Ask models beside the first."""
    for number, model in enumerate(models, 2):
        page.click("#add-lane")
        page.fill(f"model-{number}", model)


def attach(page: Driver, *files: tuple[str, str, str]) -> None:
    """Drop files, each with its name, its type and its bytes in base64."""
    page.run(
        "{ const data = new DataTransfer();"
        f"for (const [name, type, text] of {json.dumps(files)})"
        " data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))],"
        " name, {type}));"
        "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data})) }"
    )


def bodies(upstream: Recorder) -> list[Any]:
    return [json.loads(request.body) for request in upstream.requests]


def test_each_paragraph_has_the_direction_of_its_text(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    chat(page, "\u0627\u0644\u0633\u0644\u0627\u0645\n\nplain text")
    gaps = page.run(
        "[...document.querySelectorAll('.turn.model .body p')].map((node) => {"
        " const range = document.createRange(); range.selectNodeContents(node);"
        " return range.getBoundingClientRect().left - node.getBoundingClientRect().left; })"
    )
    assert gaps[0] > 100 > gaps[1]


def test_models_are_asked_side_by_side(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    compare(page, "claude-sonnet", "gemini-2.5-flash", "gpt-4o-mini")
    assert page.run("document.getElementById('add-lane').hidden")
    chat(page, "four at once")
    answers = ["gpt-4o", "claude-sonnet", "gemini-2.5-flash", "gpt-4o-mini"]
    assert page.run(TURNS) == ["You", *answers]
    assert page.run(BODIES) == ["four at once"] * 5
    facts = page.run("[...document.querySelectorAll('.facts')].map((node) => node.innerText)")
    for words in ("first token", "total", "tokens/s", "tokens in"):
        assert all(words in line for line in facts), facts
    assert "USD" in facts[0]
    lefts = page.run(
        "[...document.querySelectorAll('.cell')].map((node) => node.getBoundingClientRect().left)"
    )
    assert lefts == sorted(set(lefts)), "they stand beside each other"
    page.assert_no_errors()


def test_a_lane_reads_its_own_replies(page: Driver, scripted: tuple[Running, Recorder]) -> None:
    front, upstream = scripted
    upstream.reset()
    enter(page, front.url)
    choose(page, "gpt-4o", "chat")
    compare(page, "gpt-4o-mini")
    for reply in ("one", "two"):
        chunk = {"choices": [{"index": 0, "delta": {"content": reply}}]}
        upstream.speak = steps(HEAD + f"data: {json.dumps(chunk)}\n\n".encode(), "close")
        chat(page, f"say {reply}")
    page.click(".lane [aria-label='Remove Model 2']")
    compare(page, "gpt-4o-mini")
    chat(page, "and now?")
    roles = [[turn["content"] for turn in body["messages"]] for body in bodies(upstream)]
    assert roles[2:4] == [["say one", "one", "say two"]] * 2
    assert roles[4:] == [["say one", "one", "say two", "two", "and now?"]] * 2


def test_a_click_and_a_reload_keep_the_conversation(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    compare(page, "claude-sonnet")
    page.fill("system", "Be brief.")
    page.fill("temperature", "0.5")
    attach(page, ("x.png", "image/png", "iVBORw0KGgo="))
    page.until("document.querySelectorAll('#images img').length === 1")
    chat(page, "before")
    facts = page.run(f"{LAST}.querySelector('.facts').innerText")
    page.fill("draft", "unsent")
    page.run("document.querySelector('nav a').click()")
    page.until("location.pathname === '/' && document.readyState === 'complete'")
    again(page, console.url)
    assert page.run(TURNS) == ["You", "gpt-4o", "claude-sonnet"]
    assert page.run(f"{LAST}.querySelector('.facts').innerText") == facts
    assert page.run("document.querySelectorAll('.message img').length") == 1
    values = [page.run(f"document.getElementById('{name}').value") for name in
              ("model", "model-2", "format-2", "system", "temperature", "draft")]  # fmt: skip
    assert values == ["gpt-4o", "claude-sonnet", "messages", "Be brief.", "0.5", "unsent"]
    assert ALL not in page.run("JSON.stringify([localStorage, sessionStorage, location.href])")
    page.fill("draft", "")
    assert chat(page, "after") == "after"
    page.click("#clear")
    page.open(console.url + PLAYGROUND)
    assert page.run(TURNS) == []
    page.assert_no_errors()


def test_a_reload_during_a_reply_keeps_what_came(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    send(page, " ".join(f"word{n}" for n in range(200)))
    page.until(f"{LAST}.querySelector('.body').innerText.includes('word5')")
    again(page, console.url)
    assert "word5" in page.run(f"{LAST}.querySelector('.body').innerText")
    assert page.run(IDLE)


def test_files_too_large_for_the_session_are_left_out(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    page.run(
        "{ const data = new DataTransfer();"
        "data.items.add(new File([new Uint8Array(9e6)], 'large.png', {type: 'image/png'}));"
        "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data})) }"
    )
    page.until("document.querySelectorAll('#images img').length === 1")
    chat(page, "what is this?")
    again(page, console.url)
    assert "large.png (not kept by the reload)" in page.text(".message")
    assert chat(page, "and now?") == "and now?"


def test_a_preset_sets_the_settings(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "claude-sonnet", "messages")
    page.fill("system", "Speak <b>Latin</b>.")
    page.run("document.getElementById('presets').open = true")
    page.until("document.getElementById('preset-save').onclick !== null")
    page.fill("preset-name", "<img src=x onerror=alert(1)>")
    page.click("#preset-save")
    again(page, console.url)
    choose(page, "gpt-4o")
    page.fill("system", "")
    page.run("document.getElementById('presets').open = true")
    page.until("document.querySelector('#preset-list li') !== null")
    page.click("#preset-list li button")
    names = ("model", "system")
    values = [page.run(f"document.getElementById('{name}').value") for name in names]
    assert values == ["claude-sonnet", "Speak <b>Latin</b>."]
    page.click("#preset-list li button:last-child")
    assert page.run("document.querySelectorAll('#preset-list li').length") == 0
    page.assert_no_errors()


def history(page: Driver) -> list[str]:
    """Open the history; the titles in it."""
    page.click("#history-open")
    page.until("document.querySelector('#history[open] li') !== null")
    return shown_titles(page)


def shown_titles(page: Driver) -> list[str]:
    """The titles in the history, which is open."""
    titles = page.run(
        "[...document.querySelectorAll('#history-list button:first-child')]"
        ".map((node) => node.innerText)"
    )
    assert isinstance(titles, list)
    return titles


def test_a_history_is_kept_only_if_it_is_switched_on(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    chat(page, "not kept")
    page.click("#clear")
    chat(page, "<img src=x onerror=alert(1)>")
    assert history(page) == []
    page.click("#history-keep")
    page.until("document.querySelector('#history-list button') !== null")
    page.click("#history-close")
    page.click("#clear")
    chat(page, "kept as well")
    again(page, console.url)
    assert history(page) == ["kept as well", "<img src=x onerror=alert(1)>"]
    page.run("window.saved_ = null; URL.createObjectURL = (blob) => { saved_ = blob; return '#' }")
    page.click("#history-export")
    exported = json.loads(page.run("saved_.text()"))
    assert [entry["title"] for entry in exported["conversations"]] == shown_titles(page)
    assert ALL not in json.dumps(exported)
    page.click("#history-list li:last-child button")
    page.until("!document.getElementById('history').open")
    assert page.run(BODIES) == ["<img src=x onerror=alert(1)>"] * 2
    history(page)
    page.click("#history-list li button:last-child")
    page.until("document.querySelectorAll('#history-list li').length === 1")
    page.click("#history-delete")
    page.until("document.getElementById('history-delete').disabled")
    page.assert_no_errors()


def test_a_history_that_cannot_be_read_is_an_error_in_the_page(
    page: Driver, console: Platform
) -> None:
    enter(page, console.url)
    page.run("indexedDB.open = () => { throw new Error('The storage is switched off.') }; 0")
    page.click("#history-open")
    page.until("document.getElementById('composer-error').innerText !== ''")
    assert "The storage is switched off." in page.text("#composer-error")
    assert not page.run("document.getElementById('history').open")


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_the_results_of_tools_go_back_to_the_model(
    page: Driver, scripted: tuple[Running, Recorder], file: Path
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.reset()
    upstream.speak = steps(HEAD + streamed(example["events"]), "close")
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    page.fill("functions", json.dumps([TOOL]))
    chat(page, "the weather in Rome?")
    page.run(f"{LAST}.querySelector('.tools textarea').value = '{{\"degrees\": 31}}'")
    page.run(f"{LAST}.querySelector('.tools button[type=submit]').click()")
    page.until(f"document.querySelectorAll('.turn.model').length === 2 && {IDLE}")
    sent = bodies(upstream)[-1]
    assert sent["tools"] == example["tools"]
    turns = sent
    for key in example["results"]["at"]:
        turns = turns[key]
    assert turns == example["results"]["are"]
    again(page, front.url)
    values = "[...document.querySelectorAll('.tools textarea')].map((node) => node.value)"
    assert page.run(values) == ['{"degrees": 31}', ""]
    page.assert_no_errors()


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_files_are_sent_in_the_form_of_the_format(
    page: Driver, scripted: tuple[Running, Recorder], file: Path
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.reset()
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    takes_audio = example["format"] in ("chat", "generate")
    notes = ("notes.md", "text/markdown", "IyBOb3Rlcw==")
    audio = ("a.mp3", "audio/mp3", "JVBERi0=")
    attach(page, ("a.pdf", "application/pdf", "JVBERi0="), notes, audio)
    page.until("document.querySelectorAll('#images .file').length === 3")
    if not takes_audio:
        page.until("document.getElementById('composer-error').innerText.includes('audio/mpeg')")
        page.fill("draft", "x")
        page.click("#send")
        page.until(IDLE)
        assert page.run(TURNS) == []
        page.click("#images [aria-label='Remove a.mp3']")
    chat(page, "read these")
    content = bodies(upstream)[-1]
    for key in example["parts"]["at"]:
        content = content[key]
    assert content == example["files"]


def test_the_list_of_models_follows_the_pattern_of_a_combobox(
    page: Driver, console: Platform
) -> None:
    enter(page, console.url)
    field = "document.getElementById('model')"
    page.run(f"{field}.focus(), {field}.select()")
    page.type("son claude")
    assert page.run(f"{field}.ariaExpanded") == "true"
    assert page.text("#model-options").startswith("claude-sonnet")
    page.press("ArrowDown")
    active = page.run(f"{field}.getAttribute('aria-activedescendant')")
    assert page.run(f"document.getElementById('{active}').ariaSelected") == "true"
    page.press("Enter")
    assert page.run(f"[{field}.value, {field}.ariaExpanded]") == ["claude-sonnet", "false"]
    assert page.run("document.getElementById('format').value") == "messages"
    page.press("ArrowDown")
    page.press("ArrowUp")
    page.press("Escape")
    assert page.run(f"[{field}.value, {field}.ariaExpanded]") == ["claude-sonnet", "false"]
    page.run(f"{field}.select()")
    page.type("2.5 usd")
    assert page.text("#model-options").startswith("gpt-4o")
    page.assert_no_errors()


def test_the_code_is_that_of_the_request(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    compare(page, "claude-sonnet")
    page.fill("extra", '{"top_p": 0.25}')
    page.fill("system", LONG_WORD)
    attach(page, ("a.png", "image/png", "iVBORw0KGgo="))
    page.until("document.querySelectorAll('#images img').length === 1")
    chat(page, "the first")
    page.fill("extra", "")
    chat(page, "the second")
    page.run("document.querySelector('.turn.model [aria-label*=\"as code\"]').click()")
    page.until("document.getElementById('dialog').open")
    code = page.text("#program code")
    assert '"top_p": 0.25' in code
    assert '"the first"' in code
    assert f'"{LONG_WORD}"' in code, "only files are left out"
    assert '"data:image/png;base64,<the file in base64>"' in code
    assert "the second" not in code
    assert "$TOKEN" in code
    page.click("#close")
    page.click("#code")
    page.until("document.getElementById('dialog').open")
    page.run("{ const model = document.querySelector('#code-model select');"
             " model.value = 'claude-sonnet'; model.onchange() }")  # fmt: skip
    page.run("document.getElementById('languages').children[2].click()")
    code = page.text("#program code")
    assert "process.env" in code
    assert '"the second"' in code
    page.until("document.querySelector('#program .code-string') !== null")
    page.assert_no_errors()


def test_code_and_formulas_are_set(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    chat(
        page,
        "so $x^2$ and\n\n$$\n\\frac{a}{b}\n$$\n\n```python\ndef f(): # why\n    return 'x'\n```",
    )
    page.until(f"{LAST}.querySelectorAll('math').length === 2")
    page.until(f"{LAST}.querySelector('.code-word') !== null")
    assert page.run(f"{LAST}.querySelector('math mfrac').textContent") == "ab"
    spans = (
        f"[...{LAST}.querySelectorAll('pre span')].map((node) => node.className + node.innerText)"
    )
    assert page.run(spans) == [
        "code-worddef",
        "code-comment# why",
        "code-wordreturn",
        "code-string'x'",
    ]
    page.assert_no_errors()


HOSTILE = [
    "$<img src=x onerror=alert(1)>$ \\(<script>alert(1)</script>\\)",
    "\\[\\href{javascript:alert(1)}{x}\\] $$\\style{background:url(//a.b)}{x}$$",
    "$$\\text{<iframe src=javascript:alert(1)>}$$",
    "$" + "{" * 1000 + "x" + "}" * 1000 + "$",
    "$$" + "\\frac{" * 300 + "x" + "}" * 300 + "$$",
    "\\(\\constructor \\__proto__ \\begin{toString}x\\end{toString}\\)",
    "$a$" * 3000,
    "```html\n<img src=x onerror=alert(1)><script>alert(2)</script>\n```",
    "```js\n" + "'\"`/*" * 3000 + "\n```",
    "```constructor\nx\n```\n\n```__proto__\ny\n```",
]


def test_hostile_formulas_and_code_stay_text(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    page.click("#stream")
    bad = "script,img,svg,iframe,object,embed,form,input,style,a,annotation-xml,semantics"
    named = "[...document.querySelectorAll('.model .body *')].flatMap((node) => "
    named += "node.getAttributeNames().filter((name) => /^on|href|src|^style$/.test(name)))"
    for text in HOSTILE:
        page.click("#clear")
        chat(page, text)
        page.run("Promise.all([import('/console/page/playground/formula.js'),"
                 " import('/console/page/playground/highlight.js')])")  # fmt: skip
        assert page.run(f"{LAST}.querySelectorAll('.body :is({bad})').length") == 0, text[:80]
        assert page.run(named) == [], text[:80]
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), text[:80]
        page.assert_no_errors()


def test_hostile_names_of_tools_and_files_stay_text(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    front, upstream = scripted
    name = "<img src=x onerror=alert(1)>"
    call = {"index": 0, "id": name, "function": {"name": name, "arguments": "</textarea>" + name}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    upstream.speak = steps(HEAD + f"data: {json.dumps(chunk)}\n\n".encode(), "close")
    enter(page, front.url)
    choose(page, name, "chat")
    attach(page, (f"{name}.txt", "text/plain", "eA=="))
    page.until("document.querySelectorAll('#images .file').length === 1")
    choose(page, "gpt-4o", "chat")
    chat(page, name)
    assert page.run("document.querySelectorAll('img:not(.brand img)').length") == 0
    assert name in page.run(f"{LAST}.querySelector('.tool').innerText")
    page.assert_no_errors()


def test_a_link_opens_the_playground_with_a_model(page: Driver, console: Platform) -> None:
    forget(page, console.url)
    page.open(f"{console.url}{PLAYGROUND}#model=claude-sonnet")
    assert page.run("document.getElementById('model').value") == "claude-sonnet"
    assert page.run("location.hash") == ""


@pytest.mark.parametrize(("theme", "width"), looks(1))
def test_the_new_parts_pass_axe(
    page: Driver, console: Platform, axe: str, theme: str, width: int
) -> None:
    enter(page, console.url, theme=theme, width=width)
    choose(page, "gpt-4o", "chat")
    compare(page, "claude-sonnet", "gemini-2.5-flash")
    attach(page, ("a.pdf", "application/pdf", "JVBERi0="))
    page.until("document.querySelectorAll('#images .file').length === 1")
    chat(page, "$$\\int_0^1 x\\,dx$$\n\n```ts\nconst a: number = 1; // yes\n```")
    page.until(f"{LAST}.querySelector('math') && {LAST}.querySelector('.code-word') && true")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    for name in ("presets", "more"):
        page.run(f"document.getElementById('{name}').open = true")
    page.run("document.getElementById('settings').classList.add('open')")
    page.run("document.getElementById('model').focus()")
    page.press("ArrowDown")
    assert violations(page, axe) == []
    history(page)
    assert violations(page, axe) == []
