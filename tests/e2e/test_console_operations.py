"""The page of operations in a real browser, on the telemetry listener of a real gateway."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.recording import ask, request
from tests.support.running import Running
from tests.support.screenshots import FITS, picture, same, taken
from tests.support.small import chat
from tests.support.usage_gateway import SECRETS, usage_gateway
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with usage_gateway(tmp_path_factory.mktemp("operations")) as running:
        load(running)
        until(lambda: report(running)["limits"], "limits")  # they are read every few seconds
        yield running


def report(front: Running) -> dict[str, Any]:
    data: dict[str, Any] = ask(front.telemetry, request("/operations.json")).json()
    return data


def load(front: Running) -> None:
    """Some requests, of which some fail."""
    for name in ("ann", "ben", "cid"):
        assert ask(front.port, chat("chat", token=SECRETS[name])).status == 200
    assert ask(front.port, chat("chat", model="gone", token=SECRETS["cid"])).status >= 500
    assert ask(front.port, chat("chat", model="unknown", token=SECRETS["cid"])).status == 404


def show(page: Driver, front: Running, **options: object) -> None:
    """Open the page, and wait until it has figures of traffic."""
    page.open(f"http://127.0.0.1:{front.telemetry}/operations", **options)  # type: ignore[arg-type]
    page.until("document.querySelector('.tiles') !== null")
    load(front)
    page.until(r"/Requests\s+(?!0\/s)\S/.test(document.querySelector('.tiles').innerText)")
    page.until("document.querySelector('[aria-label=\"Errors by kind\"]') !== null")
    page.until("document.querySelector('[aria-label=\"Limits\"]') !== null")


def test_it_shows_traffic_errors_limits_and_tokens(page: Driver, front: Running) -> None:
    load(front)
    time.sleep(0.3)  # metrics are recorded after the responses
    show(page, front)
    text = page.run("document.getElementById('content').innerText")
    for part in ("model not found", "away: connect", "team search", "late", "expired", "main"):
        assert part in text, part
    assert "Store records" in text
    page.until(
        "[...document.querySelectorAll('.chart svg')].some((one) => /Now/.test(one.ariaLabel))"
    )
    for secret in SECRETS.values():
        assert secret not in text
    page.assert_no_errors()


def test_it_says_what_it_cannot_show(page: Driver, front: Running) -> None:
    show(page, front)
    page.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    page.until("document.querySelector('#problems .problem') !== null")
    assert "does not answer" in page.text("#problems")
    assert page.run("document.getElementById('content').classList.contains('old')")


def test_it_is_for_operators_and_not_on_the_listener_of_the_api(front: Running) -> None:
    through = ["X-Forwarded-For: 127.0.0.1"]
    for path in ("/operations", "/operations.json", "/operations/page/data.css"):
        assert ask(front.telemetry, request(path)).status == 200
        assert ask(front.telemetry, request(path, headers=through)).status == 403
        assert ask(front.port, request(path)).status == 404
    for method in ("POST", "PUT", "DELETE"):
        response = ask(front.telemetry, request("/operations.json", b"{}", method=method))
        assert response.status in (404, 405)


def test_the_data_is_the_same_for_all_who_ask_within_a_second(front: Running) -> None:
    begin = time.monotonic()
    answers = [ask(front.telemetry, request("/operations.json")) for _ in range(20)]
    seconds = int(time.monotonic() - begin)  # several on a busy machine
    assert len({json.dumps(answer.json()["time"]) for answer in answers}) <= 2 + seconds
    text = answers[0].body.decode()
    assert not [secret for secret in SECRETS.values() if secret in text]
    assert "sha256" not in text


def test_the_page_is_as_in_its_picture(page: Driver, front: Running) -> None:
    show(page, front)
    page.click("#pause")
    same(page, "console-operations.png", taken(page))


@pytest.mark.parametrize(("theme", "width"), looks(2))
def test_the_page_passes_axe(
    page: Driver, front: Running, axe: str, theme: str, width: int
) -> None:
    show(page, front, theme=theme, width=width)
    page.click("#pause")
    assert violations(page, axe) == []
    assert page.run(FITS)
    picture(page, f"operations-{theme}-{width}")
    page.assert_no_errors()
