"""An error before the first content of a stream is handled like one without a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from engine import dialects
from engine.config.upstreams import BreakerConfig, Retry
from engine.exchange.exchange import Response
from engine.upstream.forward import Forward
from engine.upstream.requests.route_headers import RouteHeaders
from engine.values.errors import GatewayError
from tests.support import yaml_text
from tests.support.documents import exchange
from tests.support.each import each
from tests.support.paths import CASES
from tests.support.recording import ANSWER
from tests.support.upstreams import (
    EVENTS,
    JSON,
    SERVICES,
    WATCHER,
    Client,
    FakeResponse,
    group,
    target,
)

TWICE = Retry(attempts=1)
BEGINNINGS = {
    "openai": b'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n',
    "anthropic": b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    "gemini": b'data: {"usageMetadata":{"promptTokenCount":1}}\n\n',
}


def openai(kind: str | None, code: Any = None) -> dict[str, Any]:
    return {"error": {"message": "no", "type": kind, "param": "model", "code": code}}


def anthropic(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "no"}, "request_id": "r"}


def gemini(code: int, status: str) -> dict[str, Any]:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]
    return {"error": {"code": code, "message": "no", "status": status, "details": details}}


# Dialect, status, document, and whether another target is attempted.
ERRORS: list[tuple[str, int, dict[str, Any], bool]] = [
    ("openai", 400, openai("invalid_request_error"), False),
    ("openai", 400, openai("invalid_request_error", "context_length_exceeded"), False),
    ("openai", 400, openai("image_generation_user_error", "moderation_blocked"), False),
    ("openai", 404, openai("invalid_request_error", "model_not_found"), False),
    ("openai", 401, openai("invalid_request_error", "invalid_api_key"), True),
    ("openai", 403, openai("permission_error"), True),
    ("openai", 429, openai("tokens", "rate_limit_exceeded"), True),
    ("openai", 429, openai("insufficient_quota", "insufficient_quota"), True),
    ("openai", 500, openai("server_error"), True),
    ("openai", 503, openai("overloaded_error"), True),
    ("openai", 422, openai("BadRequestError", 422), False),
    ("openai", 429, openai("strange", "429"), True),
    ("anthropic", 400, anthropic("invalid_request_error"), False),
    ("anthropic", 401, anthropic("authentication_error"), True),
    ("anthropic", 402, anthropic("billing_error"), True),
    ("anthropic", 403, anthropic("permission_error"), True),
    ("anthropic", 404, anthropic("not_found_error"), False),
    ("anthropic", 413, anthropic("request_too_large"), False),
    ("anthropic", 429, anthropic("rate_limit_error"), True),
    ("anthropic", 500, anthropic("api_error"), True),
    ("anthropic", 504, anthropic("timeout_error"), True),
    ("anthropic", 529, anthropic("overloaded_error"), True),
    ("gemini", 400, gemini(400, "INVALID_ARGUMENT"), False),
    ("gemini", 403, gemini(403, "PERMISSION_DENIED"), True),
    ("gemini", 404, gemini(404, "NOT_FOUND"), False),
    ("gemini", 429, gemini(429, "RESOURCE_EXHAUSTED"), True),
    ("gemini", 500, gemini(500, "INTERNAL"), True),
    ("gemini", 503, gemini(503, "UNAVAILABLE"), True),
    ("gemini", 504, gemini(504, "DEADLINE_EXCEEDED"), True),
]
WITHOUT_STREAM = "without a stream"
FORMS = ["first event", "after the beginning", "bare JSON", "JSON in place of a stream"]


def response_of(
    dialect: str, form: str, status: int, document: Any, wait: str = "7"
) -> FakeResponse:
    """The error in one of the forms in which upstreams send it."""
    data = json.dumps(document).encode()
    name = b"event: error\n" if dialect == "anthropic" else b""
    more = [("retry-after", wait)] if wait else []
    if form == WITHOUT_STREAM:
        return FakeResponse(status, [*JSON, *more], [data])
    if form == "JSON in place of a stream":
        return FakeResponse(200, [*JSON, *more], [data[:9], data[9:]])
    event = data if form == "bare JSON" else name + b"data: " + data + b"\n\n"
    beginning = b"" if form == "first event" else BEGINNINGS[dialect]
    return FakeResponse(200, [*EVENTS, *more], [beginning + event])


def ask(
    dialect: str, *clients: Client, path: str = "/v1/x", method: str = "POST", **more: Any
) -> tuple[Response | GatewayError, list[Any]]:
    targets = [target(c, name=f"u{n}", retry=TWICE, **more) for n, c in enumerate(clients)]
    request = exchange(b"{}", path=path, method=method)
    request.mount, request.model.targets, request.model.name = "/v1", targets, "m"
    forward = Forward(
        None,
        fixed=group(),
        dialect=dialects.get(dialect),
        headers=RouteHeaders([each.upstream for each in targets]),
        services=SERVICES,
        watcher=WATCHER,
    )
    try:
        return forward(request), targets
    except GatewayError as error:
        return error, targets


def outcome(response: Response | GatewayError) -> tuple[Any, ...]:
    """What a caller gets: status, error, and the headers about a retry."""
    headers = dict(response.headers)
    retry_headers = headers.get("retry-after"), headers.get("x-should-retry")
    if isinstance(response, GatewayError):
        return response.status, response.code, response.message, *retry_headers
    assert isinstance(response.body, bytes)
    assert headers["content-type"] == "application/json"
    assert headers["content-length"] == str(len(response.body))
    return response.status, json.loads(response.body)["error"], *retry_headers


@each("form", FORMS)
@each(("dialect", "status", "document", "elsewhere"), ERRORS)
def test_an_error_is_the_same_in_a_stream_and_without_one(
    dialect: str, status: int, document: Any, elsewhere: bool, form: str
) -> None:
    plain, _ = ask(dialect, Client(response_of(dialect, WITHOUT_STREAM, status, document)))
    streamed, _ = ask(dialect, Client(response_of(dialect, form, status, document)))
    assert outcome(streamed) == outcome(plain)
    if status not in (401, 402, 403):
        assert outcome(streamed)[:3] == (status, document["error"], "7")


@each("form", [WITHOUT_STREAM, *FORMS])
@each(("dialect", "status", "document", "elsewhere"), ERRORS)
def test_an_error_of_the_caller_is_not_retried(
    dialect: str, status: int, document: Any, elsewhere: bool, form: str
) -> None:
    first, second = Client(response_of(dialect, form, status, document)), Client()
    response, _ = ask(dialect, first, second)
    assert len(second.requests) == elsewhere
    assert not isinstance(response, GatewayError)
    assert response.status == (200 if elsewhere else status)


@each("form", [WITHOUT_STREAM, *FORMS])
@each(("dialect", "status", "document", "elsewhere"), ERRORS)
def test_only_failures_of_the_upstream_count_against_it(
    dialect: str, status: int, document: Any, elsewhere: bool, form: str
) -> None:
    once = BreakerConfig(failures=1, window=60, cooldown=60)
    client = Client(response_of(dialect, form, status, document))
    _, (attempted,) = ask(dialect, client, breaker=once)
    assert (attempted.state.breaker.wait(0) > 0) == (status >= 500)


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "document", [{"error": {"message": "odd"}}, {"error": {"message": "odd", "type": "strange"}}]
)
def test_an_error_of_an_unknown_kind_is_a_502(dialect: str, document: Any) -> None:
    second = Client()
    form = response_of(dialect, "first event", 0, document)
    error, _ = ask(dialect, Client(form))
    assert isinstance(error, GatewayError)
    assert (error.status, error.message) == (502, "The upstream failed: odd.")
    response, _ = ask(dialect, Client(response_of(dialect, "first event", 0, document)), second)
    assert not isinstance(response, GatewayError)
    assert len(second.requests) == 1


def test_an_error_of_all_targets_is_relayed_as_the_vendors() -> None:
    document = anthropic("overloaded_error")
    both = [Client(response_of("anthropic", "first event", 529, document)) for _ in range(2)]
    response, _ = ask("anthropic", *both)
    assert outcome(response) == (529, document["error"], "7", "false")


RESPONSE = {"id": "resp_1", "object": "response", "status": "failed", "output": []}


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("server_error", 500, "server_error"),
        ("rate_limit_exceeded", 429, "requests"),
        ("invalid_prompt", 400, "invalid_request_error"),
        ("context_length_exceeded", 400, "invalid_request_error"),
        ("image_too_small", 400, "invalid_request_error"),
    ],
)
def test_a_failed_response_keeps_its_object(code: str, status: int, kind: str) -> None:
    inner = RESPONSE | {"error": {"code": code, "message": "no"}}
    failed = {"type": "response.failed", "sequence_number": 2, "response": inner}
    created = b'event: response.created\ndata: {"type":"response.created","response":{}}\n\n'
    event = b"event: response.failed\ndata: " + json.dumps(failed).encode() + b"\n\n"
    response, _ = ask("openai", Client(FakeResponse(200, EVENTS, [created, event])))
    assert not isinstance(response, GatewayError)
    assert isinstance(response.body, bytes)
    body = json.loads(response.body)
    assert response.status == status
    assert body["error"] == {"message": "no", "type": kind, "param": None, "code": code}
    assert body["response"] == inner


@pytest.mark.parametrize(("code", "status"), [("rate_limit_exceeded", 429), ("invalid_value", 400)])
def test_the_error_event_of_responses_has_its_members_at_the_top(code: str, status: int) -> None:
    event_document = {
        "type": "error",
        "code": code,
        "message": "no",
        "param": None,
        "sequence_number": 1,
    }
    event = b"event: error\ndata: " + json.dumps(event_document).encode() + b"\n\n"
    response, _ = ask("openai", Client(FakeResponse(200, EVENTS, [event])))
    assert outcome(response)[0] == status
    assert (outcome(response)[1]["code"], outcome(response)[1]["message"]) == (code, "no")


@pytest.mark.parametrize(
    "pieces",
    [
        [b'[{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}]'],
        [b"[", b"{\n", b'  "error": {"code": 429, "message": "no",', b' "status": "X"}}\n]'],
        [b'[{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}'],
    ],
)
def test_an_array_that_begins_with_an_error_is_an_error(pieces: Sequence[bytes]) -> None:
    response, _ = ask("gemini", Client(FakeResponse(200, JSON, pieces)))
    assert outcome(response)[0] == 429
    assert outcome(response)[1]["code"] == 429


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":"resp_1","object":"response","error":{"code":"server_error","message":"x"}}',
        b'{"error":null,"id":"resp_1"}',
        b'[{"candidates":[]}]',
        b'{"type":"message","error":{"type":"x","message":"y"}}',
    ],
)
@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini"])
def test_a_response_that_is_not_an_error_is_relayed_unchanged(dialect: str, body: bytes) -> None:
    response, _ = ask(dialect, Client(FakeResponse(200, JSON, [body], has_length=True)))
    assert not isinstance(response, GatewayError)
    assert (response.status, response.body) == (200, body)


CHATS = {
    "openai": ("/v1/chat/completions", "/v1/responses"),
    "anthropic": ("/v1/messages",),
    "gemini": ("/v1beta/models/m:generateContent",),
}
NO_ANSWERS = yaml_text.load((CASES / "errors" / "no_answers.yaml").read_text())


def pieces_of(case: dict[str, Any]) -> list[bytes]:
    body, size = case["body"].encode(), len(case["body"]) // case.get("pieces", 1) + 1
    return [body[at : at + size] for at in range(0, len(body), size)]


@each(
    "dialect,path,name",
    [(dialect, path, name) for dialect in CHATS for path in CHATS[dialect] for name in NO_ANSWERS],
)
def test_what_is_no_answer_of_a_chat_goes_to_the_next_target(
    dialect: str, path: str, name: str
) -> None:
    case = NO_ANSWERS[name]
    first = Client(FakeResponse(200, JSON, pieces_of(case), has_length=True))
    good = Client(FakeResponse(200, JSON, [ANSWER], has_length=True))
    response, _ = ask(dialect, first, good, path=path)
    assert not isinstance(response, GatewayError)
    assert (response.status, response.body) == (200, ANSWER)
    alone, _ = ask(dialect, Client(FakeResponse(200, JSON, pieces_of(case))), path=path)
    message = alone.message if isinstance(alone, GatewayError) else outcome(alone)[1]["message"]
    assert alone.status == case["status"]
    assert case["words"] in message


@each("name", [name for name in NO_ANSWERS if name != "z.ai for a wrong path"])
@pytest.mark.parametrize(
    ("dialect", "path", "method"),
    [
        ("openai", "/v1/x", "POST"),
        ("openai", "/v1/chat/completions", "GET"),
        ("anthropic", "/v1/messages/count_tokens", "POST"),
        ("gemini", "/v1beta/models/m:countTokens", "POST"),
    ],
)
def test_other_operations_may_answer_so(dialect: str, path: str, method: str, name: str) -> None:
    client = Client(FakeResponse(200, JSON, pieces_of(NO_ANSWERS[name]), has_length=True))
    response, _ = ask(dialect, client, path=path, method=method)
    assert not isinstance(response, GatewayError)
    assert response.status == 200


@each(
    "path,body",
    [
        ("/v1/responses", b'{"id":"r","object":"response","status":"queued","output":[]}'),
        ("/v1/responses", b'{"status":"completed","output":[],"success":false}'),
        ("/v1/responses", b'{"object":"response","status":"incomplete","output":[],"error":null}'),
        ("/v1/responses", b'{"status":"completed","output":[{"type":"x","status":"failed"}]}'),
        ("/v1/chat/completions", b'{"code":"","choices":[{"message":{"content":"a"}}]}'),
        ("/v1/messages", b'{"type":"message","content":null,"stop_reason":"end_turn"}'),
        ("/v1/models/m:generateContent", b'{"status":"x","promptFeedback":{"blockReason":"A"}}'),
        (
            "/v1/models/m:generateContent",
            b'{"modelVersion":"m","promptFeedback":{"blockReason":"A"}}',
        ),
        (
            "/v1/models/m:generateContent",
            b'{"responseId":"r","candidates":[{"finishReason":"STOP"}]}',
        ),
    ],
)
def test_an_answer_with_odd_members_is_an_answer(path: str, body: bytes) -> None:
    dialect = next(name for name, paths in CHATS.items() if path[-8:] in [p[-8:] for p in paths])
    response, _ = ask(dialect, Client(FakeResponse(200, JSON, [body], has_length=True)), path=path)
    assert not isinstance(response, GatewayError)
    assert (response.status, response.body) == (200, body)


FORMS_OF_ERRORS = yaml_text.load((CASES / "errors" / "forms.yaml").read_text())


@each("name", FORMS_OF_ERRORS)
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_an_error_in_a_form_of_servers_keeps_its_status_and_words(dialect: str, name: str) -> None:
    case = FORMS_OF_ERRORS[name]
    response, _ = ask(
        dialect, Client(FakeResponse(case.get("status", 200), EVENTS, [case["body"].encode()]))
    )
    if "told" not in case:
        assert isinstance(response, GatewayError)
        assert (response.status, case["words"] in response.message) == (502, True)
    else:
        status, error, *_ = outcome(response)
        assert (status, case["words"] in error["message"]) == (case["told"], True)


FAILED_ANSWERS = yaml_text.load((CASES / "errors" / "failed_answers.yaml").read_text())


def failed_answer(case: dict[str, Any]) -> FakeResponse:
    if "body" in case:
        body = case["body"].replace("LONG", "long " * 1_000).encode()
        return FakeResponse(200, JSON, [body], has_length=True)
    events = [b"data: %b\n\n" % each.encode() for each in case["events"]]
    return FakeResponse(200, EVENTS, events)


@each("name", FAILED_ANSWERS)
def test_an_answer_that_has_failed_goes_to_the_next_target(name: str) -> None:
    case = FAILED_ANSWERS[name]
    good = Client(FakeResponse(200, JSON, [ANSWER], has_length=True))
    response, _ = ask(case["dialect"], Client(failed_answer(case)), good, path=case["path"])
    assert not isinstance(response, GatewayError)
    assert (response.status, len(good.requests)) == (200, 1)
    alone, _ = ask(case["dialect"], Client(failed_answer(case)), path=case["path"])
    message = alone.message if isinstance(alone, GatewayError) else outcome(alone)[1]["message"]
    assert alone.status == case["status"]
    assert case["words"] in message


@pytest.mark.parametrize(
    ("path", "method"), [("/v1/responses/r", "GET"), ("/v1/batches/b/cancel", "POST")]
)
@each(
    "name", [name for name, case in FAILED_ANSWERS.items() if "response" in name and "body" in case]
)
def test_what_has_failed_may_be_looked_up(name: str, path: str, method: str) -> None:
    case = FAILED_ANSWERS[name]
    response, _ = ask("openai", Client(failed_answer(case)), path=path, method=method)
    assert not isinstance(response, GatewayError)
    assert response.status == 200


FAR = "Fri, 01 Jan 2038 00:00:00 GMT"


@each("status", [400, 404, 409, 429, 500, 501, 503, 529])
@pytest.mark.parametrize(
    ("header", "value"),
    [("retry-after", "61"), ("retry-after-ms", "60001"), ("retry-after", FAR)],
)
@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "bedrock"])
def test_nobody_waits_for_longer_than_a_minute(
    name: str, header: str, value: str, status: int
) -> None:
    headers = [*JSON, (header, value), ("x-should-retry", "true")]
    body = b'{"type":"error","error":{"type":"t","message":"no","code":429}}'
    response, _ = ask(name, Client(FakeResponse(status, headers, [body])))
    told = [value for field, value in response.headers if field == "x-should-retry"]
    assert (response.status, told) == (status, ["false"])


@each("form", [WITHOUT_STREAM, *FORMS])
@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_a_wait_is_left_to_an_sdk_only_if_it_is_short(name: str, form: str) -> None:
    document = {"openai": openai("requests"), "anthropic": anthropic("rate_limit_error")}
    error = document.get(name) or gemini(429, "RESOURCE_EXHAUSTED")
    for delay, told in (("59.2s", ("60", None)), ("60.5s", ("61", "false")), ("0s", (None, None))):
        error["error"]["details"] = [{"retryDelay": delay}]
        response, _ = ask(name, Client(response_of(name, form, 429, error, wait="")))
        assert outcome(response)[-2:] == told
