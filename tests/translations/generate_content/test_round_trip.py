"""What this language can say is read in its order and with the text of its numbers; what callers of
other languages ask is a request of the SDK; a stream comes to its answer or is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from typing import Any

from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language
from engine.translations.generate_content.answer_writer import Writer
from engine.translations.generate_content.request_reader import read_request
from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.answer import Answer, Candidate, collect
from engine.translations.neutral.content import (
    Citation,
    Inline,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
)
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Thinking
from engine.values.usage import Usage
from engine.values.wildcard import Patterns
from tests.support.thorough import examples
from tests.support.translations import event_data, events_in

Json = dict[str, Any]

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
OBJECTS = st.dictionaries(WORDS, NUMBERS | WORDS | st.lists(NUMBERS), max_size=3)
SIGNATURES = st.sampled_from(["UzE=", "-_8="])


def objects(required: Json, optional: Json | None = None) -> st.SearchStrategy[Json]:
    fixed = {n: v if isinstance(v, st.SearchStrategy) else st.just(v) for n, v in required.items()}
    return st.fixed_dictionaries(fixed, optional=optional or {})


METADATA = {"partMetadata": OBJECTS, "videoMetadata": objects({"fps": NUMBERS})}
BLOBS = objects({"mimeType": "image/png", "data": "iVBO"}, {"displayName": WORDS})
FILES = objects({"fileUri": WORDS}, {"mimeType": st.just("video/mp4"), "displayName": WORDS})
CALLS = objects({"name": WORDS}, {"id": WORDS, "args": OBJECTS, "willContinue": st.just(False)})
RESULTS = objects(
    {"name": WORDS, "response": OBJECTS},
    {"id": WORDS, "parts": st.lists(objects({"inlineData": BLOBS}), max_size=2)},
)
PARTS = st.one_of(
    objects({"text": WORDS}, METADATA),
    objects({"text": WORDS}, {"thoughtSignature": SIGNATURES}),
    objects({"text": WORDS, "thought": True}, {"thoughtSignature": SIGNATURES}),
    objects({"inlineData": BLOBS}, METADATA | {"mediaResolution": OBJECTS}),
    objects({"fileData": FILES}, METADATA),
    objects({"functionCall": CALLS}, {"thoughtSignature": SIGNATURES}),
    objects({"functionResponse": RESULTS}),
    objects({"executableCode": OBJECTS}),
    objects({"hologram": OBJECTS}),
)
CONTENTS = objects(
    {"role": st.sampled_from(["user", "model"]), "parts": st.lists(PARTS, max_size=4)},
    {"vendorMember": OBJECTS},
)
FUNCTIONS = objects(
    {"name": WORDS},
    {
        "description": WORDS,
        "behavior": st.just("BLOCKING"),
        "parameters": objects({"type": "OBJECT"}, {"nullable": st.booleans(), "example": NUMBERS}),
    },
) | objects({"name": WORDS}, {"parametersJsonSchema": OBJECTS, "response": OBJECTS})
SAMPLING = {
    "temperature": NUMBERS,
    "topP": NUMBERS,
    "topK": NUMBERS,
    "seed": st.integers(),
    "candidateCount": st.integers(1, 3),
    "stopSequences": st.lists(WORDS, min_size=1, max_size=2),
    "presencePenalty": NUMBERS,
    "frequencyPenalty": NUMBERS,
    "responseLogprobs": st.just(True),
    "logprobs": st.integers(0, 20),
}
CONFIGS = objects(
    {"maxOutputTokens": 9},
    SAMPLING
    | {
        "responseMimeType": st.sampled_from(["text/plain", "application/json", "text/x.enum"]),
        "responseSchema": objects({"type": "STRING"}, {"enum": st.lists(WORDS)}),
        "thinkingConfig": objects(
            {}, {"thinkingBudget": st.integers(-1, 9), "thinkingLevel": st.just("LOW")}
        ),
        "responseModalities": st.sampled_from([["TEXT"], ["TEXT", "IMAGE"]]),
        "vendorMember": OBJECTS,
    },
)
CALLING = objects({"mode": st.sampled_from(["AUTO", "VALIDATED", "any"])}, {"more": NUMBERS})
REQUESTS = objects(
    {"contents": st.lists(CONTENTS, max_size=3)},
    {
        "systemInstruction": objects({"parts": st.lists(objects({"text": WORDS}), min_size=1)}),
        "tools": st.lists(FUNCTIONS, min_size=1, max_size=2).map(
            lambda functions: [{"functionDeclarations": functions}, {"googleSearch": {"a": 1}}]
        ),
        "toolConfig": objects({}, {"functionCallingConfig": CALLING, "retrievalConfig": OBJECTS}),
        "generationConfig": CONFIGS,
        "safetySettings": st.lists(objects({"category": WORDS, "threshold": "OFF"}), max_size=2),
        "cachedContent": WORDS,
        "vendorMember": OBJECTS,
    },
)


UNKNOWN = ("partMetadata", "videoMetadata", "vendorMember", "behavior", "retrievalConfig", "more")
READ = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}


def exact(body: bytes | str) -> Any:
    """The JSON with the text of its numbers."""
    return json.loads(body, parse_float=str, parse_int=str)


@given(request=REQUESTS)
@settings(max_examples=examples(20))
def test_what_is_read_keeps_its_order_and_the_text_of_its_numbers(request: Json) -> None:
    neutral = read_request(json.dumps(request).encode(), RequestLine(model="gemini-2.5-flash"))
    for message, content in zip(neutral.messages, request["contents"], strict=True):
        blocks = [o for o in message.blocks if not isinstance(o, Reasoning) or o.text]
        for block, part in zip(blocks, content["parts"], strict=True):
            if "text" in part:
                assert isinstance(block, Text | Reasoning)
                assert block.text == part["text"]
            if "functionCall" in part:
                assert isinstance(block, ToolCall)
                assert exact(block.arguments or "{}") == part_arguments(part)
    for name, field in READ.items():
        value, raw = request.get("generationConfig", {}).get(name), getattr(neutral, field)
        assert (None if raw is None else bytes(raw).decode()) == (
            None if value is None else json.dumps(value)
        )


def part_arguments(part: Json) -> Any:
    return exact(json.dumps(part["functionCall"].get("args", {})))


@given(request=REQUESTS)
@settings(max_examples=examples(20))
def test_what_is_not_read_is_named(request: Json) -> None:
    neutral = read_request(json.dumps(request).encode(), RequestLine(model="gemini-2.5-flash"))
    named = [name for place in neutral.unread if (name := place.rpartition(".")[2]) in UNKNOWN]
    assert len(named) == sum(name in each for name in UNKNOWN for each in _objects(request))


def _objects(value: Any, name: str = "") -> Iterator[Json]:
    """The objects of a request, without those that are passed on as they are."""
    passed_on = ("args", "response", "executableCode", "hologram", "parametersJsonSchema", *UNKNOWN)
    if isinstance(value, dict) and name not in passed_on:
        yield value
        for key, each in value.items():
            yield from _objects(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)


@given(request=REQUESTS, model=st.sampled_from(["gemini-2.0-flash", "gemini-3-pro"]))
@settings(max_examples=examples(20))
def test_what_another_languages_caller_asks_is_a_request_of_the_sdk(
    request: Json, model: str
) -> None:
    hi = {"role": "user", "parts": [{"text": "Hi"}]}
    contents = [hi, *request["contents"]]
    if contents[-1]["role"] != "model":
        contents.append(hi)  # an empty last turn is refused
    body = json.dumps({**request, "contents": contents}).encode()
    neutral = read_request(body, RequestLine(model="m"))
    neutral.language = "other"
    target_request = json.loads(write_request(neutral, model, Losses(Patterns(()))).body)
    for content in target_request["contents"]:
        assert content["parts"]
        for part in content["parts"]:
            if not {"executableCode", "hologram"} & part.keys():
                types.Part.model_validate(part)
    types.GenerationConfig.model_validate(target_request.get("generationConfig", {}))
    types.ToolConfig.model_validate(target_request.get("toolConfig", {}))


def _cited(text: str) -> Text:
    return Text(text=text, citations=[Citation("https://a.test", "A", "", 0, len(text))])


def _signed(block: Any) -> list[Any]:
    return [Reasoning(signature=Signature("generate_content", "UzE=")), block]


WHOLE = st.one_of(
    st.builds(
        ToolCall,
        id=st.just("c"),
        name=st.just("f"),
        arguments=OBJECTS.map(lambda o: json.dumps(o, separators=(",", ":"))),
    ),
    st.just(Media(kind="image", source=Inline("image/png", "AA=="))),
)
TEXTS = st.builds(Text, text=WORDS)
THOUGHTS = st.builds(Reasoning, text=WORDS, signature=st.just(Signature("messages", "s")))
GROUPS = st.one_of(
    WHOLE.map(lambda block: [block]),
    st.tuples(TEXTS, WHOLE).map(list),
    st.one_of(TEXTS, WHOLE).map(_signed),
    THOUGHTS.map(lambda block: [block]),
)
STOPS = [("length", "MAX_TOKENS"), ("filter", "SAFETY")]


def _with_own_ids(blocks: list[Any]) -> list[Any]:
    """The blocks, each call with an id that no other one has."""
    for number, block in enumerate(blocks):
        if isinstance(block, ToolCall):
            block.id = f"c{number}"
    return blocks


ANSWERS = st.builds(
    Answer,
    id=st.just("r1"),
    model=st.just("m"),
    created=st.just(0),
    candidates=st.builds(
        lambda groups, stop: [
            Candidate(
                _with_own_ids([deepcopy(block) for group in groups for block in group]),
                Finish(stop=stop[0], native=stop[1]),
            )
        ],
        st.lists(GROUPS, max_size=3).filter(lambda groups: not _neighbours_join(groups)),
        st.sampled_from(STOPS),
    ),
    usage=st.builds(
        Usage,
        input=st.integers(10, 20),
        output=st.integers(1, 9),
        cached=st.just(3),
        source=st.just("upstream"),
    ),
)


def _neighbours_join(groups: list[list[Any]]) -> bool:
    """Neighbours that are text, or thoughts, come back as one."""
    blocks = [block for group in groups for block in group]
    return any(type(o) is type(p) and type(o) in (Text, Reasoning) for o, p in pairwise(blocks))


def events_of(answer: Answer, size: int) -> list[Event]:
    """The events of an answer, its texts in pieces of so many characters."""
    (candidate,) = answer.candidates
    events: list[Event] = [Start(id=answer.id, model=answer.model)]
    for block in candidate.blocks:
        text = block.arguments if isinstance(block, ToolCall) else getattr(block, "text", "")
        empty: Any = ToolCall(id=block.id, name="f") if isinstance(block, ToolCall) else type(block)
        opened = (
            block if isinstance(block, Media) else empty if isinstance(block, ToolCall) else empty()
        )
        events.append(Open(deepcopy(opened)))
        events += [Delta(text[at : at + size]) for at in range(0, len(text), size)]
        if isinstance(block, Text):
            events += map(Cite, block.citations)
        if isinstance(block, Reasoning) and block.signature is not None:
            events.append(Sign(block.signature))
        events.append(Close())
    return [*events, End(finishes={0: candidate.finish}, usage=answer.usage)]


def stream_of(answer: Answer, size: int) -> list[bytes]:
    """The data of the events that are written for an answer."""
    thinking = Thinking(visible=True)
    request = ChatRequest(language="generate_content", model="m", messages=[], thinking=thinking)
    writer = Writer(request)
    return event_data(b"".join(map(writer.write, events_of(answer, size))))


def read_stream(data: list[bytes]) -> Answer:
    return collect(events_in(language("generate_content"), data))


@given(answer=ANSWERS, size=st.integers(1, 5))
@settings(max_examples=examples(20))
def test_an_answer_survives_as_a_stream(answer: Answer, size: int) -> None:
    assert read_stream(stream_of(answer, size)) == answer


@given(answer=ANSWERS, data=st.data())
@settings(max_examples=examples(20))
def test_the_beginning_of_a_stream_is_broken_or_complete(
    answer: Answer, data: st.DataObject
) -> None:
    stream = stream_of(answer, 3)
    count = data.draw(st.integers(0, len(stream)))
    try:
        beginning = read_stream(stream[:count])
    except BrokenAnswer:
        assert count < len(stream)
    else:
        assert beginning == answer


@given(text=WORDS, size=st.integers(1, 3))
@settings(max_examples=examples(15))
def test_citations_survive_as_a_stream(text: str, size: int) -> None:
    candidate = Candidate([_cited(text)], Finish(stop="length", native="MAX_TOKENS"))
    answer = Answer(id="r1", model="m", created=0, candidates=[candidate], usage=None)
    assert read_stream(stream_of(answer, size)) == answer
