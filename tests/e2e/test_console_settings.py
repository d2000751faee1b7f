"""The settings of a request: numbers, extra JSON, models by name; and invalid settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import chat, choose, enter
from tests.support.recording import Recorder
from tests.support.running import LIMITED, Platform, Running

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

ERROR = "document.getElementById('composer-error').textContent"
INVALID = [
    ("temperature", "3", "Correct the settings first."),
    ("extra", "{", "“More of the request” is not JSON"),
    ("maximum", "0.5", "Correct the settings first."),
    ("extra", "[1]", "“More of the request” must be a JSON object."),
    ("functions", "{}", "“Tools” must be a JSON array."),
    ("functions", '[{"type": "web_search"}]', "“Tools” has an entry without a name"),
    ("model", "", "Enter the name of a model."),
]
"""A field, an invalid value and what the page says of it; neighbours have different messages."""


def sent_body(page: Driver, scripted: tuple[Running, Recorder], format_: str, model: str) -> Any:
    """The body of a request with settings of all kinds."""
    front, upstream = scripted
    upstream.reset()
    enter(page, front.url)
    choose(page, model, format_)
    page.fill("system", "Be brief.")
    page.fill("temperature", "0")
    page.fill("maximum", "99")
    page.fill("extra", '{"generationConfig": {"topP": 0.5}, "top_p": 0.5}')
    chat(page, "hello")
    return json.loads(upstream.last.body)


def test_settings_are_sent(page: Driver, scripted: tuple[Running, Recorder]) -> None:
    body = sent_body(page, scripted, "chat", "gpt-4o")
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["temperature"], body["max_completion_tokens"], body["top_p"]) == (0, 99, 0.5)


def test_extra_objects_are_merged_into_the_body(
    page: Driver, scripted: tuple[Running, Recorder]
) -> None:
    body = sent_body(page, scripted, "generate", "gemini-2.5-flash")
    assert body["generationConfig"] == {"temperature": 0, "maxOutputTokens": 99, "topP": 0.5}
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}


def test_invalid_settings_are_reported_and_not_sent(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    page.fill("draft", "hello")
    for field, text, words in INVALID:
        before = page.run(f"document.getElementById('{field}').value")
        page.fill(field, text)
        page.click("#send")
        page.until(f"{ERROR}.includes({json.dumps(words)})")
        assert page.run("document.querySelectorAll('.turn').length") == 0, words
        assert page.run("document.getElementById('draft').value") == "hello", words
        page.fill(field, before)


def test_a_token_lists_its_models(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    enter(page, console.url, LIMITED)
    page.run("document.getElementById('model').focus()")
    page.press("ArrowDown")
    names = "[...document.querySelectorAll('#model-options li > :first-child')]"
    listed = page.run(f"{names}.map((node) => node.innerText)")
    assert listed
    assert all(name.startswith("gpt-4o") for name in listed)


def test_an_invalid_second_token_disables_the_list(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    page.fill("token", "mw-wrong")
    page.click("#check")
    page.until("document.querySelector('#token-status .problem') !== null")
    assert page.run("document.getElementById('model').disabled")
    assert page.run("document.activeElement.id") == "token"


def test_a_malformed_token_is_not_sent(page: Driver, console: Platform) -> None:
    enter(page, console.url, "mw with spaces")
    assert "without spaces" in page.text("#token-status")
    page.assert_no_errors()
