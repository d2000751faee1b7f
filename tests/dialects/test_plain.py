"""The plain dialect: its responses are relayed, its errors and lists are those of the default."""

import pytest

from engine import dialects
from tests.support.dialects import error_of, listed

PLAIN = dialects.get("plain")


def test_plain_lists_like_openai():
    assert listed("plain") == listed("openai")


@pytest.mark.parametrize("status", [400, 404, 429, 502])
def test_errors_are_like_those_of_openai(status):
    assert error_of("plain", status) == error_of("openai", status)


@pytest.mark.parametrize(("document", "is_error"), [({}, True), ([], True), ("x", False)])
def test_any_object_or_array_is_an_error_of_the_api(document, is_error):
    assert PLAIN.is_error(document) is is_error


def test_streams_are_not_parsed():
    assert PLAIN.transparent
    assert PLAIN.stream_error({"error": {"code": 500}}) is None
    assert PLAIN.has_content({})
