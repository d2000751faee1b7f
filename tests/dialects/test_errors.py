"""The error object of each dialect, for every status that the gateway sends."""

import orjson
import pytest

from engine import dialects
from tests.support.dialects import error
from tests.support.each import each

STATUSES = [400, 401, 403, 404, 405, 408, 413, 414, 415, 429, 431, 500, 501, 502, 503, 504, 529]
ALL = [dialects.get(name) for name in dialects.names()]
COMMON = [dialect for dialect in ALL if dialect.name != "gemini"]


@each("status", STATUSES)
@each("dialect", COMMON, ids=lambda dialect: dialect.name)
def test_an_error_has_four_members_and_a_param_only_for_a_place(dialect, status):
    inner = dialect.error(error(status), "req_1")["error"]
    assert set(inner) == {"message", "type", "param", "code"}
    assert (inner["message"], inner["code"]) == ("What went wrong.", "some_code")
    assert inner["param"] is None
    assert inner["type"]


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_the_param_is_the_place_in_the_request(dialect):
    document = dialect.error(error(param="messages[0].role"), "req_1")
    assert document["error"]["param"] == "messages[0].role"


@each("status", STATUSES)
@each("dialect", ALL, ids=lambda dialect: dialect.name)
def test_a_dialect_recognises_its_errors(dialect, status):
    assert dialect.is_error(dialect.error(error(status), "req_1"))


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        "error",
        7,
        {"error": None},
        {"error": "text"},
        {"error": {}},
        {"error": {"message": None}},
        {"detail": "x"},
        {"message": "x"},
    ],
)
@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_a_document_without_a_message_is_not_an_error(name, document):
    assert not dialects.get(name).is_error(document)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("openai", b"data: "),
        ("plain", b"data: "),
        ("gemini", b"data: "),
        ("anthropic", b"event: error\ndata: "),
    ],
)
def test_an_error_event_is_one_complete_event(name, head):
    dialect = dialects.get(name)
    body = orjson.dumps(dialect.error(error(503), "req_1"))
    event = dialect.error_event(body)
    assert event == head + body + b"\n\n"
    assert event.count(b"\n\n") == 1


def test_an_error_may_tell_a_client_whether_to_retry():
    assert error(retry=False).headers == [("x-should-retry", "false")]
    assert error(retry=True).headers == [("x-should-retry", "true")]
    assert error().headers == []
    assert error(headers=[("a", "b")], retry=False).headers[0] == ("a", "b")


@each(("wait", "told"), [("60", []), ("61", ["false"]), ("198720", ["false"])])
def test_no_client_waits_for_longer_than_a_minute(wait, told):
    headers = error(headers=[("retry-after", wait)]).headers
    assert [value for name, value in headers if name == "x-should-retry"] == told
    told_by_us = error(headers=[("retry-after", wait)], retry=True).headers
    assert ("x-should-retry", told[0] if told else "true") in told_by_us


@pytest.mark.parametrize("name", dialects.names())
def test_a_dialect_is_named_like_its_file(name):
    assert dialects.get(name).name == name


@each(
    ("name", "error", "status"),
    [
        ("openai", {"code": "rate_limit_exceeded"}, 429),
        ("anthropic", {"type": "billing_error"}, 402),
        ("gemini", {"status": "UNAVAILABLE"}, 503),
        ("gemini", {"message": "?"}, 502),
    ],
)
def test_the_status_of_an_error_inside_a_stream(name, error, status):
    assert dialects.event_status(name, {"error": error}) == status
