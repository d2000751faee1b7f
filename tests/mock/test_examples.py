"""What the mock answers: examples, chosen and filled in."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mock.examples import (
    ExampleResponse,
    choose,
    elements,
    events,
    examples,
    fill,
    item_texts,
    last_turn,
    words,
)
from engine.source import files
from engine.source.problem import Findings
from engine.spec.spec import read

FACTS = {
    "text": "Hi there, you",
    "model": "m",
    "now": 5,
    "id": "abc",
    "input_tokens": 3,
    "output_tokens": 2,
    "total_tokens": 5,
    "items": ["a fox", "a loaf"],
}
JSON = ExampleResponse(200, "application/json", "plain", {})
BASE64 = ExampleResponse(200, "application/json", "base64", {})
SSE = ExampleResponse(200, "text/event-stream", "stream", "data: x\n\n")
SRT = ExampleResponse(200, "text/plain", "srt", "1")
MP3 = ExampleResponse(200, "audio/mpeg", "", None)
WAV = ExampleResponse(200, "audio/wav", "", None)


@pytest.mark.parametrize(
    ("request_", "query", "expected"),
    [
        ({}, "", JSON),
        (None, "", JSON),
        ([1], "", JSON),
        ({"stream": True}, "", SSE),
        ({"stream": False}, "", JSON),
        ({"stream": "true"}, "", JSON),
        ({"stream_format": "sse"}, "", SSE),
        ({}, "alt=sse", SSE),
        ({}, "a=b&alt=sse", SSE),
        ({}, "halt=sse", JSON),
        ({"encoding_format": "base64"}, "", BASE64),
        ({"response_format": "srt"}, "", SRT),
        ({"response_format": "json"}, "", JSON),
        ({"response_format": {"type": "srt"}}, "", JSON),
        ({"response_format": "srt", "stream": True}, "", SSE),
    ],
)
def test_the_request_says_which_example_it_gets(request_, query, expected):
    assert choose([JSON, BASE64, SSE, SRT], request_, query) is expected


@pytest.mark.parametrize(("format_", "expected"), [("wav", WAV), ("mpeg", MP3), ("opus", MP3)])
def test_a_binary_answer_is_chosen_by_its_media_type(format_, expected):
    assert choose([MP3, WAV], {"response_format": format_}, "") is expected


def test_an_operation_that_only_streams_streams_always():
    assert choose([SSE], {}, "") is SSE


def test_an_operation_that_never_streams_does_not():
    assert choose([JSON], {"stream": True}, "") is JSON


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"messages": [{"role": "user", "content": "a"}]}, "a"),
        (
            {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
            "a",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}, "a"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"text": "a"}, {"image": 1}, {"text": "b"}]}
                ]
            },
            "a b",
        ),
        ({"contents": [{"role": "user", "parts": [{"text": "a"}]}]}, "a"),
        ({"contents": [{"parts": [{"text": "a"}]}]}, "a"),
        ({"contents": "a"}, "a"),
        ({"contents": ["a", "b"]}, "b"),
        ({"input": "a"}, "a"),
        ({"input": [{"role": "user", "content": "a"}]}, "a"),
        ({"prompt": "a"}, "a"),
        ({"query": "a"}, "a"),
        ({"messages": []}, ""),
        ({"messages": None}, ""),
        ({"messages": [{"role": "system", "content": "a"}]}, ""),
        ({"messages": [{"role": "user", "content": None}]}, ""),
        ({}, ""),
        (None, ""),
        ([], ""),
        ("a", ""),
        ({"input": 7}, ""),
    ],
)
def test_the_last_turn_of_the_user_is_the_text(request_, text):
    assert last_turn(request_) == text


@given(st.text())
def test_words_joined_are_the_text(text):
    assert "".join(words(text)) == text


@pytest.mark.parametrize(
    ("request_", "texts"),
    [
        ({"query": "q", "documents": ["a", {"text": "b"}]}, ["a", "b"]),
        ({"query": "q", "documents": ["a", "b", "c"], "top_n": 2}, ["a", "b"]),
        ({"query": "q", "documents": ["a", "b"], "top_k": 1, "top_n": None}, ["a"]),
        ({"query": "q", "documents": ["a", "b"], "top_n": 0}, ["a", "b"]),
        ({"query": "q", "documents": ["a", "b"], "top_n": "all"}, ["a", "b"]),
        ({"query": "q", "documents": []}, []),
        ({"query": "q", "texts": ["a", "b"]}, ["a", "b"]),
        ({"input": "a"}, ["a"]),
        ({"input": ["a", "b"]}, ["a", "b"]),
        ({"input": [5, 7]}, [""]),
        ({"input": [[5], [7]]}, ["", ""]),
        ({"requests": [{"content": {"parts": [{"text": "a"}]}}] * 2}, ["a", "a"]),
        ({"messages": [{"role": "user", "content": "a"}], "top_k": 5}, ["a"]),
        (None, [""]),
    ],
)
def test_a_request_has_items_that_are_answered_one_by_one(request_, texts):
    assert item_texts(request_) == texts


def test_words_keep_the_space_after_them():
    assert words("Hi there, you") == ["Hi ", "there, ", "you"]
    assert words("") == [""]


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("{{text}}", "Hi there, you"),
        ("say {{text}}!", "say Hi there, you!"),
        ("{{now}}", 5),
        ("at {{now}}", "at 5"),
        ("chat-{{id}}", "chat-abc"),
        ("{{unheard}}", "{{unheard}}"),
        ({"a": ["{{total_tokens}}", {"b": "{{model}}"}]}, {"a": [5, {"b": "m"}]}),
        (["{{item}} {{item_text}}", "{{now}}"], ["0 a fox", "1 a loaf", 5]),
        ({"a": [{"b": ["{{item_score}}"]}]}, {"a": [{"b": [0.98]}, {"b": [0.49]}]}),
        (7, 7),
        (None, None),
        (True, True),
    ],
)
def test_placeholders_are_filled_in_with_their_own_type(value, filled):
    assert fill(value, FACTS) == filled


def test_placeholders_in_inserted_text_are_not_filled():
    assert fill("{{text}}", {**FACTS, "text": "{{id}}"}) == "{{id}}"
    streamed = b"".join(events('data: {"t":"{{text}}"}', {**FACTS, "text": "{{id}}"}, False))
    assert streamed == b'data: {"t":"{{id}}"}\n\n'


STREAM = """event: start
data: {"id":"{{id}}","n":{{n}}}

