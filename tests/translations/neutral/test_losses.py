"""The losses of a translation: which are refused, and how callers read of them."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Text,
    UploadedFile,
)
from engine.translations.neutral.losses import (
    Loss,
    Losses,
    TooLarge,
    encode_chat,
    encode_request,
    most_bytes,
    visible_place,
)
from engine.translations.neutral.request import ChatRequest
from engine.values.wildcard import Patterns
from tests.support.each import each


def losses(*places: str, hints: tuple[str, ...] = ()) -> Losses:
    new_losses = Losses(Patterns(hints))
    for place in places:
        new_losses.add(place)
    return new_losses


def test_a_field_is_a_place_without_indexes() -> None:
    assert Loss("messages[2].content[10].name").field == "messages.content.name"


def test_the_losses_that_may_not_be_dropped_are_refused_once_for_each_field() -> None:
    all_losses = losses("user", "seed", "m[1].name", "n", "t[0].x", "t[1].x", hints=("user",))
    assert all_losses.refusals(Patterns(("seed", "*.name"))) == [Loss("n"), Loss("t[0].x")]


def test_hints_alone_are_not_refused() -> None:
    hints = losses("user", hints=("user",))
    hints.add("store", "nothing is stored", hint=True)
    assert hints.refusals(Patterns(())) == []
    assert hints.fields() == ["user", "store"]


def test_each_field_is_named_once_in_the_order_of_the_losses() -> None:
    assert losses("m[0].b", "a", "m[1].b").fields() == ["m.b", "a"]


def test_of_many_fields_the_first_are_named_and_the_others_counted() -> None:
    fields = losses(*(f"f{number}" for number in range(1_000))).fields()
    assert (len(fields), fields[19], fields[-1]) == (21, "f19", "and 980 more")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("messages[2].content", "messages[2].content"),
        ("a\r\nset-cookie: x", "a%0D%0Aset-cookie:%20x"),
        ("a, b%", "a%2C%20b%25"),
        ("naïve\x00\x7f", "na%C3%AFve%00%7F"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "..."),
        ("x" * 199 + "é", "x" * 199 + "..."),
        ("x" * 198 + "é", "x" * 198 + "..."),
        ("é" * 1_000_000, "%C3%A9" * 33 + "..."),
    ],
)
def test_a_place_is_written_in_visible_ascii_and_bounded(place: str, expected: str) -> None:
    assert visible_place(place) == expected


@each(
    ("block", "reason"),
    [
        (Foreign(kind="bash"), "a block 'bash' is another vendor's"),
        (
            Media(kind="image", source=UploadedFile()),
            "the file was uploaded to another vendor",
        ),
        (
            Media(kind="video", source=Inline("video/mp4", "AAAA")),
            "the upstream takes no video here",
        ),
        (
            Media(kind="document", source=Link("https://a")),
            "the upstream takes no document by URL here",
        ),
        (Media(kind="image", source=Link("s3://a")), "only http and https links can be sent"),
        (Text(text="a"), "the upstream has no form for it"),
    ],
)
def test_why_a_block_cannot_be_said(block: Block, reason: str) -> None:
    block_losses = losses()
    block_losses.add_block(block)
    assert [loss.reason for loss in block_losses.losses] == [reason]


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
