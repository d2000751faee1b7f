"""The parameters of a caller of this language are written as it wrote them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from engine.translations.language import RequestLine
from engine.translations.messages.request_reader import read_request
from engine.translations.messages.verbatim_parameters import write_verbatim_parameters
from tests.support.each import each

CACHE = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@each(
    "members",
    [
        {},
        {"temperature": 0.7, "top_p": 1.0, "top_k": 40},
        {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"}},
        {"thinking": {"type": "between_tools"}, "output_config": {"effort": "max"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": False}},
        {"tools": [{"name": "f", "input_schema": {"type": "object"}, "strict": False, **CACHE}]},
        {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]},
        {"metadata": {"user_id": "a@b.c", "team": "x"}, "service_tier": "auto"},
        {"stop_sequences": ["\n"], "stream": True, "container": {"id": "c", "skills": []}},
    ],
)
def test_parameters_stay_as_they_are(members: dict[str, Any]) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [], **members}
    request = read_request(json.dumps(body).encode(), RequestLine())
    result = json.loads(msgspec.json.encode(write_verbatim_parameters(request)))
    assert result == members
