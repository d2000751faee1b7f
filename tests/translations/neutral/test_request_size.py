"""The bound of what a translation writes."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import Text
from engine.translations.neutral.losses import (
    TooLarge,
    encode_chat,
    encode_request,
    most_bytes,
)
from engine.translations.neutral.request import ChatRequest
from tests.support.each import each

SMALL, LARGE = 100, 100_000
DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"a": 1},
    {"a": [], "b": {}, "c": None, "d": [[], {}], 'é"': "\n"},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "é"}] * 70}] * 200},
    {"tools": [{"functionDeclarations": [{"name": "f", "parameters": Raw(b"{}")}] * 3}]},
    {"toolConfig": {"tools": [{"toolSpec": {"name": "f"}}] * 65, "choice": {"any": {}}}},
]


@each("document", DOCUMENTS)
def test_requests_of_every_size_are_encoded_alike(document: dict[str, Any]) -> None:
    plain = json.loads(encode_request(document, SMALL))
    assert json.loads(encode_request(document, LARGE)) == plain
    assert encode_request(document, LARGE) == encode_request(document, SMALL)


@each("size", [0, SMALL, LARGE])
def test_a_request_may_have_four_times_the_bytes_and_a_megabyte(size: int) -> None:
    frame = len('{"a":""}')
    most = most_bytes(size)
    assert most == 4 * size + 1_000_000
    assert len(encode_request({"a": "x" * (most - frame)}, size)) == most
    with pytest.raises(TooLarge):
        encode_request({"a": "x" * (most - frame + 1)}, size)


@each(
    ("document", "place"),
    [
        ({"model": "m", "messages": ["x" * 1_000] * 2_000, "n": 1}, "messages"),
        ({"contents": ["x" * 990_000], "tools": ["x" * 20_000]}, "contents"),
        ({"messages": [], "toolConfig": {"tools": ["x" * 2_000_000]}}, "tools"),
        ({"input": [], "text": "x" * 2_000_000}, "text.format"),
        ({"system": "x" * 2_000_000}, "messages[0].content"),
        ({"other": "x" * 2_000_000}, "other"),
    ],
)
def test_what_grows_is_named_as_the_caller_wrote_it(document: dict[str, Any], place: str) -> None:
    places = {"output": "text.format", "messages": "messages"}
    system = [Text(text="x", place="messages[0].content")]
    request = ChatRequest(language="", model="", messages=[], system=system, places=places)
    if "contents" in document:
        places["messages"] = "contents"
    with pytest.raises(TooLarge) as excinfo:
        encode_chat(document, request)
    assert excinfo.value.place == place


@each("member", ["messages", "tools"])
def test_no_more_is_encoded_than_the_most(member: str) -> None:
    """One value that stands in many places takes no memory before it is encoded."""
    repeated = {"schema": Raw(b'"' + b"x" * 100_000 + b'"')}
    values: Any = [repeated] * 5_000
    document = {member: values if member == "messages" else {"tools": values}}
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            encode_request(document, LARGE)
        allocated = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert allocated < 20_000_000
