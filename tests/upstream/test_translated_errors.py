"""The errors of an upstream, as a caller of another language gets them."""

import json

import pytest

from engine import dialects
from engine.relay.sse import NotAnEvent
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.upstream.translated_errors import TranslatedErrors
from engine.values.redaction import Redaction

KEY = "sk-live-0123456789abcdef"


def errors(headers=None, dialect="anthropic"):
    return TranslatedErrors(
        dialects.get(dialect), "req_1", Redaction([KEY]), [] if headers is None else headers
    )


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
def test_an_error_is_written_in_the_dialect_of_the_caller(dialect):
    document = json.loads(errors(dialect=dialect).document(UpstreamError(429, "Slow down.")))
    assert dialects.get(dialect).is_error(document)
    assert document["error"]["message"] == "Slow down."


def test_an_error_without_words_names_its_status():
    assert b"The upstream answered 503." in errors().document(UpstreamError(503, ""))


def test_no_credential_is_in_an_error():
    assert KEY.encode() not in errors().document(UpstreamError(401, f"wrong key {KEY}"))
    assert KEY not in str(errors().failure(BrokenAnswer(f"odd text {KEY}")))


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [("retry-after", "3")]), ([("retry-after", "9")], [("retry-after", "9")])],
)
def test_a_time_to_wait_becomes_a_header_unless_there_is_one(before, after):
    headers = list(before)
    errors(headers).document(UpstreamError(429, "", retry_after=2.1))
    assert headers == after


def test_an_error_that_the_upstream_reports_ends_a_stream_with_its_words():
    failure = errors().failure(UpstreamError(529, "Overloaded."))
    assert isinstance(failure, NotAnEvent)
    assert failure.document["error"]["message"] == "Overloaded."


def test_a_broken_answer_is_an_invalid_one_of_a_response_that_began():
    failure = errors().failure(BrokenAnswer("it broke off"))
    assert (failure.request_sent, failure.response_started) == (True, True)
