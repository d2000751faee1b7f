"""What of a chat is in its prompt."""

import json

import pytest

from engine import translations
from engine.translations.neutral.language import RequestLine
from engine.upstream.prompt_parts import PromptParts, prompt_parts

TOOL = {"name": "look", "description": "Looks.", "schema": {"type": "object", "properties": {}}}
DECLARATION = json.dumps(
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
)


def parts_of(language, body):
    read = translations.language(language).read_request
    return prompt_parts(read(json.dumps(body).encode(), RequestLine()))


CHATS = {
    "messages": {
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=1; cch=1;"},
            {"type": "text", "text": "Be brief."},
        ],
        "tools": [
            {
                "name": TOOL["name"],
                "description": TOOL["description"],
                "input_schema": TOOL["schema"],
            }
        ],
        "messages": [
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {"a": 1}}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "Oslo"},
                    {"type": "text", "text": "Sure?"},
                ],
            },
        ],
    },
    "chat_completions": {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": TOOL["schema"],
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"a":1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "Oslo"},
            {"role": "user", "content": "Sure?"},
        ],
    },
    "responses": {
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Looks.",
                "parameters": TOOL["schema"],
                "strict": False,
            }
        ],
        "input": [
            {"role": "user", "content": "Where?"},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c", "output": "Oslo"},
            {"role": "user", "content": "Sure?"},
        ],
    },
    "generate_content": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "look", "description": "Looks.", "parameters": TOOL["schema"]}
                ]
            }
        ],
        "contents": [
            {"role": "user", "parts": [{"text": "Where?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"a": 1}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "look", "response": {"output": "Oslo"}}},
                    {"text": "Sure?"},
                ],
            },
        ],
    },
}


@pytest.mark.parametrize("language", CHATS)
def test_one_conversation_has_the_same_prompt_in_each_language(language):
    parts = parts_of(language, CHATS[language])
    texts = [text.replace('"a": 1', '"a":1') for text in parts.texts if text]
    call = '{"name": "look", "arguments": {"a":1}}'
    assert texts == ["Be brief.", DECLARATION, "Where?", call, "Oslo", "Sure?"]
    assert (parts.turns, parts.files) == (5, [])


def test_files_are_counted_by_their_size_and_documents_by_their_text():
    content = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000},
        },
        {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Some words"},
        },
    ]
    parts = parts_of("messages", {"messages": [{"role": "user", "content": content}]})
    assert parts == PromptParts(["Some words"], 1, [3_000, 0])


def test_a_turn_of_two_results_is_two_turns_of_a_template():
    results = [
        {"type": "tool_result", "tool_use_id": each, "content": each} for each in ("one", "two")
    ]
    messages = [{"role": "user", "content": results}]
    assert parts_of("messages", {"messages": messages}) == PromptParts(["one", "two"], 2, [])


def test_a_tool_of_the_vendor_is_counted_as_it_is_declared():
    tool = {"type": "web_search_20250305", "name": "web_search"}
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    [declaration, _] = parts_of("messages", body).texts
    assert json.loads(declaration) == tool
