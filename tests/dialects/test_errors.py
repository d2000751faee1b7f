"""The error object of each dialect, for every status that the gateway sends."""

import orjson
import pytest

from engine import dialects
from engine.values.errors import GatewayError
from tests.support.each import each

STATUSES = [400, 401, 403, 404, 405, 408, 413, 414, 415, 429, 431, 500, 501, 502, 503, 504, 529]
ALL = [dialects.get(name) for name in dialects.names()]
COMMON = [dialect for dialect in ALL if dialect.name != "gemini"]


def error(status=400, **more):
    return GatewayError(status, "some_code", "What went wrong.", **more)


def error_of(name, status, **more):
    return dialects.get(name).error(error(status, **more), "req_1")


@each("status", STATUSES)
@each("dialect", COMMON, ids=lambda dialect: dialect.name)
def test_an_error_has_four_members_and_all_are_strings(dialect, status):
    inner = dialect.error(error(status), "req_1")["error"]
    assert set(inner) == {"message", "type", "param", "code"}
    assert all(isinstance(value, str) for value in inner.values())
    assert (inner["message"], inner["code"], inner["param"]) == (
        "What went wrong.",
        "some_code",
        "",
    )
    assert inner["type"]


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
def test_the_param_is_the_place_in_the_request(dialect):
    document = dialect.error(error(param="messages[0].role"), "req_1")
    assert document["error"]["param"] == "messages[0].role"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "invalid_request_error"),
        (403, "permission_error"),
        (404, "invalid_request_error"),
        (413, "invalid_request_error"),
        (429, "requests"),
        (500, "server_error"),
        (502, "server_error"),
        (504, "server_error"),
    ],
)
def test_openai_types_follow_the_status(status, kind):
    assert error_of("openai", status)["error"]["type"] == kind
    assert error_of("plain", status)["error"]["type"] == kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (415, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_anthropic_types_follow_the_status(status, kind):
    document = error_of("anthropic", status)
    assert document["error"]["type"] == kind
    assert (document["type"], document["request_id"]) == ("error", "req_1")
    assert set(document) == {"type", "error", "request_id"}


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (405, "INVALID_ARGUMENT"),
        (413, "INVALID_ARGUMENT"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (501, "UNIMPLEMENTED"),
        (502, "UNAVAILABLE"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
        (529, "INTERNAL"),
    ],
)
def test_gemini_has_the_status_as_number_and_word_and_our_code_as_reason(status, word):
    inner = error_of("gemini", status)["error"]
    assert (inner["code"], inner["status"], inner["message"]) == (status, word, "What went wrong.")
    assert type(inner["code"]) is int
    assert inner["details"][0]["reason"] == "some_code"
    assert inner["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert all(isinstance(inner[name], str) for name in ("message", "type", "param", "status"))


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


def test_a_gemini_error_in_an_array_is_an_error():
    assert dialects.get("gemini").is_error([{"error": {"code": 400, "message": "x"}}])
    assert not dialects.get("gemini").is_error([{"error": {"code": "400", "message": "x"}}])


@pytest.mark.parametrize("code", [True, 4.5, None, "400"])
def test_a_gemini_error_needs_an_integer_as_code(code):
    """The vendor's SDK raises TypeError on it."""
    assert not dialects.get("gemini").is_error({"error": {"code": code, "message": "x"}})


def test_a_gemini_error_needs_a_message():
    assert not dialects.get("gemini").is_error({"error": {"code": 400}})


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


@pytest.mark.parametrize("name", dialects.names())
def test_a_dialect_is_named_like_its_file(name):
    assert dialects.get(name).name == name
