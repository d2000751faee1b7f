"""What this language can say is read in its order and with the text of its numbers; what is written
for a target is a request of the vendor's document; a stream comes to its answer or is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language
from engine.translations.messages.answer_writer import Writer
from engine.translations.messages.request_reader import read_request
from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.answer import Answer, Candidate, collect
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from engine.translations.neutral.events import BrokenAnswer, Finish
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Thinking, Tool
from engine.values.usage import Usage
from engine.values.wildcard import Patterns
from tests.support.thorough import examples
from tests.support.translation_strategies import unique_calls
from tests.support.translations import event_data, events_in
from tests.translations.messages.documents import events_of, validator

Json = dict[str, Any]

THINKING = ChatRequest(
    language="messages", model="m", messages=[], thinking=Thinking(adaptive=True)
)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
CACHE = {"cache_control": {"type": "ephemeral"}}


def objects(required: Json, optional: Json | None = None) -> st.SearchStrategy[Json]:
    """Objects with their members in this order."""

    def ordered(members: Json) -> Json:
        names = [*required, *(optional or {})]
        return {name: members[name] for name in names if name in members}

    fixed = {n: v if isinstance(v, st.SearchStrategy) else st.just(v) for n, v in required.items()}
    return st.fixed_dictionaries(fixed, optional=optional or {}).map(ordered)


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
ARGUMENTS = st.dictionaries(WORDS, NUMBERS | WORDS | st.lists(NUMBERS), max_size=3)
SOURCES = st.one_of(
    objects({"type": "base64", "media_type": "image/png", "data": "iVBO"}),
    objects({"type": "url", "url": WORDS}),
    objects({"type": "file", "file_id": WORDS}),
)
TEXTS = objects({"type": "text", "text": WORDS}, {"cache_control": st.just({"type": "ephemeral"})})
IMAGES = objects({"type": "image", "source": SOURCES}, {"cache_control": st.just({"ttl": "1h"})})
RESULTS = objects(
    {"type": "tool_result", "tool_use_id": WORDS},
    {
        "content": WORDS | st.lists(IMAGES, min_size=1, max_size=2),
        "is_error": st.just(True),
        "toolset_name": WORDS,
    },
)
BLOCKS = st.one_of(
    TEXTS,
    IMAGES,
    RESULTS,
    objects({"type": "document", "source": SOURCES, "title": WORDS}, {"context": WORDS}),
    objects({"type": "thinking", "thinking": WORDS, "signature": WORDS}),
    objects({"type": "redacted_thinking", "data": WORDS}),
    objects({"type": "tool_use", "id": WORDS, "name": st.just("f"), "input": ARGUMENTS}),
    objects({"type": "hologram"}, {"x": NUMBERS}),
)


def canonical(content: Any) -> Any:
    """One plain text is written as a text."""
    if isinstance(content, list) and len(content) == 1:
        (block,) = content
        if block["type"] == "text" and list(block) == ["type", "text"]:
            return block["text"]
    return content


CONTENTS = (WORDS | st.lists(BLOCKS, max_size=4)).map(canonical)
MESSAGES = objects(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": CONTENTS},
    {"clear_at": WORDS},
)
TOOLS = st.one_of(
    objects(
        {"name": WORDS.filter(str.isidentifier)},
        {
            "description": WORDS,
            "input_schema": ARGUMENTS.map(lambda o: {"type": "object", **o}),
            "strict": st.booleans(),
            "cache_control": st.just({"type": "ephemeral"}),
        },
    ),
    objects({"type": "bash_20250124", "name": "bash"}, {"max": NUMBERS}),
).map(lambda tool: {"input_schema": {"type": "object", "properties": {}}, **tool})
REQUESTS = objects(
    {"model": WORDS, "max_tokens": st.integers(0, 9)},
    {
        "system": (WORDS | st.lists(TEXTS, min_size=1, max_size=2)).map(canonical),
        "messages": st.lists(MESSAGES, max_size=3),
        "tool_choice": st.sampled_from(
            [
                {"type": "any"},
                {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
                {"type": "none"},
            ]
        ),
        "thinking": st.sampled_from(
            [
                {"type": "enabled", "budget_tokens": 2000},
                {"type": "adaptive", "display": "omitted"},
                {"type": "disabled"},
                {"type": "between_tools"},
            ]
        ),
        "output_config": objects(
            {"effort": "max"}, {"format": objects({"type": "json_schema", "schema": ARGUMENTS})}
        ),
        "temperature": NUMBERS,
        "top_p": NUMBERS,
        "top_k": NUMBERS,
        "stop_sequences": st.lists(WORDS, min_size=1, max_size=2),
        "metadata": objects({"user_id": WORDS}, {"team": WORDS}),
        "stream": st.just(True),
        "container": WORDS,
        "vendor_member": ARGUMENTS,
    },
).map(lambda request: {"messages": [], **request})


KINDS: dict[str, type[Block]] = {
    "text": Text,
    "image": Media,
    "document": Media,
    "tool_result": ToolResult,
    "thinking": Reasoning,
    "redacted_thinking": Reasoning,
    "tool_use": ToolCall,
    "hologram": Foreign,
}
UNKNOWN = ("clear_at", "toolset_name", "context", "team", "container", "vendor_member")
SAMPLING = ("temperature", "top_p", "top_k")


def exact(body: bytes | str) -> Any:
    """The JSON as lists of members, with the text of its numbers."""
    return json.loads(body, object_pairs_hook=list, parse_float=str, parse_int=str)


@given(request=REQUESTS, tools=st.lists(TOOLS, max_size=2))
@settings(max_examples=examples(20))
def test_what_is_read_keeps_its_order_and_the_text_of_its_numbers(
    request: Json, tools: list[Json]
) -> None:
    neutral = read_request(json.dumps({**request, "tools": tools}).encode(), RequestLine())
    turns = [_blocks(message["content"]) for message in request["messages"]]
    assert [message.role for message in neutral.messages] == [
        o["role"] for o in request["messages"]
    ]
    for message, blocks in zip(neutral.messages, turns, strict=True):
        assert list(map(type, message.blocks)) == [KINDS[each["type"]] for each in blocks]
        for block, source in zip(message.blocks, blocks, strict=True):
            if isinstance(block, ToolCall):
                assert exact(block.arguments or "{}") == exact(json.dumps(source["input"]))
    assert [tool.name for tool in neutral.tools] == [
        tool.get("type", tool["name"]) for tool in tools
    ]
    for tool, source in zip(neutral.tools, tools, strict=True):
        if isinstance(tool, Tool) and tool.schema is not None:
            assert exact(bytes(tool.schema)) == exact(json.dumps(source["input_schema"]))
    for name in SAMPLING:
        raw = getattr(neutral, name)
        assert (None if raw is None else bytes(raw).decode()) == _text(request, name)


@given(request=REQUESTS)
@settings(max_examples=examples(20))
def test_what_is_not_read_is_named(request: Json) -> None:
    neutral = read_request(json.dumps(request).encode(), RequestLine())
    named = [name for place in neutral.unread if (name := place.rpartition(".")[2]) in UNKNOWN]
    assert len(named) == sum(name in each for name in UNKNOWN for each in _objects(request))


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(request: Json, name: str) -> str | None:
    return json.dumps(request[name]) if name in request else None


def _objects(value: Any, name: str = "") -> Iterator[Json]:
    """The objects of a request, without those that are passed on as they are."""
    if isinstance(value, dict) and name not in ("input", "schema", "vendor_member"):
        yield value
        for key, each in value.items():
            yield from _objects(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)


@given(request=REQUESTS)
@settings(max_examples=examples(20))
def test_what_another_languages_caller_asks_is_a_request_of_the_vendors_document(
    request: Json,
) -> None:
    hi = {"role": "user", "content": "Hi"}
    messages = [hi, *request["messages"]]
    if messages[-1]["role"] != "assistant":
        messages.append(hi)  # an empty last turn is refused
    body = json.dumps({**request, "messages": messages}).encode()
    neutral = read_request(body, RequestLine())
    neutral.language = "other"
    target_request = write_request(neutral, "claude-sonnet-4-5", Losses(Patterns(())))
    validator("MessageRequest").validate(json.loads(target_request.body))


ANSWER_BLOCKS = st.one_of(
    st.builds(Text, text=WORDS),
    st.builds(Reasoning, text=WORDS, signature=st.just(Signature("messages", "s"))),
    st.just(Reasoning(signature=Signature("messages", "redacted:d"))),
    st.builds(
        ToolCall,
        id=st.just("toolu_1"),
        name=st.just("f"),
        arguments=ARGUMENTS.map(lambda o: json.dumps(o) if o else ""),
    ),
)
LENGTH = Finish(stop="length", native="max_tokens")
CALLS = Finish(stop="tool_calls", native="tool_use")
PAUSE = Finish(stop="pause", native="pause_turn")


def _candidate(blocks: list[Block], is_cut: bool) -> Candidate:
    calls = any(isinstance(block, ToolCall) for block in blocks)
    return Candidate(blocks, LENGTH if is_cut else CALLS if calls else PAUSE)


ANSWERS = st.builds(
    Answer,
    id=st.just("msg_1"),
    model=st.just("m"),
    created=st.just(0),
    candidates=st.tuples(
        st.builds(_candidate, st.lists(ANSWER_BLOCKS, max_size=4).map(unique_calls), st.booleans())
    ).map(list),
    usage=st.builds(
        Usage,
        input=st.integers(10, 20),
        output=st.integers(1, 9),
        cached=st.just(3),
        source=st.just("upstream"),
    ),
)


def read_stream(data: list[bytes]) -> Answer:
    return collect(events_in(language("messages"), data))


@given(answer=ANSWERS, pieces=st.integers(1, 5))
@settings(max_examples=examples(20))
def test_an_answer_survives_as_a_stream(answer: Answer, pieces: int) -> None:
    writer = Writer(THINKING)
    stream = b"".join(map(writer.write, events_of(answer, pieces)))
    assert read_stream(event_data(stream)) == answer


@given(answer=ANSWERS, data=st.data())
@settings(max_examples=examples(20))
def test_the_beginning_of_a_stream_is_broken_or_complete(
    answer: Answer, data: st.DataObject
) -> None:
    writer = Writer(THINKING)
    stream = event_data(b"".join(map(writer.write, events_of(answer, 3))))
    count = data.draw(st.integers(0, len(stream)))
    try:
        beginning = read_stream(stream[:count])
    except BrokenAnswer:
        assert count < len(stream) - 1  # the last event repeats that the answer is complete
    else:
        assert beginning == answer
