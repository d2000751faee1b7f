"""The reference page shows the merged document, and its operations can be tried out."""

from __future__ import annotations

import json

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import forget
from tests.support.running import ALL, Platform
from tests.support.screenshots import same, taken
from tests.support.swagger_ui import IS_INSTALLED
from tests.support.thorough import some

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium; `apt-get install chromium` brings one"),
    pytest.mark.skipif(not IS_INSTALLED, reason="`pip install -e '.[test]'` anew: no Swagger UI 5"),
]
PAIR = "#/components/schemas/Pair"
LISTED = "document.querySelectorAll('.overview a').length > 15"
ROWS = "document.querySelectorAll('.overview li:not([hidden])').length"
CHOICES = "[...document.querySelectorAll('.opblock.is-open .responses-table select')]"
SUMMARY = "document.querySelector('.opblock.is-open .opblock-summary-description')"
LINKS = "[...document.querySelectorAll('#operations li:not([hidden])')].map((n) => n.innerText)"


@pytest.fixture
def reference(page: Driver, console: Platform) -> Driver:
    """The browser at the reference, with all operations listed, as for the first time."""
    forget(page, console.url)
    page.open(console.url + "/docs")
    page.until(LISTED)
    return page


def enter(page: Driver, token: str = ALL) -> None:
    page.fill("token", token)
    page.click("#check")
    page.until("document.querySelector('#token-status .good, #token-status .problem') !== null")


def unfold(page: Driver, operation: str) -> str:
    """Open an operation from the side bar; the selector of its block."""
    page.run(f"document.querySelector('#operations a[href=\"#{operation}\"]').click()")
    block = f"[id='{operation}']"
    page.until(f'document.querySelector("{block} .try-out__btn") !== null')
    return block


def test_the_search_filters_the_side_bar_and_the_page(reference: Driver) -> None:
    total = len(reference.run(LINKS))
    reference.fill("find", "sonnet? no: MESSAGE tokens")
    assert reference.run(LINKS) == []
    reference.fill("find", "COUNT tokens")
    assert 0 < len(reference.run(LINKS)) < total
    assert reference.text("#found") == f"{len(reference.run(LINKS))} of {total} operations"
    assert reference.run(f"{ROWS} === {LINKS}.length")
    unfold(reference, "anthropic.countTokens")
    reference.until(f"document.querySelectorAll('.opblock').length === {LINKS}.length")
    reference.fill("find", "")
    reference.until(f"document.querySelectorAll('.opblock').length === {total}")
    reference.assert_no_errors()


def test_swagger_ui_is_loaded_for_the_operation_that_is_opened(reference: Driver) -> None:
    assert reference.run("document.querySelector('script[src*=\"swagger-ui\"]') === null")
    reference.run("document.querySelector('.overview a[href=\"#openai.createEmbedding\"]').focus()")
    reference.press("Enter")
    reference.until("document.querySelector('.opblock.is-open .try-out__btn') !== null")
    block = "document.activeElement.closest('.operation')?.id"
    reference.until(f"{block} === 'openai.createEmbedding'")
    reference.assert_no_errors()


def test_swagger_ui_that_cannot_be_loaded_is_tried_again(reference: Driver) -> None:
    link = "document.querySelector('#operations a').click()"
    with reference.blocked("*swagger-ui-bundle.js"):
        reference.run(link)
        reference.until("document.getElementById('content').innerText.includes('cannot be shown')")
    reference.run(link)
    reference.until("document.querySelector('.opblock') !== null")


def test_an_address_opens_its_operation(page: Driver, console: Platform) -> None:
    page.open("about:blank")
    page.open(console.url + "/docs#openai.createChatCompletion")
    page.until("document.querySelector('.opblock.is-open .try-out__btn') !== null")
    block = "document.getElementById('openai.createChatCompletion')"
    page.until(f"{block}.innerText.includes('Air scatters blue light')")
    text = page.run(f"{block}.innerText")
    assert "Why is the sky blue?" in text
    assert "{{" not in text, "examples have no placeholders of the mock"
    snippet = f"{block}.querySelector('.snippets code').textContent"
    assert f"curl {console.url}/v1/chat/completions" in page.run(snippet)
    page.run(f"{block}.querySelectorAll('.snippets button')[1].click()")
    page.until(f"{snippet}.includes('from openai import OpenAI')")
    page.assert_no_errors()
    same(page, "console-reference.png", taken(page))


@pytest.mark.parametrize(
    "operation",
    some(["gemini.generateContent", "anthropic.createMessage", "openai.createResponse"], 1),
)
def test_an_operation_is_tried_out_with_the_token_of_the_page(
    reference: Driver, operation: str
) -> None:
    """Through the real gateway; the path of the first one has a model."""
    enter(reference)
    assert "everything" in reference.text("#token-status")
    block = unfold(reference, operation)
    reference.click(f"{block} .try-out__btn")
    reference.until(f'document.querySelector("{block} .execute") !== null')
    reference.click(f"{block} .execute")
    status = f"{block} .live-responses-table .response-col_status"
    reference.until(f'document.querySelector("{status}") !== null')
    assert "200" in reference.text(f"{block} .live-responses-table")
    assert "YOUR_TOKEN" in reference.text(f"{block} .curl")
    assert ALL not in reference.run("document.body.innerText")
    reference.assert_no_errors()


def test_the_token_is_that_of_the_playground(reference: Driver, console: Platform) -> None:
    enter(reference, "mw-wrong")
    assert "not known here" in reference.text("#token-status")
    enter(reference)
    reference.click("#keep")
    reference.open(console.url + "/console/playground")
    reference.until("document.querySelector('#token-status .good') !== null")
    reference.click("#keep")


