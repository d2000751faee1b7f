"""One attempt at a target: its classification, what it keeps, what it releases."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from typing import Any

import pytest
from gevent import GreenletExit

from engine import dialects
from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import Exchange
from engine.relay.websocket.handshake import UpgradeRequest
from engine.translations import language
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.upstream.attempts.attempt import attempt
from engine.upstream.client import failures
from engine.upstream.requests.build_request import build_request
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.filtered_response import FilteredResponse
from engine.upstream.websockets.websocket_upgrade import Upgrade
from engine.values.errors import GatewayError
from engine.values.upstream_request import UpstreamRequest
from tests.support.amazon_events import AMAZON_EVENTS, chunk, exception
from tests.support.answering import Answered
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.upstreams import EVENTS, JSON, Client, FakeResponse, failure, target

OPENAI, PLAIN = dialects.get("openai"), dialects.get("plain")
KEY = "sk-live-0123456789abcdef"
CONTENT = b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'
ERROR = b'data: {"error":{"message":"busy %b","code":503}}\n\n' % KEY.encode()


def run(*results: Any, dialect: Any = OPENAI, exchange: Exchange | None = None) -> AttemptResult:
    """The result of an attempt at a target with these results."""
    credential = HeaderCredential("header", "authorization", f"Bearer {KEY}")
    east = target(Client(*results), credentials=[credential])
    exchange = exchange or new_exchange("GET", "/x", dialect=dialect)
    request = build_request(east, exchange, east.upstream.headers(()), None)
    return attempt(east, credential, request, exchange, dialect, 9.0)


def test_a_response_with_content_is_no_failure() -> None:
    result = run(FakeResponse(200, EVENTS, [CONTENT]))
    assert (result.failure, result.status, result.reached, result.path) == ("", 200, True, "/x")
    assert result.content is not None
    assert result.content.first == CONTENT


def test_an_answer_that_is_not_translated_is_metered_as_the_caller_gets_it() -> None:
    result = run(FakeResponse(200, EVENTS, [CONTENT]))
    assert result.response is not None
    assert result.response.usage is None


@pytest.mark.parametrize(("dialect", "expected"), [("openai", False), ("anthropic", True)])
def test_a_prompt_cache_inside_the_input_is_counted_twice_by_anthropics_format_alone(
    dialect: str, expected: bool
) -> None:
    plain, spoken = target(Client(FakeResponse(200, EVENTS, [CONTENT]))), dialects.get(dialect)
    plain.upstream.cache_in_input = True
    east = replace(plain)
    exchange = new_exchange("GET", "/x", dialect=spoken)
    request = build_request(east, exchange, east.upstream.headers(()), None)
    result = attempt(east, None, request, exchange, spoken, 9.0)
    assert result.cache_counted_twice is expected


@pytest.mark.parametrize(
    ("status", "expected"), [(400, ""), (401, "credential"), (429, "429"), (503, "5xx")]
)
def test_an_error_status_has_a_class_and_its_body_is_not_read(status: int, expected: str) -> None:
    response = FakeResponse(status, JSON, [b"{}"])
    result = run(response)
    assert (result.failure, result.status, result.content) == (expected, status, None)
    assert (response.pieces, response.closed) == ([b"{}"], 0)


def test_no_status_of_a_plain_api_is_a_failure() -> None:
    assert run(FakeResponse(503, JSON, [b"{}"]), dialect=PLAIN).failure == ""


def test_an_error_event_has_the_status_of_its_error_without_a_stream() -> None:
    response = FakeResponse(200, EVENTS, [ERROR])
    result = run(response)
    assert (result.failure, result.status, response.closed) == ("error", 503, 1)
    assert result.document["error"]["message"] == "busy [redacted]"


@pytest.mark.parametrize(
    ("cause", "expected", "reached"),
    [
        (failure(failures.ConnectFailed), "connect", False),
        (failure(failures.Reset, request_sent=True), "reset", True),
        (failure(failures.FirstByteTimeout, request_sent=True), "fatal", True),
    ],
    ids=["connect", "reset", "timeout"],
)
def test_a_request_without_a_response_has_the_class_of_its_failure(
    cause: Any, expected: str, reached: bool
) -> None:
    result = run(cause)
    assert (result.failure, result.status, result.reached) == (expected, 0, reached)
    assert result.error is cause


@pytest.mark.parametrize(
    ("headers", "dialect", "expected"),
    [(EVENTS, OPENAI, "reset"), (JSON, OPENAI, "fatal"), (EVENTS, PLAIN, "fatal")],
    ids=["stream", "body", "plain stream"],
)
def test_only_a_stream_that_breaks_before_content_may_be_retried(
    headers: Any, dialect: Any, expected: str
) -> None:
    response = FakeResponse(200, headers, [failure(failures.Truncated, response_started=True)])
    assert run(response, dialect=dialect).failure == expected
    assert response.closed == 1


def test_an_event_that_is_too_large_is_a_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.relay.sse.MAX_EVENT", 1000)
    result = run(FakeResponse(200, EVENTS, [b"x" * 400] * 10))
    assert (result.failure, result.error is not None) == ("reset", True)


class Interrupted(FakeResponse):
    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        raise GreenletExit


def test_an_interrupted_attempt_releases_its_response_and_counts_as_sent() -> None:
    response, exchange = Interrupted(200, EVENTS), new_exchange("GET", "/x", dialect=OPENAI)
    with pytest.raises(GreenletExit):
        run(response, exchange=exchange)
    assert response.closed == 1
    assert exchange.record.reached_upstream


def test_a_request_that_cannot_be_built_was_not_sent() -> None:
    exchange = new_exchange("GET", "/x/../y", dialect=OPENAI)
    with pytest.raises(GatewayError) as excinfo:
        run(exchange=exchange)
    assert excinfo.value.status == 500
    assert not exchange.record.reached_upstream


def test_a_websocket_gets_the_redaction_of_its_upstream() -> None:
    secret = HeaderCredential("header", "authorization", f"Bearer {KEY}")
    west = target(Client(), credentials=[secret])
    upgrade = Upgrade(UpgradeRequest("key", (), ""), (), compression=False)
    request = new_exchange("GET", "/x", dialect=OPENAI)
    request.upgrade = upgrade
    built = build_request(west, request, west.upstream.headers(()), None)
    attempt(west, None, built, request, OPENAI, 9.0)
    assert upgrade.redact is not None
    assert upgrade.redact(f"key {KEY}".encode()) == b"key [redacted]"


def test_a_credential_gets_the_request_as_it_is_sent() -> None:
    class Signature(HeaderCredential):
        def apply(self, request: Any, timeout: float) -> None:
            assert isinstance(request, UpstreamRequest)
            size = len(request.headers)
            parts = (request.method, request.host, request.target, size, request.body)
            request.headers.append((self.name, f"{self.value} {parts}"))

    credential = Signature("signature", "x-signature", "s")
    client = Client(base_path="/base", host="up.example")
    signed = target(client, credentials=[credential])
    exchange = new_exchange("POST", "/chat", "a=b", {"HTTP_X_A": "1"})
    headers = signed.upstream.headers(("x-a",))
    built = build_request(signed, exchange, headers, None)
    attempt(signed, credential, built, exchange, dialects.get("openai"), 9.0)
    [request] = client.requests
    parts = ("POST", "up.example", "/base/chat?a=b", len(request.headers) - 1, b"")
    assert request.header("x-signature") == f"s {parts}"


def test_an_amazon_event_stream_is_read_as_server_sent_events() -> None:
    response = FakeResponse(200, AMAZON_EVENTS, [chunk({"choices": [{"delta": {"content": "a"}}]})])
    result = run(response)
    assert (result.failure, result.content and result.content.first) == (
        "",
        b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n',
    )


@each(("name", "failure"), [("throttlingException", "429"), ("internalServerException", "error")])
def test_an_exception_at_its_beginning_is_an_error_without_a_stream(
    name: str, failure: str
) -> None:
    result = run(FakeResponse(200, AMAZON_EVENTS, [exception(name, "Wait.")]))
    assert result.stream_error is not None
    assert result.stream_error.document["error"]["message"] == "Wait."
    assert result.failure == failure


@each("name", ["bedrock", "plain"])
def test_callers_that_read_amazons_streams_get_them_as_they_are(name: str) -> None:
    data = chunk({"type": "ping"}) + chunk({"type": "content_block_delta"})
    result = run(FakeResponse(200, AMAZON_EVENTS, [data]), dialect=dialects.get(name))
    assert result.content is not None
    assert (result.content.first, result.content.events) == (data, None)


def test_a_request_without_its_token_is_not_sent() -> None:
    class Missing(HeaderCredential):
        def apply(self, request: Any, timeout: float) -> None:
            raise CredentialUnavailable("no key", "key.pem", lasting=True)

    client, credential = Client(), Missing("missing", "authorization", "s")
    east = target(client, credentials=[credential])
    exchange = new_exchange("GET", "/x", dialect=OPENAI)
    request = build_request(east, exchange, east.upstream.headers(()), None)
    result = attempt(east, credential, request, exchange, OPENAI, 9.0)
    assert (result.failure, result.reached, client.requests) == ("credential", False, [])
    assert isinstance(result.error, failures.NoCredential)
    assert (result.error.lasting, "no key: key.pem" in result.error.message) == (True, True)


def test_the_time_for_a_token_is_part_of_the_time_of_the_attempt() -> None:
    class Slow(HeaderCredential):
        def apply(self, request: Any, timeout: float) -> None:
            clock = time.monotonic()
            while time.monotonic() - clock < 0.002:
                pass
            waits.append(timeout)

    waits: list[float] = []
    client, credential = Client(), Slow("slow", "authorization", "s")
    east = target(client, credentials=[credential])
    exchange = new_exchange("GET", "/x", dialect=OPENAI)
    request = build_request(east, exchange, east.upstream.headers(()), None)
    attempt(east, credential, request, exchange, OPENAI, 9.0)
    [total] = client.totals
    assert waits == [9.0]
    assert total is not None
    assert 8 < total <= 8.998


@each("dialect, status, renewals", [(PLAIN, 401, 1), (PLAIN, 403, 0), (OPENAI, 401, 0)])
def test_a_refusal_that_is_relayed_renews_the_token_for_the_next_request(
    dialect: Any, status: int, renewals: int
) -> None:
    class Token(HeaderCredential):
        def renew(self) -> bool:
            renewed.append(1)
            return True

    renewed: list[int] = []
    credential = Token("token", "authorization", "s")
    east = target(Client(FakeResponse(status)), credentials=[credential])
    exchange = new_exchange("GET", "/x", dialect=dialect)
    request = build_request(east, exchange, east.upstream.headers(()), None)
    result = attempt(east, credential, request, exchange, dialect, 9.0)
    assert result.status == status
    assert len(renewed) == renewals


TRANSLATED = {
    "path": "/v1/messages",
    "crossing": ("messages", "chat_completions"),
    "body": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]},
}
ARRAY = {"body": {"contents": []}, "path": "/v1beta/models/m:streamGenerateContent"}
WITHOUT_CONTENT = {
    "a translated error": ("anthropic", JSON, ERROR[6:-2], TRANSLATED),
    "a translated event": ("anthropic", EVENTS, ERROR, TRANSLATED),
    "events named JSON": ("anthropic", JSON, CONTENT, TRANSLATED),
    "an item": ("gemini", JSON, b"[" + ERROR[6:-2], ARRAY),
    "a message": ("bedrock", AMAZON_EVENTS, exception("internalServerException", "x"), {}),
}


@pytest.mark.parametrize("name", WITHOUT_CONTENT)
def test_a_failed_attempt_leaves_no_response_to_the_garbage_collector(name: str) -> None:
    dialect, headers, data, more = WITHOUT_CONTENT[name]
    gc.collect()
    gc.disable()
    try:
        assert Answered(dialect, headers, data, **more).failure  # type: ignore[arg-type]
        left = [each for each in gc.get_objects() if type(each) is FilteredResponse]
    finally:
        gc.enable()
    assert not left


@pytest.mark.parametrize("is_translated", [False, True])
def test_a_request_in_another_format_is_not_a_message_of_a_websocket(is_translated: bool) -> None:
    class Sockets:
        def send(self, *_: Any) -> Any:
            return FakeResponse(200, JSON, [b'{"from": "a socket, of which this is the answer"}'])

    answer = b'{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    east = target(Client(FakeResponse(200, JSON, [answer])))
    east.upstream.responses_websocket = True
    sockets: Any = Sockets()
    caller = InternalCaller(None, sockets=sockets)
    exchange = new_exchange("POST", "/x", connection=InternalConnection(b"", caller))
    request = build_request(east, exchange, east.upstream.headers(()), None)
    translation = Translation(language("responses"), language("chat_completions"))
    body = b'{"model":"m","input":"Hi"}'
    translated = translation.request(body, RequestLine(id="r"), "m", LossRules())
    result = attempt(
        east, None, request, exchange, OPENAI, 9.0, translated if is_translated else None
    )
    assert result.content is not None
    assert (b"a socket" in result.content.first) is not is_translated
