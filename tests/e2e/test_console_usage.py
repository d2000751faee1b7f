"""The page of usage in a real browser, with the real gateway and its ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry
from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.running import Running
from tests.support.screenshots import FITS, picture, same, taken
from tests.support.usage_gateway import SECRETS, usage_gateway

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)
DAY = 86_400
REQUESTS = "Requests, the last one first"
XSS = "<img src=x onerror=alert(1)>"


def rows() -> Iterator[Entry]:
    now = time.time() - 60
    for number in range(120):
        yield Entry(
            f"req_{number:032x}", now - number * DAY / 5, "ann" if number % 3 else "ben",
            "small.chat", ("one", "two", "gpt-5-mini", XSS)[number % 4], "", "main",
            429 if number % 11 == 1 else 200, input=1200 + number, output=300 + 7 * number,
            cached=number, cost=(number % 7) ** 3 * 1_300_000 + 12_000, currency="USD",
            duration=0.2 + number / 40, team="search",
            tags=f'{{"customer":"{("acme", "globex", "initech")[number % 3]}"}}',
        )  # fmt: skip
    yield Entry("req_cid", now, "cid", "small.chat", "small", cost=12_000, currency="USD")
    yield Entry("req_dan", now, "dan", "small.chat", "small")


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with usage_gateway(tmp_path_factory.mktemp("usage")) as running:
        database = open_database(f"sqlite:///{running.log.parent}/records.db")
        UsageTable(database).insert([*rows()])
        database.close()
        yield running


def enter(page: Driver, front: Running, name: str = "ann", **options: object) -> None:
    page.open(f"http://127.0.0.1:{front.port}/console/usage", **options)  # type: ignore[arg-type]
    page.fill("token", SECRETS.get(name, name))
    page.click("#check")
    page.until("document.querySelector('#token-status .good, #token-status .problem') !== null")


def show(page: Driver, front: Running, name: str = "ann", **options: object) -> None:
    """Open the page, and wait until all of it is shown."""
    enter(page, front, name, **options)
    page.until("document.querySelector('#sums .tiles') !== null")
    page.until("document.querySelector('#requests table') !== null")


def table(page: Driver, label: str) -> list[list[str]]:
    """The cells of a table."""
    found = page.run(
        f"[...document.querySelectorAll('[aria-label=\"{label}\"] tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return [list(map(str, row)) for row in found]


def test_a_caller_sees_what_is_left_and_what_it_has_used(page: Driver, front: Running) -> None:
    show(page, front)
    limits = page.text("#limits")
    assert "Requests per 1h" in limits
    assert "5.00 USD left" in limits
    assert page.run("document.querySelectorAll('.chart rect').length") == 30
    assert [row[0] for row in table(page, "Model")][:2] != []
    assert {row[0] for row in table(page, "customer")} == {"globex", "initech"}
    assert "ben" not in page.run("document.getElementById('content').innerText")
    page.assert_no_errors()


def test_sums_are_those_of_the_team_if_it_is_chosen(page: Driver, front: Running) -> None:
    show(page, front)
    page.fill("of", "team")
    page.until("document.querySelectorAll('[aria-label=customer] tbody tr').length === 3")
    page.fill("days", "7")
    page.until("document.querySelectorAll('.chart rect').length === 7")
    page.fill("measure", "requests")
    page.until("document.querySelector('.chart svg').ariaLabel.startsWith('Requests by day')")
    assert len(table(page, "Days")) == 7


def test_a_tag_that_cannot_be_summed_hides_no_other_sums(page: Driver, front: Running) -> None:
    with page.blocked("*by=tag*"):
        show(page, front)
    assert table(page, "Model") != []
    assert "By customer" in page.text("#sums")
    assert table(page, "customer") == []
    assert "USD left" in page.text("#limits")


def test_requests_are_listed_and_older_ones_follow(page: Driver, front: Running) -> None:
    show(page, front)
    assert len(table(page, REQUESTS)) == 20
    page.click("#more")
    page.until(f"document.querySelectorAll('[aria-label=\"{REQUESTS}\"] tbody tr').length === 40")
    cells = table(page, REQUESTS)
    assert len({row[-1] for row in cells}) == 40
    assert XSS in {row[1] for row in cells}  # a name is text
    assert "429" in {row[2] for row in cells}
    page.assert_no_errors()


def test_requests_without_a_price_are_charted_by_their_number(page: Driver, front: Running) -> None:
    show(page, front, "dan")
    assert page.run("document.querySelector('.chart svg').ariaLabel").startswith("Requests by day")
    assert page.run("document.querySelector('#measure [value=cost]').disabled") is True
    show(page, front, "cid")
    assert page.run("document.querySelector('.chart svg').ariaLabel").startswith("Money by day")


def test_small_amounts_keep_their_digits(page: Driver, front: Running) -> None:
    show(page, front, "cid")
    assert table(page, REQUESTS)[0][6] == "0.000012 USD"
    assert "0.000012 USD" in page.text("#sums .tiles")
    assert page.run("document.getElementById('of').disabled") is True


def test_states_without_data_are_said(page: Driver, front: Running) -> None:
    enter(page, front, "eve")
    page.until("document.querySelector('#sums .empty') !== null")
    assert "no requests in this time" in page.text("#sums")
    assert "no requests of this token" in page.text("#requests")
    enter(page, front, "mw-wrong")
    assert "not known here" in page.text("#token-status")
    assert page.run("document.getElementById('content').hidden") is True


def test_a_token_is_kept_only_if_asked(page: Driver, front: Running) -> None:
    show(page, front)
    stored = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
    assert SECRETS["ann"] not in page.run(stored)
    page.click("#keep")
    page.open(f"http://127.0.0.1:{front.port}/console/usage")
    page.until("document.querySelector('#sums .tiles') !== null")
    page.click("#keep")
    assert SECRETS["ann"] not in page.run(stored)


TWO_CHECKS = (
    "import('/console/page/token.js').then(async ({TokenField}) => { const answers = [];"
    " const load = (token) => new Promise((resolve) => answers.push(() => resolve(token)));"
    " const field = new TokenField(load, (data) => data, () => 0);"
    " const check = (token) => { field.input.value = token; return field.check() };"
    " const checks = [check('first'), check('second')];"
    " answers[1](); answers[0]();"
    " return [...(await Promise.all(checks)), field.data] })"
)


def test_of_two_tokens_the_last_one_counts(page: Driver, front: Running) -> None:
    page.open(f"http://127.0.0.1:{front.port}/console/usage")
    assert page.run(TWO_CHECKS) == [False, True, "second"]
    assert "second" in page.text("#token-status")


def test_agents_have_their_settings(page: Driver, front: Running) -> None:
    show(page, front)
    text = page.run("document.getElementById('agents').textContent")
    assert f"127.0.0.1:{front.port}" in text
    assert "MODELWAY_TOKEN" in text
    assert SECRETS["ann"] not in text


def test_the_page_is_as_in_its_picture(page: Driver, front: Running) -> None:
    show(page, front)
    same(page, "console-usage.png", taken(page))


@pytest.mark.parametrize(("theme", "width"), looks(3))
def test_the_page_passes_axe(
    page: Driver, front: Running, axe: str, theme: str, width: int
) -> None:
    show(page, front, theme=theme, width=width)
    page.run("for (const node of document.querySelectorAll('#sums details')) node.open = true")
    page.run("document.querySelector('#agents details').open = true")
    assert violations(page, axe) == []
    assert page.run(FITS)
    page.run("for (const node of document.querySelectorAll('details')) node.open = false")
    picture(page, f"usage-{theme}-{width}")
    page.assert_no_errors()