PARTS = {
    "paths": {"/a": {"get": {"schema": {"$ref": "#/components/schemas/Pair", "title": "mine"}}}},
    "components": {
        "schemas": {
            "Pair": {"properties": {"$ref": {"type": "string"}, "next": {"$ref": PAIR}, "b~/": {}}},
            "Broken": {"$ref": "#/components/schemas/Missing"},
            "Pointed": {"$ref": f"{PAIR}/properties/b~0~1"},
        }
    },
}


def test_references_are_resolved_and_cycles_keep_theirs(page: Driver, console: Platform) -> None:
    page.open(console.url + "/docs")
    script = (
        "import('/console/page/docs/resolve.js').then(({resolveSubtree}) => "
        f"Promise.all([['paths', '/a', 'get'], ['components', 'schemas']]"
        f".map((path) => resolveSubtree({json.dumps(PARTS)}, path))))"
    )
    operation, schemas = (result["spec"] for result in page.run(script))
    assert operation["schema"]["title"] == "mine"
    assert operation["schema"]["$$ref"] == PAIR
    assert operation["schema"]["properties"]["next"] == {"$ref": PAIR}
    assert operation["schema"]["properties"]["$ref"] == {"type": "string"}, "it is a name"
    assert schemas["Broken"] == {"$ref": "#/components/schemas/Missing"}
    assert schemas["Pointed"] == {"$$ref": f"{PAIR}/properties/b~0~1"}


HOSTILE = {
    "openapi": "3.2.0",
    "info": {"title": "x", "version": "1"},
    "tags": [{"name": "<img src=x onerror=alert(1)>", "description": "<script>alert(1)</script>"}],
    "paths": {
        "/<img src=x onerror=alert(2)>": {
            "additionalOperations": {
                "COPY": {
                    "operationId": "a.b",
                    "tags": ["<img src=x onerror=alert(1)>"],
                    "summary": "<svg onload=alert(3)>",
                    "description": "[x](javascript:alert(4)) <img src='http://127.0.0.1:9/x' "
                    "onerror=alert(5)><iframe src='javascript:alert(6)'></iframe>"
                    "<style>body { display: none }</style><form action='//a.b'></form>",
                    "parameters": [
                        {
                            "name": "<b onclick=alert(7)>",
                            "in": "query",
                            "description": "<img src=x onerror=alert(8)>",
                            "schema": {"type": ["string", "null"], "examples": ["<img src=x>"]},
                        }
                    ],
                    "responses": {"200": {"description": "<img src=x onerror=alert(9)>"}},
                    "x-codeSamples": [{"label": "<b>", "source": "<img src=x onerror=alert(10)>"}],
                }
            }
        }
    },
    "components": {},
}


def show(page: Driver, url: str, document: object) -> None:
    """Open the page with a document in place of the gateway's own."""
    script = f"""{{ const get = fetch; window.fetch = (url, ...rest) => url === 'openapi.json'
      ? Promise.resolve(new Response({json.dumps(json.dumps(document))})) : get(url, ...rest) }}"""
    added = page.command("Page.addScriptToEvaluateOnNewDocument", source=script)
    try:
        page.open("about:blank")
        page.open(url)
        page.until("document.querySelector('.opblock, .overview a') !== null")
    finally:
        page.command("Page.removeScriptToEvaluateOnNewDocument", **added)


def test_the_side_bar_opens_what_a_long_list_has_not_drawn(page: Driver, console: Platform) -> None:
    operation = {"tags": ["many"], "responses": {"200": {"description": "ok"}}}
    paths = {
        f"/{number}": {"get": {**operation, "operationId": f"m.{number}"}} for number in range(400)
    }
    document = {"openapi": "3.1.0", "info": {"title": "m", "version": "1"}, "paths": paths}
    show(page, console.url + "/docs", {**document, "components": {}})
    page.run("[...document.querySelectorAll('#operations a')].at(-7).click()")
    page.until("document.getElementById('m.393')?.querySelector('.opblock.is-open') && true")
    assert page.run("document.querySelectorAll('.opblock').length") < 100
    page.assert_no_errors()


def test_hostile_descriptions_do_nothing(page: Driver, console: Platform) -> None:
    """A document of 3.2 with an additional operation."""
    show(page, console.url + "/docs#a.b", HOSTILE)
    page.until("document.querySelector('.opblock.is-open .responses-table') !== null")
    assert "COPY" in page.text("#operations")
    bad = "#content :is(script, iframe, form, style, object, [onerror], [onload], [onclick])"
    assert page.run(f"document.querySelectorAll('{bad}, a[href^=\"javascript:\"]').length") == 0
    assert page.run("getComputedStyle(document.body).display") != "none"
    assert [error for error in page.errors if '"type": "alert"' in error] == []


@pytest.mark.parametrize(("theme", "width"), looks(2))
def test_an_open_operation_passes_axe(
    page: Driver, console: Platform, axe: str, theme: str, width: int
) -> None:
    page.open("about:blank")
    page.open(console.url + "/docs#openai.createEmbedding", theme=theme, width=width)
    page.until("document.querySelector('.opblock.is-open .try-out__btn') !== null")
    enter(page)
    page.click(".try-out__btn")
    page.until("document.querySelector('.execute') !== null")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    widths = f"{CHOICES}.map((node) => node.getBoundingClientRect().width)"
    assert min(page.run(widths)) > 100, "a choice beside another one shows nothing of its value"
    assert page.run(f"{SUMMARY}.offsetHeight") > 0
