"""The list of models in each dialect, page by page, and which dialect claims a request."""

import pytest

from engine import dialects
from engine.values.errors import GatewayError
from tests.support.dialects import listed


@pytest.mark.parametrize(
    "bad",
    [
        "0",
        "-1",
        "1001",
        "x",
        "1.5",
        "1e2",
        "٣",
        "²",
        " 5",
        "9" * 30,
        "9" * 9 + "1",
    ],
)
@pytest.mark.parametrize(("name", "key"), [("anthropic", "limit"), ("gemini", "pageSize")])
def test_an_invalid_page_size_is_refused(name, key, bad):
    with pytest.raises(GatewayError) as raised:
        listed(name, **{key: bad})
    assert (raised.value.status, raised.value.param) == (400, key)


@pytest.mark.parametrize(("name", "key"), [("anthropic", "limit"), ("gemini", "pageSize")])
def test_an_empty_page_size_is_the_default(name, key):
    assert listed(name, **{key: ""}) == listed(name)


@pytest.mark.parametrize(
    ("environ", "query", "claimed"),
    [
        ({}, "", set()),
        ({"HTTP_ANTHROPIC_VERSION": "2023-06-01"}, "", {"anthropic"}),
        ({"HTTP_X_GOOG_API_KEY": "k"}, "", {"gemini"}),
        ({}, "key=k", {"gemini"}),
        ({}, "a=b&key=k", {"gemini"}),
        ({}, "monkey=k", set()),
        ({}, "a=key=k", set()),
        ({"HTTP_X_API_KEY": "k"}, "", set()),
    ],
)
def test_a_request_is_claimed_by_its_headers_and_query(environ, query, claimed):
    every = [dialects.get(name) for name in dialects.names()]
    assert {d.name for d in every if d.claims(environ, query)} == claimed


def test_openai_lists_every_model_on_one_page():
    document = listed("openai")
    assert (document["object"], len(document["data"])) == ("list", 60)
    assert document["data"][1] == {
        "id": "org/m1:x",
        "object": "model",
        "created": 1_700_000_001,
        "owned_by": "me",
    }
