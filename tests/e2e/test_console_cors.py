"""A web page of another origin may call the API only if `cors` lists its origin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.running import ALL, Platform

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

CALL = """
fetch(%s, {
  method: "POST",
  headers: {
    authorization: "Bearer " + %s,
    "content-type": "application/json",
    "x-stainless-lang": "js",
  },
  body: JSON.stringify({model: "gpt-4o", messages: [{role: "user", content: "hi"}]}),
}).then(
  async (answer) => [answer.status, answer.headers.get("x-request-id"), await answer.text()],
  (error) => [error.name],
)
"""


def call(page: Driver, platform: Platform, token: str = ALL) -> list[Any]:
    url = platform.url + "/v1/chat/completions"
    result = page.run(CALL % (json.dumps(url), json.dumps(token)))
    assert isinstance(result, list)
    return result


def test_a_page_of_a_listed_origin_may_call(page: Driver, console: Platform) -> None:
    page.open(console.mock.url + "/")
    status, request_id, body = call(page, console)
    assert status == 200
    assert request_id.startswith("req_")
    assert "chat.completion" in body
    status, request_id, body = call(page, console, "mw-wrong")
    assert status == 401
    assert "invalid_api_key" in body


def test_a_page_of_another_origin_may_not_call(page: Driver, console: Platform) -> None:
    page.open(console.mock.url.replace("127.0.0.1", "localhost") + "/")
    assert call(page, console) == ["TypeError"]
