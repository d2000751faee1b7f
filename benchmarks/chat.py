"""A typical chat body of 1 KB, as value and as bytes."""

from __future__ import annotations

from typing import Any

import orjson

CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "You are a helpful assistant. Answer briefly. " * 4},
        {"role": "user", "content": "What is the weather like in Oslo this afternoon?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky":"snow","celsius":-4}'},
        {"role": "user", "content": [{"type": "text", "text": "And tomorrow? Say it in verse."}]},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The weather of a city",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                },
            },
        }
    ],
    "temperature": 0.7,
    "max_tokens": 500,
    "stream": True,
    "stream_options": {"include_usage": True},
}
BODY = orjson.dumps(CHAT)
