"""Realtime sessions of the official OpenAI SDK through the gateway with the mock."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.realtime import valid
from tests.support.running import ALL, CREDENTIAL, EXPIRED, LIMITED, PATIENCE, Platform
from tests.support.waiting import until as until_true

MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'
LONG = " ".join(f"word{number}" for number in range(400))
SOUND = bytes(range(256)) * 47
TEXT = {"type": "realtime", "output_modalities": ["text"]}
WAYS = {"timeout": 20, "max_retries": 0}


@pytest.fixture(scope="module")
def client(live: Platform) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{live.url}/v1", api_key=ALL, **WAYS) as sdk:
        yield sdk


def message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


def until(connection: Any, kind: str) -> list[Any]:
    """The events up to the first of a kind, each valid. At most PATIENCE seconds."""
    events = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        raw = connection.recv_bytes()
        valid(json.loads(raw))
        events.append(connection.parse_event(raw))
        if events[-1].type == kind:
            return events
    raise AssertionError(f"no {kind} among {[event.type for event in events]}")


def text_turn(connection: Any, text: str) -> list[Any]:
    """Have a text echoed."""
    connection.session.update(session=TEXT)
    connection.conversation.item.create(item=message(text))
    connection.response.create()
    return until(connection, "response.done")


def deltas(events: list[Any], kind: str) -> list[str]:
    return [event.delta for event in events if event.type == f"response.{kind}.delta"]


# Turns


def test_a_text_turn(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        created = connection.recv()
        assert (created.type, created.session.model) == ("session.created", "gpt-realtime")
        events = text_turn(connection, MESSAGE)
        assert "".join(deltas(events, "output_text")) == MESSAGE
        response = events[-1].response
        assert response.status == "completed"
        assert response.output[0].content[0].text == MESSAGE
        words = len(MESSAGE.split())
        assert response.usage.input_tokens == response.usage.output_tokens == words
        assert response.usage.total_tokens == 2 * words


def test_turn_after_turn_in_one_session(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        answers = [text_turn(connection, f"turn {n}")[-1].response for n in range(5)]
    assert [a.output[0].content[0].text for a in answers] == [f"turn {n}" for n in range(5)]
    assert [a.usage.input_tokens for a in answers] == [2, 6, 10, 14, 18]


def test_a_sound_turn(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.input_audio_buffer.append(audio=base64.b64encode(SOUND[:999]).decode())
        connection.input_audio_buffer.append(audio=base64.b64encode(SOUND[999:]).decode())
        connection.input_audio_buffer.commit()
        connection.response.create()
        events = until(connection, "response.done")
    sound = [base64.b64decode(delta) for delta in deltas(events, "output_audio")]
    assert len(sound) == 3
    assert b"".join(sound) == SOUND
    assert "".join(deltas(events, "output_audio_transcript")) == "250 ms of audio"
    usage = events[-1].response.usage
    assert usage.input_token_details.audio_tokens == 3
    assert usage.output_token_details.audio_tokens == 6


def test_a_sound_of_many_megabytes(client: OpenAI) -> None:
    sound = bytes(range(256)) * 28_000
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.input_audio_buffer.append(audio=base64.b64encode(sound).decode())
        connection.input_audio_buffer.commit()
        committed = until(connection, "input_audio_buffer.committed")[-1]
        connection.conversation.item.retrieve(item_id=committed.item_id)
        retrieved = until(connection, "conversation.item.retrieved")[-1]
    assert base64.b64decode(retrieved.item.content[0].audio) == sound


def test_an_interruption_in_the_middle(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.session.update(session=TEXT)
        connection.conversation.item.create(item=message(LONG))
        connection.response.create()
        until(connection, "response.output_text.delta")
        connection.response.cancel()
        events = until(connection, "response.done")
        response = events[-1].response
        assert (response.status, response.status_details.reason) == (
            "cancelled",
            "client_cancelled",
        )
        text = response.output[0].content[0].text
        assert LONG.startswith(text)
        assert len(text) < len(LONG)
        assert text_turn(connection, "again")[-1].response.output[0].content[0].text == "again"


def test_what_the_session_does_not_know_is_an_error_event(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.send({"type": "nonsense", "event_id": "mine"})
        error = until(connection, "error")[-1].error
        assert (error.code, error.param, error.event_id) == ("invalid_value", "type", "mine")
        connection.send_raw("not JSON")
        assert until(connection, "error")[-1].error.code == "invalid_json"
        assert text_turn(connection, "on")[-1].response.status == "completed"


def test_the_async_client_holds_sessions_side_by_side(live: Platform) -> None:
    async def turn(client: AsyncOpenAI, number: int) -> tuple[str, str]:
        async with client.realtime.connect(model="gpt-realtime") as connection:
            await connection.session.update(session=TEXT)
            await connection.conversation.item.create(item=message(f"number {number}"))
            await connection.response.create()
            text = ""
            async for event in connection:
                if event.type == "response.output_text.delta":
                    text += event.delta
                elif event.type == "response.done":
                    return text, event.response.status
            raise AssertionError("the session ended")

    async def interrupted(client: AsyncOpenAI) -> str:
        async with client.realtime.connect(model="gpt-realtime") as connection:
            await connection.session.update(session=TEXT)
            await connection.conversation.item.create(item=message(LONG))
            await connection.response.create()
            async for event in connection:
                if event.type == "response.content_part.added":
                    await connection.response.cancel()
                elif event.type == "response.done":
                    return event.response.status
            raise AssertionError("the session ended")

    async def many() -> None:
        url = f"{live.url}/v1"
        async with AsyncOpenAI(base_url=url, api_key=ALL, **WAYS) as client, asyncio.timeout(30):
            turns = asyncio.gather(*(turn(client, number) for number in range(20)))
            assert await interrupted(client) == "cancelled"
            assert await turns == [(f"number {number}", "completed") for number in range(20)]

    asyncio.run(many())


def test_the_async_client_sends_sound(live: Platform) -> None:
    async def heard() -> bytes:
        url = f"{live.url}/v1"
        async with (
            asyncio.timeout(30),
            AsyncOpenAI(base_url=url, api_key=ALL, **WAYS) as client,
            client.realtime.connect(model="gpt-realtime") as connection,
        ):
            await connection.input_audio_buffer.append(audio=base64.b64encode(SOUND).decode())
            await connection.input_audio_buffer.commit()
            await connection.response.create()
            sound = b""
            async for event in connection:
                if event.type == "response.output_audio.delta":
                    sound += base64.b64decode(event.delta)
                elif event.type == "response.done":
                    break
            return sound

    assert asyncio.run(heard()) == SOUND


# Models, versions, pings


def test_the_model_may_be_left_out(client: OpenAI) -> None:
    with client.realtime.connect() as connection:
        assert connection.recv().session.model == "gpt-realtime"


def test_the_upstream_gets_its_own_name_for_the_model(client: OpenAI) -> None:
    with client.realtime.connect(model="renamed") as connection:
        assert connection.recv().session.model == "the-real-name"


def test_pings_are_answered_while_the_upstream_is_silent(live: Platform) -> None:
    url = f"ws://127.0.0.1:{live.port}/v1/realtime?model=fault-stall-after-1"
    headers = {"Authorization": f"Bearer {ALL}"}
    with connect(url, additional_headers=headers) as connection:  # the SDK has no pings
        connection.recv()
        connection.send('{"type": "response.create"}')
        for _ in range(3):
            assert connection.ping().wait(PATIENCE)


# Ends


def end(connection: Any) -> tuple[list[dict[str, Any]], int, str]:
    """All events until the close frame, and its code and reason."""
    events = []
    try:
        while True:
            events.append(json.loads(connection.recv_bytes()))
    except ConnectionClosed as closed:
        close = closed.rcvd
    assert close is not None, "the connection was cut"
    return events, close.code, close.reason


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 3000, 4999])
def test_the_upstreams_close_arrives_as_it_was(client: OpenAI, code: int) -> None:
    with client.realtime.connect(model=f"fault-code-{code}-after-1") as connection:
        events, *close = end(connection)
    assert [event["type"] for event in events] == ["session.created"]
    assert close == [code, f"The mock was asked for {code}."]


def test_a_close_before_the_first_event_arrives_too(client: OpenAI) -> None:
    with client.realtime.connect(model="fault-code-3000") as connection:
        assert end(connection) == ([], 3000, "The mock was asked for 3000.")


def test_an_upstream_that_vanishes_is_an_error_event_and_1011(client: OpenAI) -> None:
    with client.realtime.connect(model="fault-close-after-1") as connection:
        events, code, _ = end(connection)
    assert [valid(event) for event in events] == ["session.created", "error"]
    assert events[-1]["error"]["type"] == "server_error"
    assert code == 1011


def test_an_upstream_that_vanishes_in_the_middle_of_a_reply(client: OpenAI) -> None:
    with client.realtime.connect(model="fault-close-after-9") as connection:
        connection.conversation.item.create(item=message(LONG))
        connection.response.create(response={"output_modalities": ["text"]})
        events, code, _ = end(connection)
    kinds = [valid(event) for event in events]
    assert kinds[-2:] == ["response.output_text.delta", "error"]
    assert (len(kinds), code) == (10, 1011)


def test_an_error_of_the_upstreams_own_passes_and_the_session_goes_on(client: OpenAI) -> None:
    with client.realtime.connect(model="fault-error-after-9") as connection:
        connection.conversation.item.create(item=message(LONG))
        connection.response.create(response={"output_modalities": ["text"]})
        assert until(connection, "error")[-1].error.code == "mock_fault"
        assert until(connection, "response.done")[-1].response.status == "failed"
        assert text_turn(connection, "on")[-1].response.status == "completed"


def test_the_callers_goodbye_is_answered(client: OpenAI) -> None:
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.recv()
        connection.close(code=4000, reason="enough")
        assert end(connection) == ([], 4000, "enough")


# Refusals


def refusal(live: Platform, model: str, token: str) -> tuple[int, dict[str, Any]]:
    """The HTTP answer to a handshake that is refused: its status and its error."""
    with (
        OpenAI(base_url=f"{live.url}/v1", api_key=token, **WAYS) as client,
        pytest.raises(InvalidStatus) as excinfo,
        client.realtime.connect(model=model),
    ):
        pass
    response = excinfo.value.response
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    error = json.loads(response.body)["error"]
    assert isinstance(error["message"], str)
    assert token not in error["message"]
    return response.status_code, error


@pytest.mark.parametrize(
    ("model", "token", "status", "code"),
    [
        ("gpt-realtime", "mw-nobody", 401, "invalid_api_key"),
        ("gpt-realtime", EXPIRED, 401, "invalid_api_key"),
        ("gpt-realtime", LIMITED, 403, "model_not_allowed"),
        ("pt-realtime", ALL, 404, "model_not_found"),
        ("native-claude", ALL, 404, "model_not_found"),
        ("fault-status-400", ALL, 400, "mock_fault"),
        ("fault-status-429", ALL, 429, "mock_fault"),
        ("fault-status-503", ALL, 503, "mock_fault"),
        ("fault-close", ALL, 502, None),
        ("fault-garbage", ALL, 502, None),
        ("wrong", ALL, 502, "upstream_credentials"),
        ("nowhere", ALL, 502, "upstream_unreachable"),
        ("slow", ALL, 504, None),
    ],
)
def test_a_refusal_is_plain_http_and_the_same_as_for_a_chat(
    live: Platform, model: str, token: str, status: int, code: str | None
) -> None:
    refusal_status, error = refusal(live, model, token)
    assert refusal_status == status
    assert code in (None, error["code"])
    with (
        OpenAI(base_url=f"{live.url}/v1", api_key=token, **WAYS) as client,
        pytest.raises(openai.APIStatusError) as excinfo,
    ):
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "x"}])
    chat = excinfo.value
    assert (chat.status_code, chat.code, chat.type) == (status, error["code"], error["type"])


@pytest.mark.parametrize(("server", "token"), [("gateway", ALL), ("mock", CREDENTIAL)])
def test_a_request_without_upgrade_is_426(live: Platform, server: str, token: str) -> None:
    port = getattr(live, server).port
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        headers = {"authorization": f"Bearer {token}"}
        connection.request("GET", "/v1/realtime?model=gpt-realtime", headers=headers)
        response = connection.getresponse()
        assert (response.status, response.headers["upgrade"]) == (426, "websocket")
        assert json.loads(response.read())["error"]["code"] == "upgrade_required"


def test_the_mock_knows_its_credential(live: Platform) -> None:
    with (
        OpenAI(base_url=f"{live.mock.url}/v1", api_key=ALL, **WAYS) as client,
        pytest.raises(InvalidStatus) as excinfo,
        client.realtime.connect(model="gpt-realtime"),
    ):
        pass
    assert excinfo.value.response.status_code == 401


# Other sessions


def test_a_live_session_names_its_model_in_its_first_event(client: OpenAI, live: Platform) -> None:
    with client.live.connect() as connection:
        connection.send({"type": "session.start", "session": {"model": "gpt-live-1"}})
        started = json.loads(connection.recv_bytes())
        assert started["session"]["model"] == "gpt-live-1"
        for _ in range(2):
            connection.send({"type": "session.input_audio.mute"})
            assert json.loads(connection.recv_bytes())["type"] == "session.usage.updated"
        connection.send({"type": "session.close"})
        assert json.loads(connection.recv_bytes())["usage"] == {"seconds": 4}
    marks = ('"openai.connectLiveSession"', '"seconds":4.0')
    until_true(lambda: any(all(m in line for m in marks) for line in lines_of(live)))


def test_a_live_session_of_another_model_is_closed(live: Platform) -> None:
    url = f"ws://127.0.0.1:{live.port}/v1/live/sessions"
    headers = {"Authorization": f"Bearer {LIMITED}"}
    with connect(url, additional_headers=headers) as session:
        session.send('{"type": "session.start", "session": {"model": "gpt-live-1"}}')
        error = json.loads(session.recv(timeout=PATIENCE))
        assert (error["type"], error["error"]["code"]) == ("error", "model_not_allowed")
        with pytest.raises(ConnectionClosed) as ending:
            session.recv(timeout=PATIENCE)
    assert ending.value.rcvd is not None
    assert ending.value.rcvd.code == 1008


def test_a_session_that_interprets_names_its_model_in_the_query(client: OpenAI) -> None:
    with client.realtime.translations.connect(model="gpt-realtime") as connection:
        assert json.loads(connection.recv_bytes())["type"] == "session.created"


def lines_of(platform: Platform) -> list[str]:
    return platform.gateway.output().splitlines()
