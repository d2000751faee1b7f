"""Every member that the SDK can send is carried, lost by name, a hint or harmless: a new one fails
here until somebody has decided."""

from __future__ import annotations

import json
from typing import Any, get_args, get_type_hints

from openai.types.responses.easy_input_message_param import EasyInputMessageParam
from openai.types.responses.response_create_params import ResponseCreateParams
from openai.types.responses.response_input_param import ResponseInputItemParam
from openai.types.responses.tool_param import ToolParam
from openai.types.shared_params.reasoning import Reasoning

from engine.translations.neutral.content import Foreign
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Loss
from engine.translations.neutral.request import BuiltInTool
from engine.translations.responses import LANGUAGE
from engine.translations.responses.request_reader import read_request
from tests.support.each import each
from tests.translations.openai_members import fate
from tests.translations.openai_sdk import members_of

Json = dict[str, Any]

SCHEMA = {"format": {"type": "json_schema", "name": "n", "schema": {}}}
REQUEST: Json = {"model": "m", "input": "Hi"}

MEMBERS: dict[str, tuple[Any, str]] = {
    "model": ("other", "carried"),
    "input": ("Ho", "carried"),
    "instructions": ("Be brief.", "carried"),
    "stream": (True, "carried"),
    "tools": ([{"type": "function", "name": "f", "parameters": {}, "strict": False}], "carried"),
    "tool_choice": ("required", "carried"),
    "parallel_tool_calls": (False, "carried"),
    "text": (SCHEMA, "carried"),
    "reasoning": ({"effort": "low"}, "carried"),
    "max_output_tokens": (99, "carried"),
    "temperature": (0.5, "carried"),
    "top_p": (0.5, "carried"),
    "top_logprobs": (2, "carried"),
    "user": ("u", "carried"),
    "include": (["message.output_text.logprobs"], "carried"),
    # kept by the vendor
    "store": (True, "lost"),
    "previous_response_id": ("resp_1", "lost"),
    "conversation": ("conv_1", "lost"),
    "prompt": ({"id": "pmpt_1"}, "lost"),
    "background": (True, "lost"),
    "background_options": ({"completion_window": "2h"}, "lost"),
    # done by the vendor
    "truncation": ("auto", "hint"),
    "context_management": ([{"type": "compaction"}], "lost"),
    "image": ({"context_compression": "enabled"}, "lost"),
    "max_tool_calls": (1, "lost"),
    "moderation": ({"model": "m"}, "lost"),
    "access_programs": ({"cyber": "standard"}, "lost"),
    "metadata": ({"a": "b"}, "hint"),
    "safety_identifier": ("s", "hint"),
    "service_tier": ("flex", "hint"),
    "prompt_cache_key": ("k", "hint"),
    "prompt_cache_retention": ("24h", "hint"),
    "prompt_cache_options": ({"mode": "explicit"}, "hint"),
    "stream_options": ({"other": True}, "hint"),
}


def test_every_member_of_the_sdk_is_decided() -> None:
    assert set(MEMBERS) == members_of(ResponseCreateParams)


@each(("member", "value", "expected"), [(name, *rest) for name, rest in MEMBERS.items()])
def test_members(member: str, value: Any, expected: str) -> None:
    assert fate(LANGUAGE, REQUEST, member, value) == expected


@each(
    ("member", "value", "expected"),
    [
        ("store", False, "harmless"),
        ("background", False, "harmless"),
        ("truncation", "disabled", "harmless"),
        ("stream_options", {"include_obfuscation": False}, "harmless"),
        ("text", {"format": {"type": "text"}}, "harmless"),
        ("include", ["reasoning.encrypted_content"], "harmless"),
        ("include", ["file_search_call.results"], "hint"),
        ("tools", [{"type": "web_search", "external_web_access": True}], "carried"),
        ("tools", [{"type": "web_search", "search_context_size": "low"}], "hint"),
        ("tools", [{"type": "web_search", "filters": {"allowed_domains": ["a"]}}], "lost"),
    ],
)
def test_values_that_decide(member: str, value: Any, expected: str) -> None:
    assert fate(LANGUAGE, REQUEST, member, value) == expected


REASONING: dict[str, tuple[str, str]] = {
    "effort": ("low", "carried"),
    "summary": ("auto", "carried"),
    "generate_summary": ("auto", "carried"),
    "mode": ("pro", "lost"),
    "context": ("all_turns", "hint"),
}


def test_every_member_of_reasoning_is_decided() -> None:
    assert set(REASONING) == members_of(Reasoning)