data: {"t":"{{word}}","n":{{n}}}

: if usage
data: {"usage":{{total_tokens}},"n":{{n}}}

data: [DONE]
"""


def test_a_stream_has_an_event_for_each_word():
    assert [event.decode() for event in events(STREAM, FACTS, False)] == [
        'event: start\ndata: {"id":"abc","n":0}\n\n',
        'data: {"t":"Hi ","n":1}\n\n',
        'data: {"t":"there, ","n":2}\n\n',
        'data: {"t":"you","n":3}\n\n',
        "data: [DONE]\n\n",
    ]


def test_usage_is_streamed_when_it_is_asked_for():
    assert b'data: {"usage":5,"n":4}\n\n' in list(events(STREAM, FACTS, True))


@given(st.text(max_size=20))
def test_any_text_is_valid_json_in_a_stream(text):
    stream = events('data: {"t":"{{word}}"}', {**FACTS, "text": text}, False)
    data = [orjson.loads(event.removeprefix(b"data: ")) for event in stream]
    assert "".join(event["t"] for event in data) == text


def test_an_array_is_streamed_element_by_element():
    stream = list(elements([{"t": "{{word}}"}, {"end": "{{now}}"}], FACTS))
    assert len(stream) == 5
    assert orjson.loads(b"".join(stream)) == [
        {"t": "Hi "},
        {"t": "there, "},
        {"t": "you"},
        {"end": 5},
    ]

    assert orjson.loads(b"".join(elements([{"i": "{{item}}"}], FACTS))) == [{"i": 0}, {"i": 1}]


def test_an_empty_array_is_an_array():
    assert b"".join(elements([], FACTS)) == b"[]"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "shop.yaml"
    file.write_text("""
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /a:
    get:
      operationId: several
      responses:
        "400": {description: no, content: {application/json: {example: 1}}}
        "201":
          description: ok
          content:
            application/json: {examples: {one: {value: 1}, two: {value: {$ref: x}}}}
            text/plain: {example: hello}
            audio/mpeg: {}
  /b: {get: {operationId: empty, responses: {"204": {description: gone}}}}
  /c: {get: {operationId: ranged, responses: {2XX: {description: ok, content: {a/b: {}}}}}}
  /d: {get: {operationId: failing, responses: {default: {description: no}}}}
""")
    findings = Findings()
    specification = read("shop", file, "shop.yaml", (), findings)
    assert findings.problems == []
    return specification


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "several",
            [
                ExampleResponse(201, "application/json", "one", 1),
                ExampleResponse(201, "application/json", "two", {"$ref": "x"}),
                ExampleResponse(201, "text/plain", "", "hello"),
                ExampleResponse(201, "audio/mpeg", "", None),
            ],
        ),
        ("empty", [ExampleResponse(204, "", "", None)]),
        ("ranged", [ExampleResponse(200, "a/b", "", None)]),
        ("failing", [ExampleResponse(200, "", "", None)]),
    ],
)
def test_the_examples_of_an_operation_are_those_of_its_success(shop, name, expected):
    assert examples(shop.node(shop.operations[name])) == expected


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_every_shipped_operation_has_an_answer_and_every_placeholder_is_known(name):
    specification = read(name, files.DOCUMENTS / f"{name}.yaml", name, (), Findings())
    for operation in specification.operations.values():
        candidates = examples(specification.node(operation))
        assert candidates
        for example in candidates:
            if example.media_type == "text/event-stream":
                text = b"".join(events(example.value, FACTS, True)).decode()
            elif isinstance(example.value, list) and "json" in example.media_type:
                text = b"".join(elements(example.value, FACTS)).decode()
            else:
                text = str(fill(example.value, FACTS))
            assert "{{" not in text, operation.id


SEQUENCES = """
openapi: 3.2.0
info: {title: T, version: "1"}
paths:
  /a:
    get:
      operationId: a
      responses:
        "200":
          description: ok
          content:
            application/json: {examples: {one: {dataValue: {a: 1}, serializedValue: "{}"}}}
            text/csv: {examples: {two: {serializedValue: "a,b"}}}
            application/jsonl: {itemSchema: {type: integer, minimum: 3}}
"""


def test_examples_of_3_2_are_data_or_text(tmp_path):
    (tmp_path / "api.yaml").write_text(SEQUENCES)
    specification = read("api", tmp_path / "api.yaml", "api.yaml", (), Findings())
    found = examples(specification.node(specification.operations["a"]))
    assert [(e.media_type, e.value) for e in found] == [
        ("application/json", {"a": 1}),
        ("text/csv", "a,b"),
        ("application/jsonl", [3]),
    ]
