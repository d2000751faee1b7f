"""Each vendor's SDK raises its exception class with the gateway's message."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from google import genai
from google.genai import errors, types
from openai import DefaultHttpxClient, OpenAI

from tests.support.recording import (
    Recorder,
    Wire,
    answer,
    ask,
    assert_error,
    recorder,
    request,
)
from tests.support.running import (
    ALL,
    EXPIRED,
    LIMITED,
    Platform,
    Running,
    gateway,
    patient,
    pointed_at,
    shipped,
)
from tests.support.waiting import PATIENCE

TURNS = [{"role": "user", "content": "one two three four"}]
FINE = b'{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}'
NOBODY = "mw-" + "0" * 64


def of_openai(platform: Platform | Running, token: str = ALL, retries: int = 0) -> OpenAI:
    url = f"{platform.url}/v1"
    return OpenAI(base_url=url, api_key=token, max_retries=retries, timeout=PATIENCE)


def of_anthropic(platform: Platform | Running, token: str = ALL, retries: int = 0) -> Anthropic:
    return Anthropic(base_url=platform.url, api_key=token, max_retries=retries, timeout=PATIENCE)


def of_google(platform: Platform | Running, token: str = ALL) -> genai.Client:
    options = types.HttpOptions(base_url=platform.url, timeout=20_000)
    return genai.Client(api_key=token, http_options=options)


def chat(platform: Platform, model: str, token: str = ALL, messages: Any = TURNS) -> None:
    with of_openai(platform, token) as client:
        client.chat.completions.create(model=model, messages=messages)


def message(platform: Platform, model: str, token: str = ALL, messages: Any = TURNS) -> None:
    with of_anthropic(platform, token) as client:
        client.messages.create(model=model, max_tokens=9, messages=messages)


def content(platform: Platform, model: str, token: str = ALL, contents: Any = "one two") -> None:
    with of_google(platform, token) as client:
        client.models.generate_content(model=model, contents=contents)


# Errors of the caller


@pytest.mark.parametrize(
    ("model", "token", "kind", "code", "words"),
    [
        ("gpt-4o", NOBODY, openai.AuthenticationError, "invalid_api_key", "not known here"),
        ("gpt-4o", EXPIRED, openai.AuthenticationError, "invalid_api_key", "expired"),
        ("renamed", LIMITED, openai.PermissionDeniedError, "model_not_allowed", "'renamed'"),
        ("pt-4o", ALL, openai.NotFoundError, "model_not_found", "Did you mean 'gpt-4o'"),
        ("native-claude", ALL, openai.NotFoundError, "model_not_found", "anthropic"),
        ("fault-status-400", ALL, openai.BadRequestError, "mock_fault", "asked for 400"),
        ("fault-status-422", ALL, openai.UnprocessableEntityError, "mock_fault", "asked for 422"),
        ("fault-status-429", ALL, openai.RateLimitError, "mock_fault", "asked for 429"),
        ("fault-status-500", ALL, openai.InternalServerError, "mock_fault", "asked for 500"),
        ("fault-status-503", ALL, openai.InternalServerError, "mock_fault", "asked for 503"),
        ("fault-close", ALL, openai.InternalServerError, "", "closed the connection"),
        ("fault-garbage", ALL, openai.InternalServerError, "upstream_error", "not valid HTTP"),
        ("nowhere", ALL, openai.InternalServerError, "upstream_unreachable", "No connection"),
        ("wrong", ALL, openai.InternalServerError, "upstream_credentials", "your token is not"),
        ("slow", ALL, openai.InternalServerError, "upstream_timeout", "did not begin to answer"),
    ],
)
def test_openai_sdk_raises(
    platform: Platform,
    model: str,
    token: str,
    kind: type[openai.APIStatusError],
    code: str,
    words: str,
) -> None:
    with pytest.raises(kind) as excinfo:
        chat(platform, model, token)
    assert type(excinfo.value) is kind
    assert words in excinfo.value.message
    assert code in ("", excinfo.value.code)
    assert (excinfo.value.request_id or "").startswith("req_")
    assert isinstance(excinfo.value.type, str)
    assert excinfo.value.param is None or excinfo.value.param


STATUSES = {"close": 502, "garbage": 502, "nowhere": 502, "wrong": 502, "slow": 504}


@pytest.mark.parametrize("model", ["fault-close", "fault-garbage", "nowhere", "wrong", "slow"])
def test_failure_of_an_upstream_is_502_or_504(platform: Platform, model: str) -> None:
    with pytest.raises(openai.InternalServerError) as excinfo:
        chat(platform, model)
    assert excinfo.value.status_code == STATUSES[model.removeprefix("fault-")]
    assert "127.0.0.1" not in excinfo.value.message
    assert "not-the-one" not in str(excinfo.value.body)


def test_openai_sdk_shows_the_place_in_the_request(platform: Platform) -> None:
    with pytest.raises(openai.BadRequestError) as excinfo:
        chat(platform, "gpt-4o", messages=[{"role": 7, "content": "hi"}])
    assert excinfo.value.param == "messages[0].role"
    assert excinfo.value.type == "invalid_request_error"
    assert "messages[0].role" in excinfo.value.message


def test_openai_sdk_shows_unknown_paths_and_methods(platform: Platform) -> None:
    with of_openai(platform) as client:
        with pytest.raises(openai.NotFoundError, match="/v1/nothing"):
            client.post("/nothing", body={}, cast_to=object)
        with pytest.raises(
            openai.APIStatusError, match="GET is not allowed here; use POST"
        ) as excinfo:
            client.get("/chat/completions", cast_to=object)
        assert excinfo.value.status_code == 405
        assert excinfo.value.response.headers["allow"] == "POST"
        with pytest.raises(openai.NotFoundError, match="gpt-4o'"):
            client.models.retrieve("pt-4o")


@pytest.mark.parametrize(
    ("model", "token", "kind", "type_", "words"),
    [
        ("claude-sonnet", NOBODY, anthropic.AuthenticationError, "authentication_error", "known"),
        (
            "claude-sonnet",
            EXPIRED,
            anthropic.AuthenticationError,
            "authentication_error",
            "expired",
        ),
        (
            "claude-sonnet",
            LIMITED,
            anthropic.PermissionDeniedError,
            "permission_error",
            "claude-so",
        ),
        ("claud-sonnet", ALL, anthropic.NotFoundError, "not_found_error", "'claude-sonnet'"),
        ("fault-status-429", ALL, anthropic.RateLimitError, "rate_limit_error", "asked for 429"),
        ("fault-status-500", ALL, anthropic.InternalServerError, "api_error", "asked for 500"),
        ("fault-status-529", ALL, anthropic.APIStatusError, "overloaded_error", "asked for 529"),
        ("fault-close", ALL, anthropic.InternalServerError, "api_error", "closed the connection"),
        ("fault-garbage", ALL, anthropic.InternalServerError, "api_error", "not valid HTTP"),
        ("nowhere", ALL, anthropic.InternalServerError, "api_error", "No connection"),
        ("wrong", ALL, anthropic.InternalServerError, "api_error", "your token is not at fault"),
        ("slow", ALL, anthropic.APIStatusError, "timeout_error", "did not begin to answer"),
    ],
)
def test_anthropic_sdk_raises(
    platform: Platform,
    model: str,
    token: str,
    kind: type[anthropic.APIStatusError],
    type_: str,
    words: str,
) -> None:
    with pytest.raises(kind) as excinfo:
        message(platform, model, token)
    body = excinfo.value.body
    assert isinstance(body, dict)
    assert body["type"] == "error"
    assert body["error"]["type"] == type_
    assert words in body["error"]["message"]
    assert words in str(excinfo.value)
    assert excinfo.value.request_id
    if "status" not in model:
        assert body["request_id"] == excinfo.value.request_id


def test_anthropic_sdk_shows_places_and_unknown_paths(platform: Platform) -> None:
    with pytest.raises(anthropic.BadRequestError) as excinfo:
        message(platform, "claude-sonnet", messages=[{"role": "user", "content": 7}])
    body = excinfo.value.body
    assert isinstance(body, dict)
    assert body["error"]["param"].startswith("messages[0].content")
    with of_anthropic(platform) as client:
        with pytest.raises(anthropic.NotFoundError) as unknown:
            client.post("/v1/nothing", body={}, cast_to=object)
        assert isinstance(unknown.value.body, dict)
        assert unknown.value.body["type"] == "error"
        with pytest.raises(anthropic.BadRequestError, match="limit"):
            client.models.list(limit=0)


@pytest.mark.parametrize(
    ("model", "token", "kind", "code", "status", "words"),
    [
        ("gemini-2.5-flash", NOBODY, errors.ClientError, 401, "UNAUTHENTICATED", "not known"),
        ("gemini-2.5-flash", EXPIRED, errors.ClientError, 401, "UNAUTHENTICATED", "expired"),
        ("gemini-2.5-flash", LIMITED, errors.ClientError, 403, "PERMISSION_DENIED", "gemini-2.5"),
        ("gemni-2.5-flash", ALL, errors.ClientError, 404, "NOT_FOUND", "'gemini-2.5-flash'"),
        ("native-gpt", ALL, errors.ClientError, 404, "NOT_FOUND", "openai"),
        ("fault-status-429", ALL, errors.ClientError, 429, "RESOURCE_EXHAUSTED", "asked for 429"),
        ("fault-status-500", ALL, errors.ServerError, 500, "INTERNAL", "asked for 500"),
        ("fault-status-503", ALL, errors.ServerError, 503, "UNAVAILABLE", "asked for 503"),
        ("fault-close", ALL, errors.ServerError, 502, "UNAVAILABLE", "closed the connection"),
        ("fault-garbage", ALL, errors.ServerError, 502, "UNAVAILABLE", "not valid HTTP"),
        ("nowhere", ALL, errors.ServerError, 502, "UNAVAILABLE", "No connection"),
        ("wrong-gemini", ALL, errors.ServerError, 502, "UNAVAILABLE", "your token is not at fault"),
    ],
)
def test_google_sdk_raises(
    platform: Platform,
    model: str,
    token: str,
    kind: type[errors.APIError],
    code: int,
    status: str,
    words: str,
) -> None:
    with pytest.raises(kind) as excinfo:
        content(platform, model, token)
    assert (excinfo.value.code, excinfo.value.status) == (code, status)
    assert words in (excinfo.value.message or "")
    assert excinfo.value.details["error"]["code"] == code
    assert excinfo.value.details["error"]["details"][0]["reason"]


def test_google_sdk_shows_places_and_unknown_paths(platform: Platform) -> None:
    bad = types.GenerateContentConfig(http_options={"extra_body": {"contents": [{"parts": 7}]}})
    with of_google(platform) as client:
        with pytest.raises(errors.ClientError, match=r"contents\[0\]\.parts") as excinfo:
            client.models.generate_content(model="gemini-2.5-flash", contents="x", config=bad)
        assert excinfo.value.details["error"]["param"].startswith("contents[0].parts")
    options = types.HttpOptions(base_url=platform.url, api_version="v9")
    with (
        genai.Client(api_key=ALL, http_options=options) as client,
        pytest.raises(errors.ClientError, match="/v9/models"),
    ):
        client.models.generate_content(model="gemini-2.5-flash", contents="x")


# The error object, byte by byte

SHAPES = [
    ("/v1/nothing", b"{}", [], 404, "openai"),
    ("/v1/chat/completions", FINE, [], 401, "openai"),
    ("/v1/chat/completions", FINE, [f"Authorization: Bearer {EXPIRED}"], 401, "openai"),
    ("/v1/chat/completions", b"{}", [f"Authorization: Bearer {ALL}"], 400, "openai"),
    ("/v1/models/none", None, [f"Authorization: Bearer {ALL}"], 404, "openai"),
    (
        "/v1/models/none",
        None,
        [f"Authorization: Bearer {ALL}", "anthropic-version: x"],
        404,
        "anthropic",
    ),
    ("/v1/models/none", None, [f"x-goog-api-key: {ALL}"], 404, "gemini"),
    (f"/v1/models/none?key={ALL}", None, [], 404, "gemini"),
    ("/v1/models", None, ["x-goog-api-key: x"], 401, "gemini"),
    ("/v1/models", None, ["anthropic-version: x"], 401, "anthropic"),
    ("/v1/models", None, [], 401, "openai"),
    ("/v1/nothing", b"{}", ["anthropic-version: x"], 404, "anthropic"),
    ("/v1/nothing?key=x", b"{}", [], 404, "gemini"),
    ("/v1/messages", b"{}", [], 401, "anthropic"),
    ("/v1/messages", b"{}", [f"x-api-key: {ALL}"], 400, "anthropic"),
    ("/v1beta/models/gemini-2.5-flash:generateContent", b"{}", [], 401, "gemini"),
    (
        f"/v1beta/models/nope:generateContent?key={ALL}",
        b'{"contents":[{"parts":[]}]}',
        [],
        404,
        "gemini",
    ),
]


@pytest.mark.parametrize(("target", "body", "headers", "status", "dialect"), SHAPES)
def test_error_object_has_all_members(
    platform: Platform,
    target: str,
    body: bytes | None,
    headers: list[str],
    status: int,
    dialect: str,
) -> None:
    response = ask(platform.port, request(target, body, headers=headers))
    error = assert_error(response, status)
    document = response.json()
    if dialect == "openai":
        assert set(document) == {"error"}
        assert set(error) == {"message", "type", "param", "code"}
        assert isinstance(error["code"], str)
    elif dialect == "anthropic":
        assert document["type"] == "error"
        assert document["request_id"] == response.value("x-request-id")
        assert response.value("request-id") == response.value("x-request-id")
        assert isinstance(error["code"], str)
    else:
        assert type(error["code"]) is int
        assert error["code"] == status
        assert error["status"]
        assert isinstance(error["details"][0]["reason"], str)
    assert (status == 401) == (response.values("www-authenticate") == ["Bearer"])


def test_success_has_a_request_id_too(platform: Platform) -> None:
    fine = request("/v1/chat/completions", FINE, token=ALL)
    ids = [ask(platform.port, fine).value("x-request-id") for _ in range(2)]
    assert ids[0] != ids[1]


# Streams that break


def consume(stream: Any, into: list[Any] | None = None) -> None:
    """Read a stream to its end; the pieces before an exception stay in the list."""
    events = [] if into is None else into
    events.extend(stream)


# Each with a number of events; the last ones have content.
OPENAI_STREAMS: list[tuple[Callable[[OpenAI, str], Any], int]] = [
    (lambda c, m: c.chat.completions.create(model=m, messages=TURNS, stream=True), 2),
    (lambda c, m: c.completions.create(model=m, prompt="one two three four", stream=True), 2),
    (lambda c, m: c.responses.create(model=m, input="one two three four", stream=True), 6),
    (lambda c, m: c.audio.transcriptions.create(model=m, file=("a.wav", b"RIFF"), stream=True), 2),
]


@pytest.mark.parametrize(("call", "events"), OPENAI_STREAMS)
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("fault-close-after", "in the middle of its answer"),
        ("fault-error-after", "asked for an error in mid-stream"),
        ("stalled", "fell silent"),
    ],
)
def test_openai_stream_that_breaks_raises(
    platform: Platform, call: Callable[[OpenAI, str], Any], events: int, model: str, words: str
) -> None:
    received: list[Any] = []
    with of_openai(platform) as client, pytest.raises(openai.APIError, match=words):
        consume(call(client, f"{model}-{events}"), received)
    assert len(received) == events


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [("fault-close-after-2", 502, "upstream_error"), ("fault-error-after-2", 500, "mock_fault")],
)
def test_stream_that_breaks_before_its_content_is_an_answer_of_its_own(
    platform: Platform, model: str, status: int, code: str
) -> None:
    with of_openai(platform) as client, pytest.raises(openai.InternalServerError) as excinfo:
        client.responses.create(model=model, input="one two three four", stream=True)
    assert (excinfo.value.status_code, excinfo.value.code) == (status, code)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("fault-close-after-4", "in the middle of its answer"),
        ("fault-error-after-4", "asked for an error in mid-stream"),
        ("stalled-6", "fell silent"),
    ],
)
def test_anthropic_stream_that_breaks_raises(platform: Platform, model: str, words: str) -> None:
    with of_anthropic(platform) as client, pytest.raises(anthropic.APIStatusError, match=words):
        consume(client.messages.create(model=model, max_tokens=9, messages=TURNS, stream=True))
    with (
        of_anthropic(platform) as client,
        pytest.raises(anthropic.APIStatusError, match=words),
        client.messages.stream(model=model, max_tokens=9, messages=TURNS) as stream,
    ):
        stream.get_final_message()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("fault-close-after-2", "in the middle of its answer"),
        ("fault-error-after-2", "asked for an error in mid-stream"),
    ],
)
def test_google_stream_that_breaks_raises(platform: Platform, model: str, words: str) -> None:
    with of_google(platform) as client, pytest.raises(errors.ServerError, match=words):
        consume(client.models.generate_content_stream(model=model, contents="one two three four"))


def test_stream_that_breaks_is_cut_and_never_ended(platform: Platform) -> None:
    body = json.dumps({"model": "fault-close-after-2", "messages": TURNS, "stream": True}).encode()
    with Wire(platform.port) as wire:
        wire.send(request("/v1/chat/completions", body, token=ALL))
        raw = wire.rest()
    assert raw.count(b"data: ") == 3
    assert b'"error"' in raw
    assert not raw.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v1/audio/speech", b'{"model":"fault-close-after-2","input":"x","voice":"v"}'),
        (
            f"/v1beta/models/fault-close-after-2:streamGenerateContent?key={ALL}",
            b'{"contents":[{"parts":[{"text":"one two three four"}]}]}',
        ),
    ],
)
def test_other_answer_that_breaks_is_cut_and_never_ended(
    platform: Platform, target: str, body: bytes
) -> None:
    with Wire(platform.port) as wire:
        wire.send(request(target, body, headers=[f"Authorization: Bearer {ALL}"]))
        raw = wire.rest()
    assert raw.startswith(b"HTTP/1.1 200")
    assert not raw.endswith(b"0\r\n\r\n")


# Retries


class Counting:
    """An HTTP client for the SDKs that counts what it sends."""

    def __init__(self) -> None:
        self.sent = 0
        self.client = DefaultHttpxClient(event_hooks={"request": [self._count]})

    def _count(self, request: object) -> None:
        self.sent += 1


@pytest.mark.parametrize(
    ("model", "attempts"),
    [
        ("fault-status-429-retry-after-0.05", 3),
        ("fault-status-400", 1),
        ("wrong", 1),  # x-should-retry: false
        ("pt-4o", 1),
    ],
)
def test_sdk_retries_only_errors_that_may_pass(
    platform: Platform, model: str, attempts: int
) -> None:
    counting = Counting()
    client = OpenAI(
        base_url=f"{platform.url}/v1", api_key=ALL, max_retries=2, http_client=counting.client
    )
    with client, pytest.raises(openai.APIStatusError):
        client.chat.completions.create(model=model, messages=TURNS)
    assert counting.sent == attempts


def test_sdk_retries_after_a_server_error(platform: Platform) -> None:
    counting = Counting()
    client = OpenAI(
        base_url=f"{platform.url}/v1", api_key=ALL, max_retries=1, http_client=counting.client
    )
    with client, pytest.raises(openai.InternalServerError, match="asked for 503"):
        client.chat.completions.create(model="fault-status-503", messages=TURNS)
    assert counting.sent == 2


def test_retry_after_of_the_upstream_comes_through(platform: Platform) -> None:
    with pytest.raises(openai.RateLimitError) as excinfo:
        chat(platform, "fault-status-429-retry-after-2")
    assert excinfo.value.response.headers["retry-after"] == "2"
    with pytest.raises(anthropic.RateLimitError) as second_excinfo:
        message(platform, "fault-status-429-retry-after-2")
    assert second_excinfo.value.response.headers["retry-after"] == "2"


# Upstreams with error objects of another shape


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Recorder]]:
    folder: Path = tmp_path_factory.mktemp("odd") / "project"
    config = patient(shipped(folder))
    with recorder() as upstream, gateway(folder, config, pointed_at(upstream.url)) as running:
        yield running, upstream


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (500, b"<html>oh no</html>", "text/html", "answered 500"),
        (429, b'{"detail": "too much"}', "application/json", "too much"),
        (404, b'{"error": "no such thing"}', "application/json", "no such thing"),
        (400, b"[]", "application/json", "answered 400"),
        (503, b"", "text/plain", "answered 503"),
        (500, b"x" * 1_000_000, "text/plain", "answered 500"),
        (302, b"", "text/html", "redirect"),
        (401, b'{"error": {"message": "sk-secret is wrong"}}', "application/json", "credential"),
        (403, b'{"error": {"message": "sk-secret is wrong"}}', "application/json", "credential"),
    ],
)
def test_error_in_another_shape_is_put_into_ours(
    odd: tuple[Running, Recorder], status: int, body: bytes, kind: str, words: str
) -> None:
    running, upstream = odd
    headers = (f"Content-Type: {kind}", "Location: https://elsewhere.invalid/")
    upstream.speak = answer(body, headers, status)
    with of_openai(running) as client, pytest.raises(openai.APIStatusError, match=words) as excinfo:
        client.chat.completions.create(model="gpt-4o", messages=TURNS)
    assert excinfo.value.status_code == (502 if status in (302, 401, 403) else status)
    assert "secret" not in str(excinfo.value.body)
    assert excinfo.value.response.headers["content-type"] == "application/json"
    with of_anthropic(running) as other, pytest.raises(anthropic.APIStatusError, match=words):
        other.messages.create(model="claude-sonnet", max_tokens=9, messages=TURNS)
    with of_google(running) as third, pytest.raises(errors.APIError, match=words):
        third.models.generate_content(model="gemini-2.5-flash", contents="x")


def test_answer_shorter_than_announced_raises(odd: tuple[Running, Recorder]) -> None:
    running, upstream = odd

    def speak(received: object, sock: Any) -> None:
        sock.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
            b'{"choices": [{}]}'
        )
        sock.shutdown(socket.SHUT_RDWR)

    upstream.speak = speak
    with of_openai(running) as client, pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="gpt-4o", messages=TURNS)


KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
UPGRADE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", KEY]


@pytest.mark.parametrize(
    "headers",
    [UPGRADE, ["Connection: keep-alive, Upgrade", "Upgrade: WebSocket, h2c", KEY], UPGRADE[2:]],
    ids=["whole", "one of several", "without what a proxy takes out"],
)
@pytest.mark.parametrize("token", [ALL, ""])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_websocket_handshake_for_a_post_operation_is_426(
    platform: Platform, path: str, token: str, headers: list[str]
) -> None:
    with Wire(platform.port) as wire:
        wire.send(request(path, token=token, headers=headers))
        refusal = wire.answer()
        assert_error(refusal, 426)
        assert refusal.value("upgrade") == "HTTP/1.1"
        assert refusal.value("connection").lower() == "upgrade"
        assert refusal.value("allow") == "POST"
        wire.send(request("/v1/models", token=ALL))  # the connection goes on
        assert wire.answer().status == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("PUT", "/v1/chat/completions", UPGRADE, 405),
        ("GET", "/v1/chat/completions", ["Upgrade: h2c", "Connection: Upgrade"], 405),
        ("GET", "/v1/chat/completionz", UPGRADE, 404),
        ("GET", "/v1/models", UPGRADE, 200),  # a server may ignore Upgrade (RFC 9110 7.8)
    ],
)
def test_an_upgrade_header_of_a_post_is_ignored(
    platform: Platform, method: str, path: str, headers: list[str], status: int
) -> None:
    data = request(path, method=method, token=ALL, headers=headers)
    assert ask(platform.port, data).status == status
