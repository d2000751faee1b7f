"""The items of responses requests -> messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations import language
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Link,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import Message
from engine.translations.responses.request_reader import read_request
from engine.translations.translation import LossRules, Translation
from engine.values.errors import GatewayError
from tests.support.each import each

Json = dict[str, Any]

PLACE = "input[0]"


def message_of(item: Json) -> Message:
    body = json.dumps({"model": "m", "input": [item]}).encode()
    (message,) = read_request(body, RequestLine()).messages
    return message


def block_of(item: Json) -> Any:
    (block,) = message_of(item).blocks
    return block


def place_of_error(item: Json) -> str:
    with pytest.raises(WrongType) as excinfo:
        message_of(item)
    return excinfo.value.place


@each(
    ("item", "role"),
    [
        ({"role": "user", "content": "x"}, "user"),
        ({"type": "message", "role": "assistant", "content": "x"}, "assistant"),
        ({"role": "system", "content": "x"}, "system"),
        ({"role": "developer", "content": "x"}, "system"),
    ],
)
def test_messages(item: Json, role: str) -> None:
    message = message_of(item)
    assert message.role == role
    assert message.blocks == [Text(text="x", place=f"{PLACE}.content")]


@each("role", ["tool", "", None])
def test_another_role_is_refused(role: str | None) -> None:
    assert place_of_error({"type": "message", "role": role, "content": "x"}) == f"{PLACE}.role"


@each(
    "item", [{"id": "msg_1"}, {"type": None, "id": "msg_1"}, {"type": "item_reference", "id": "m"}]
)
def test_a_reference_to_an_item_that_the_vendor_keeps(item: Json) -> None:
    block = block_of(item)
    assert isinstance(block, Foreign)
    assert block.kind == "item_reference"


@each("item", [{"type": "mcp_approval_response", "approve": True}])
@pytest.mark.parametrize(
    ("target", "model"), [("messages", "claude-opus-5"), ("generate_content", "gemini-2.5-flash")]
)
def test_an_item_that_the_vendor_keeps_is_refused_as_such(
    target: str, model: str, item: Json
) -> None:
    """It was taken for an assistant's turn, which models do not continue."""
    body = {"model": "m", "input": [{"role": "user", "content": "Hi"}, item]}
    translation = Translation(language("responses"), language(target))
    with pytest.raises(GatewayError, match="another vendor") as excinfo:
        translation.request(json.dumps(body).encode(), RequestLine(), model, LossRules())
    assert excinfo.value.param == "input[1]"


CALL: Json = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":1.0}'}


def test_a_call() -> None:
    call = ToolCall(id="c1", name="f", arguments='{"a":1.0}', place=PLACE)
    assert block_of({**CALL, "id": "fc_1", "status": "completed"}) == call


@each(
    ("item", "place"),
    [
        ({**CALL, "call_id": ""}, "call_id"),
        ({**CALL, "name": None}, "name"),
        ({"type": "function_call_output", "output": "x"}, "call_id"),
    ],
)
def test_items_without_a_required_member(item: Json, place: str) -> None:
    assert place_of_error(item) == f"{PLACE}.{place}"


@each(
    ("output", "content"),
    [
        ("x", [Text(text="x", place=f"{PLACE}.output")]),
        (
            [
                {"type": "input_text", "text": "x"},
                {"type": "input_image", "image_url": "https://a/b"},
            ],
            [
                Text(text="x", place=f"{PLACE}.output[0]"),
                Media(kind="image", source=Link("https://a/b"), place=f"{PLACE}.output[1]"),
            ],
        ),
    ],
)
def test_results(output: Any, content: list[Block]) -> None:
    message = message_of({"type": "function_call_output", "call_id": "c1", "output": output})
    assert message.role == "user"
    assert message.blocks == [ToolResult(id="c1", content=content, place=PLACE)]


def summary(*texts: str) -> list[Json]:
    return [{"type": "summary_text", "text": text} for text in texts]


@each(
    ("members", "text", "signature"),
    [
        ({"summary": summary("a", "b")}, "a\n\nb", None),
        ({"summary": [], "content": [{"type": "reasoning_text", "text": "c"}]}, "c", None),
        (
            {"summary": [], "id": "rs_1", "encrypted_content": "gAAA"},
            "",
            Signature("responses", "rs_1 gAAA"),
        ),
        ({"summary": [], "encrypted_content": "gAAA"}, "", Signature("responses", " gAAA")),
        (
            {"summary": [], "id": "rs_1", "encrypted_content": "modelway:messages:s"},
            "",
            Signature("messages", "s"),
        ),
    ],
)
def test_thoughts(members: Json, text: str, signature: Signature | None) -> None:
    block = block_of({"type": "reasoning", **members})
    assert isinstance(block, Reasoning)
    assert (block.text, block.signature) == (text, signature)


@each("name", ["summary", "content"])
def test_thoughts_of_another_form_are_named(name: str) -> None:
    with pytest.raises(WrongType, match=rf"{name}'.*list"):
        block_of({"type": "reasoning", name: "c"})


ACTION = {"type": "exec", "command": ["ls"], "env": {}}


@each(
    ("item", "block"),
    [
        (
            {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "action": ACTION},
            ToolCall(
                id="c1", name="local_shell", arguments='{"command":["ls"],"env":{}}', place=PLACE
            ),
        ),
        (
            {"type": "local_shell_call_output", "id": "c1", "output": "a"},
            ToolResult(id="c1", content=[Text(text="a", place=f"{PLACE}.output")], place=PLACE),
        ),
        (
            {"type": "local_shell_call_output", "id": "x", "call_id": "c1", "output": "a"},
            ToolResult(id="c1", content=[Text(text="a", place=f"{PLACE}.output")], place=PLACE),
        ),
    ],
)
def test_commands_of_the_callers_shell_are_calls_for_other_vendors(
    item: Json, block: ToolCall | ToolResult
) -> None:
    foreign = block_of(item)
    assert isinstance(foreign, Foreign)
    assert foreign.substitute == block


SEARCH = {"call_id": "c1", "execution": "client"}


def test_a_search_of_the_caller_for_tools_is_a_call_for_other_vendors() -> None:
    item = {"type": "tool_search_call", **SEARCH, "arguments": {"query": "x"}, "id": "tsc_1"}
    block = block_of(item)
    assert isinstance(block, Foreign)
    call = block.substitute
    assert isinstance(call, ToolCall)
    assert (call.id, call.name, call.arguments) == ("c1", "tool_search", '{"query": "x"}')


def test_tools_that_a_search_found_are_its_result_for_other_vendors() -> None:
    tools = [{"type": "function", "name": "f"}]
    item = {"type": "tool_search_output", **SEARCH, "tools": tools}
    body = json.dumps({"model": "m", "input": [item]}).encode()
    request = read_request(body, RequestLine())
    (block,) = request.messages[0].blocks
    assert isinstance(block, Foreign)
    result = block.substitute
    assert isinstance(result, ToolResult)
    assert (result.id, result.content) == ("c1", [Text(text='{"tools":["f"]}', place=PLACE)])
    assert [tool.name for tool in request.loaded_tools] == ["f"]
