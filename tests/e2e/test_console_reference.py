"""The reference page shows OpenAPI 3.1 schemas correctly, converted to 3.0 for Swagger UI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.running import ALL, Platform
from tests.support.thorough import some

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

ITEM = "#/components/schemas/Item"


@pytest.fixture
def reference(page: Driver, console: Platform) -> Driver:
    """The browser at the reference, with all operations listed."""
    page.open(console.url + "/docs")
    page.until("document.querySelectorAll('.opblock').length > 15")
    return page


def unfold(page: Driver, operation: str) -> str:
    """Open an operation; the selector of its block."""
    block = f"[id$='{operation}']"
    page.run(f'document.querySelector("{block} button").click()')
    page.until(f'document.querySelector("{block} .try-out__btn") !== null')
    return block


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"type": ["string", "integer", "null"]},
            {"nullable": True, "anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            {"anyOf": [{"$ref": ITEM}, {"type": "null"}]},
            {"nullable": True, "allOf": [{"$ref": ITEM}]},
        ),
        (
            {"oneOf": [{"type": "string"}, {"$ref": ITEM}, {"const": None}]},
            {"nullable": True, "oneOf": [{"type": "string"}, {"$ref": ITEM}]},
        ),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"type": "string", "examples": ["a", "b"]}, {"type": "string", "example": "a"}),
        ({"$ref": ITEM}, {"$ref": ITEM}),
        (
            {"$ref": ITEM, "description": "d"},
            {"description": "d", "allOf": [{"$ref": ITEM}]},
        ),
        ({"exclusiveMinimum": 3}, {"minimum": 3, "exclusiveMinimum": True}),
        (
            {"minimum": 4, "exclusiveMaximum": 9},
            {"minimum": 4, "maximum": 9, "exclusiveMaximum": True},
        ),
        (
            {"properties": {"const": {"const": 1}, "any": True, "examples": {"type": "array"}}},
            {"properties": {"const": {"enum": [1]}, "any": {}, "examples": {"type": "array"}}},
        ),
        (
            {"default": {"const": 1}, "additionalProperties": True},
            {"default": {"const": 1}, "additionalProperties": True},
        ),
        ({"type": "object", "if": {}, "then": {}, "else": {}}, {"type": "object"}),
    ],
)
def test_a_schema_is_converted_to_3_0(
    page: Driver, console: Platform, schema: Any, expected: Any
) -> None:
    page.open(console.url + "/")
    document = {"openapi": "3.1.0", "components": {"schemas": {"X": schema}}}
    converted = page.run(
        "import('/console/page/openapi30.js')"
        f".then(({{toOpenApi30}}) => toOpenApi30({json.dumps(document)}))"
    )
    assert converted == {"openapi": "3.0.3", "components": {"schemas": {"X": expected}}}


def test_nullable_schemas_are_marked(reference: Driver) -> None:
    block = unfold(reference, "createChatCompletion")
    reference.run(
        f'[...document.querySelectorAll("{block} .tablinks")]'
        ".find((node) => node.textContent === 'Schema').click()"
    )
    reference.until(f'document.querySelector("{block} .model-box") !== null')
    reference.run(
        f'document.querySelectorAll("{block} .model-box [aria-expanded=false]")'
        ".forEach((node) => node.click())"
    )
    reference.until(
        f"document.querySelector(\"{block} .model-box\").innerText.includes('nullable: true')"
    )
    reference.assert_no_errors()


def test_examples_have_no_placeholders(reference: Driver) -> None:
    block = unfold(reference, "createChatCompletion")
    reference.until(f'document.querySelector("{block} .responses-table") !== null')
    text = reference.run(f'document.querySelector("{block}").innerText')
    assert "Why is the sky blue?" in text
    assert "Air scatters blue light" in text
    assert "{{" not in text


@pytest.mark.parametrize(
    "operation", some(["generateContent", "createMessage", "createResponse"], 1)
)
def test_each_format_can_be_tried_out(reference: Driver, operation: str) -> None:
    """With a token in the place that the operation names, through the real gateway."""
    reference.click(".authorize")
    reference.until("document.querySelectorAll('.auth-container input').length > 2")
    count = reference.run("document.querySelectorAll('.auth-container').length")
    for number in range(count):
        reference.run(
            f"document.querySelectorAll('.auth-container')[{number}].querySelector('input').focus()"
        )
        reference.type(ALL)
        reference.run(
            f"document.querySelectorAll('.auth-container')[{number}]"
            ".querySelector('.auth-btn-wrapper .authorize').click()"
        )
    reference.click(".btn-done")
    block = unfold(reference, operation)
    reference.click(f"{block} .try-out__btn")
    reference.until(f'document.querySelector("{block} .execute") !== null')
    reference.click(f"{block} .execute")
    status = f"{block} .live-responses-table .response-col_status"
    reference.until(f'document.querySelector("{status}") !== null')
    responses = reference.text(f"{block} .live-responses-table")
    assert "200" in responses, responses
    reference.assert_no_errors()


def test_an_open_operation_fits_a_phone(page: Driver, console: Platform) -> None:
    page.open(console.url + "/docs", width=360)
    page.until("document.querySelectorAll('.opblock').length > 15")
    unfold(page, "createChatCompletion")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
