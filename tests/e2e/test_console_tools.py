"""The page of tools in a real browser, with the real gateway before a scripted upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.axe import looks, violations
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.recording import Recorder, answer, recorder
from tests.support.running import ALL, LIMITED, TOKENS, Running, gateway
from tests.support.screenshots import same, taken

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

CONFIG = f"""version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{shop: {{document: shop.yaml}}}}
upstreams: {{main: {{url: "URL", proxy: ""}}}}
mcp:
  shop: {{path: /mcp/shop, operations: [shop.*]}}
  readers: {{path: /mcp/readers, operations: [shop.show]}}
routes: [{{operation: "shop.*", to: [{{upstream: main}}]}}]
{TOKENS}"""
SHOP = """openapi: 3.1.0
info: {title: Shop, version: "1"}
security: [{bearer: []}]
paths:
  /items/{id}:
    get:
      operationId: show
      summary: Show an item
      description: Shows one item.
      parameters:
        - {name: id, in: path, required: true, description: Its number, schema: {type: integer}}
        - {name: full, in: query, schema: {type: boolean}}
        - {name: unit, in: query, schema: {enum: [cm, inch]}}
      responses: {"200": {description: ok}}
  /items:
    post:
      operationId: create
      summary: Create an item
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}
      responses: {"200": {description: ok}}
components:
  securitySchemes: {bearer: {type: http, scheme: bearer}}
  schemas:
    Item:
      type: object
      required: [name]
      properties:
        name: {type: string}
        size: {type: object, properties: {width: {type: number}, height: {type: number}}}
        tags: {type: array, items: {type: string}}
"""

Front = tuple[Running, Recorder]


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "shop.yaml").write_text(SHOP)
    with (
        recorder() as upstream,
        gateway(folder, CONFIG.replace("URL", upstream.url)) as running,
    ):
        yield running, upstream


@pytest.fixture
def upstream(front: Front) -> Recorder:
    front[1].reset()
    front[1].speak = answer(b'{"id": 7, "note": "<img src=x onerror=alert(1)>"}')
    return front[1]


def enter(page: Driver, front: Front, token: str = ALL, **options: object) -> None:
    page.open(f"{front[0].url}/console/tools", **options)  # type: ignore[arg-type]
    page.fill("token", token)
    page.click("#check")
    page.until("/of|token/.test(document.getElementById('settings').innerText.slice(60))")


def choose(page: Driver, name: str) -> None:
    page.until(f"[...document.getElementById('tool').options].some((o) => o.text === '{name}')")
    page.fill("tool", name)
    page.until("!document.getElementById('chosen').hidden")


def field(name: str) -> str:
    """The element of an argument, in JavaScript."""
    labels = "[...document.querySelectorAll('label')]"
    label = f"{labels}.find((label) => label.textContent.split(' ')[0] === '{name}')"
    return f"document.getElementById({label}.htmlFor)"


def call(page: Driver) -> str:
    """The text of the result."""
    page.click("#call")
    page.until("document.querySelector('#result .facts, #result .problem') !== null")
    return page.text("#result")


def test_a_tool_is_called_with_a_form_of_its_schema(
    page: Driver, front: Front, upstream: Recorder
) -> None:
    enter(page, front)
    choose(page, "show")
    assert page.text("#name") == "Show an item"
    assert "reads only" in page.text("#marks")
    assert page.text("#description") == "Show an item. Shows one item."
    upstream.speak = answer(b'{"id": 7, "name": "chair", "size": {"width": 45.5}}')
    page.run(f"{field('id')}.value = '7'; {field('full')}.value = 'true'")
    page.run(f"{field('unit')}.value = '\"inch\"'")
    assert '"id": 7' in call(page)
    assert upstream.last.target == "/items/7?full=true&unit=inch"
    page.assert_no_errors()
    same(page, "console-tools.png", taken(page))


def test_objects_are_groups_of_fields_and_lists_are_json(
    page: Driver, front: Front, upstream: Recorder
) -> None:
    enter(page, front)
    choose(page, "create")
    page.run(f"{field('name')}.value = 'chair'; {field('width')}.value = '1.5'")
    page.run(f"{field('tags')}.value = '[\"a\"'")
    page.click("#call")
    page.until("document.getElementById('arguments-error').textContent.includes('body.tags')")
    page.run(f"{field('tags')}.value = '[\"a\"]'")
    call(page)
    expected = {"name": "chair", "size": {"width": 1.5}, "tags": ["a"]}
    assert json.loads(upstream.last.body) == expected
    page.click("#mode")
    assert json.loads(page.run("document.getElementById('json').value")) == {"body": expected}
    page.run(f"{field('name')}.value = ''")  # what the form requires is not asked of JSON
    page.fill("json", '{"body": {"name": 1}}')
    assert "body.name" in call(page)
    page.assert_no_errors()


def test_a_token_sees_its_tools_and_a_wrong_one_none(
    page: Driver, front: Front, upstream: Recorder
) -> None:
    enter(page, front, "mw-wrong")
    page.until("document.querySelector('#token-status .problem') !== null")
    assert "not known here" in page.text("#token-status")
    enter(page, front, LIMITED)
    page.until("document.getElementById('count').textContent.includes(' tools')")
    enter(page, front)
    page.until("document.getElementById('count').textContent === '2 of 2 tools'")
    page.fill("filter", "creat")
    assert page.text("#count") == "1 of 2 tools"
    page.fill("server", "readers")
    page.fill("filter", "")
    page.until("document.getElementById('count').textContent === '1 of 1 tools'")


@pytest.mark.parametrize(("theme", "width"), looks(0))
def test_the_page_passes_axe(
    page: Driver, front: Front, upstream: Recorder, axe: str, theme: str, width: int
) -> None:
    enter(page, front, theme=theme, width=width)
    assert violations(page, axe) == []
    choose(page, "create")
    page.run(f"{field('name')}.value = 'chair'")
    call(page)
    page.run("document.querySelector('#result details').open = true")
    assert violations(page, axe) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    page.assert_no_errors()