@each(("member", "value", "expected"), [(name, *rest) for name, rest in REASONING.items()])
def test_members_of_reasoning(member: str, value: str, expected: str) -> None:
    assert fate(LANGUAGE, REQUEST, "reasoning", {member: value}) == expected


def kinds_of(union: Any) -> set[str]:
    """The values of `type` in the TypedDicts of a union."""
    kinds = (get_type_hints(plain)["type"] for plain in get_args(union))
    return {word for kind in kinds for word in _words(kind)}


def _words(kind: Any) -> list[str]:
    inner = [word for each in get_args(kind) for word in _words(each)]
    return inner or ([kind] if isinstance(kind, str) else [])


ITEMS: dict[str, Json] = {
    "message": {"role": "user", "content": "x"},
    "function_call": {"call_id": "c", "name": "f", "arguments": "{}"},
    "function_call_output": {"call_id": "c", "output": "x"},
    "reasoning": {"id": "rs_1", "summary": []},
}
CALLERS = {
    *("custom_tool_call", "custom_tool_call_output", "tool_search_call", "tool_search_output"),
    *("local_shell_call", "local_shell_call_output"),
}
"""Items of tools that the caller runs (`caller_tools`)."""

VENDORS = {
    *("item_reference", "compaction"),
    *("configuration_update", "program", "program_output", "image_generation_call"),
    *("file_search_call", "web_search_call", "computer_call", "computer_call_output"),
    *("shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output"),
    "code_interpreter_call",
    *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "mcp_call"),
}
"""Items that only this vendor understands."""

TRIGGERS = {"compaction_trigger"}
"""Items that ask for something else than an answer (`compaction`)."""

DECLARATIONS = {"additional_tools"}
"""Items that only declare tools."""


def test_every_kind_of_item_is_decided() -> None:
    assert kinds_of(ResponseInputItemParam) == {
        *ITEMS,
        *CALLERS,
        *VENDORS,
        *TRIGGERS,
        *DECLARATIONS,
    }


def blocks_of(item: Json) -> list[Any]:
    request = read_request(json.dumps({**REQUEST, "input": [item]}).encode(), RequestLine())
    return [block for message in request.messages for block in message.blocks]


@each(("kind", "members"), ITEMS.items())
def test_items_that_every_language_has(kind: str, members: Json) -> None:
    (block,) = blocks_of({"type": kind, **members})
    assert not isinstance(block, Foreign)


@each("kind", sorted(VENDORS))
def test_items_of_this_vendor_have_no_substitute(kind: str) -> None:
    item = {"type": kind, "id": "x_1"}
    (block,) = blocks_of(item)
    assert isinstance(block, Foreign)
    assert (block.kind, block.substitute) == (kind, None)


MESSAGE: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "content": "x",
    "phase": "commentary",
}


def test_no_member_of_a_message_is_a_loss() -> None:
    assert set(MESSAGE) == members_of(EasyInputMessageParam)
    body = json.dumps({**REQUEST, "input": [{**MESSAGE, "id": "msg_1", "status": "completed"}]})
    assert read_request(body.encode(), RequestLine()).unread == []


VENDOR_TOOLS = {
    *("file_search", "computer", "computer_use_preview", "mcp", "code_interpreter"),
    *("programmatic_tool_calling", "image_generation", "shell", "apply_patch"),
}
CALLER_TOOLS = {"custom", "namespace", "tool_search", "local_shell"}
SEARCHES = {
    *("web_search", "web_search_2025_08_26"),
    *("web_search_preview", "web_search_preview_2025_03_11"),
}


def test_every_kind_of_tool_is_decided() -> None:
    assert kinds_of(ToolParam) == {"function", *VENDOR_TOOLS, *CALLER_TOOLS, *SEARCHES}


@each("kind", sorted(VENDOR_TOOLS | SEARCHES))
def test_tools_that_the_vendor_runs(kind: str) -> None:
    body = json.dumps({**REQUEST, "tools": [{"type": kind}]}).encode()
    (tool,) = read_request(body, RequestLine()).tools
    assert isinstance(tool, BuiltInTool)
    assert (tool.name, tool.kind) == (kind, "web_search" if kind in SEARCHES else "")


def test_unknown_members_are_noted_with_their_place() -> None:
    item = {"role": "user", "content": [{"type": "input_text", "text": "x", "y": 1}], "z": 1}
    request = read_request(json.dumps({**REQUEST, "input": [item], "w": 1}).encode(), RequestLine())
    fields = [Loss(place).field for place in request.unread]
    assert fields == ["input.content.y", "input.z", "w"]
