"""Examples with the placeholders of the mock fill_example in."""

import orjson
import pytest

from engine.console.example_values import fill_example


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("{{now}}", 1_767_225_600),
        ("chatcmpl-{{id}}", "chatcmpl-4f1c9a70d2e84b3f"),
        ({"n": ["{{n}}", "{{n}}"], "x": None}, {"n": [0, 1], "x": None}),
        ("{{who}} {{ text }}", "{{who}} {{ text }}"),
        ("data: 1\n\n: if usage\ndata: {{n}}\n\n", "data: 1\n\ndata: 0\n\n"),
        (7, 7),
    ],
)
def test_known_placeholders_are_filled_in(example, expected):
    assert fill_example(example) == expected


def test_the_document_has_no_placeholders(client):
    assert "{{" not in client.simulate_get("/openapi.json").text


def test_examples_of_streams_are_json(client):
    document = client.simulate_get("/openapi.json").json
    events = 0
    for item in document["paths"].values():
        for operation in item.values():
            streamed = operation["responses"].get("200", {}).get("content", {})
            for example in streamed.get("text/event-stream", {}).get("examples", {}).values():
                for line in example["value"].splitlines():
                    if line.startswith("data: {"):
                        orjson.loads(line.removeprefix("data: "))
                        events += 1
    assert events > 10
