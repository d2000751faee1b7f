"""Sessions of Gemini's Live API, as the official SDKs open them through the gateway."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai import live as genai_live
from google.genai import types
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.agents import FOLDER
from tests.support.running import ALL, EXPIRED, LIMITED, PATIENCE, Platform
from tests.support.waiting import until

MODEL = "gemini-live-2.5-flash-preview"
MESSAGE = 'hello brave "new" world: \u00e9\u4e16\U0001f600'
PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
NODE_SDK = FOLDER / "node_modules" / "@google" / "genai"


@pytest.fixture(autouse=True)
def _without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK always asks for wss:, whatever its base address says."""

    def plain(uri: str, **options: Any) -> Any:
        options.pop("ssl", None)
        return connect_async(uri.replace("wss://", "ws://", 1), **options)

    monkeypatch.setattr(genai_live, "ws_connect", plain)


async def talk(client: genai.Client, model: str = MODEL) -> tuple[str, int]:
    """What the model says to MESSAGE, and the tokens that the session reports."""
    text, tokens = "", 0
    config = types.LiveConnectConfig(response_modalities=[types.Modality.TEXT])
    async with client.aio.live.connect(model=model, config=config) as session:
        turn = types.Content(role="user", parts=[types.Part(text=MESSAGE)])
        await session.send_client_content(turns=turn, turn_complete=True)
        async for answer in session.receive():
            text += answer.text or ""
            if answer.usage_metadata is not None:
                tokens += answer.usage_metadata.total_token_count or 0
    return text, tokens


def talked(platform: Platform, token: str = ALL, slash: str = "") -> tuple[str, int]:
    options = types.HttpOptions(base_url=f"{platform.url}{slash}", api_version="v1beta")
    client = genai.Client(api_key=token, http_options=options)
    return asyncio.run(asyncio.wait_for(talk(client), PATIENCE))


def row_of(live: Platform, status: int, operation: str = "gemini.connectLive") -> dict[str, Any]:
    """The last line of the access log of a session with this status."""
    marks = (f'"{operation}"', f'"status":{status},"outcome"')

    def lines() -> list[str]:
        return [
            each for each in live.gateway.output().splitlines() if all(m in each for m in marks)
        ]

    row: dict[str, Any] = json.loads(until(lines)[-1])
    return row


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_python_sdk_holds_a_session(live: Platform, slash: str) -> None:
    text, tokens = talked(live, slash=slash)
    assert text == MESSAGE
    assert tokens > 0


def test_a_session_is_a_row_with_its_usage(live: Platform) -> None:
    talked(live)
    row = row_of(live, 101)
    assert (row["model"], row["upstream"]) == (MODEL, "gemini")
    assert row["usage"]["input"] == row["usage"]["output"] == len(MESSAGE.split())
    assert row["websocket"]["code"] == 1000


def test_a_refused_token_gets_no_handshake(live: Platform) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{live.url.replace('http', 'ws', 1)}{PATH}?key={EXPIRED}")
    assert refused.value.response.status_code == 401


def closed(live: Platform, message: str, token: str = ALL) -> ConnectionClosed:
    """How a session ends that begins with this message."""
    url = f"{live.url.replace('http', 'ws', 1)}{PATH}"
    with connect(url, additional_headers={"x-goog-api-key": token}) as session:
        session.send(message)
        with pytest.raises(ConnectionClosed) as ending:
            session.recv(timeout=PATIENCE)
    return ending.value


@pytest.mark.parametrize(
    ("setup", "code", "reason"),
    [
        ('{"setup": {"model": "models/unheard-of"}}', 1008, "does not exist here"),
        ('{"setup": {}}', 1007, "setup.model"),
        ("{", 1007, "not valid JSON"),
        ('{"setup": {"model": "models/gemini-2.5-flash"}}', 1008, "does not have"),
    ],
)
def test_a_refusal_is_a_close_frame(live: Platform, setup: str, code: int, reason: str) -> None:
    ending = closed(live, setup)
    assert ending.rcvd is not None
    assert ending.rcvd.code == code
    assert reason in ending.rcvd.reason


def test_a_model_that_the_token_may_not_use_is_refused(live: Platform) -> None:
    ending = closed(live, json.dumps({"setup": {"model": f"models/{MODEL}"}}), LIMITED)
    assert ending.rcvd is not None
    assert (ending.rcvd.code, ending.rcvd.reason[:28]) == (1008, "This token may not use the m")
    row = row_of(live, 403)
    assert (row["code"], row["outcome"]) == ("model_not_allowed", "refused")


NODE = """
import { GoogleGenAI } from "@google/genai";
const [base, key, model, message] = process.argv.slice(2);
const ai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base } });
let text = "";
const session = await ai.live.connect({
  model,
  config: { responseModalities: ["TEXT"] },
  callbacks: {
    onmessage: (event) => {
      text += event.text ?? "";
      if (event.serverContent?.turnComplete) { console.log(text); session.close(); }
    },
    onclose: (event) => { if (event.reason) console.log(event.code, event.reason); },
  },
});
session.sendClientContent({ turns: message, turnComplete: true });
"""


@pytest.mark.skipif(not NODE_SDK.exists(), reason="@google/genai of npm is not installed")
def test_the_node_sdk_holds_a_session(live: Platform, tmp_path: Path) -> None:
    program = tmp_path / "live.mjs"
    program.write_text(NODE)
    (tmp_path / "node_modules").symlink_to(FOLDER / "node_modules")
    words = ["node", str(program), live.url, ALL, MODEL, MESSAGE]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout.strip() == MESSAGE, done.stderr


def auth_token(live: Platform, token: str = ALL, **config: Any) -> str:
    """An ephemeral token of the gateway."""
    options = types.HttpOptions(base_url=live.url, api_version="v1alpha")
    client = genai.Client(api_key=token, http_options=options)
    name = client.auth_tokens.create(config=config).name  # type: ignore[arg-type]
    assert name is not None
    return name


def talk_with(live: Platform, name: str, model: str = MODEL) -> str:
    options = types.HttpOptions(base_url=live.url, api_version="v1alpha")
    client = genai.Client(api_key=name, http_options=options)
    return asyncio.run(asyncio.wait_for(talk(client, model), PATIENCE))[0]


def test_an_ephemeral_token_opens_a_session_once(live: Platform) -> None:
    name = auth_token(live)
    assert name.startswith("auth_tokens/")
    assert talk_with(live, name) == MESSAGE
    with pytest.raises(genai_errors.APIError, match="as often as it may be"):
        talk_with(live, name)


def test_an_ephemeral_token_is_for_its_setup_alone(live: Platform) -> None:
    constraints = {"model": MODEL, "config": {"response_modalities": ["TEXT"]}}
    name = auth_token(live, uses=0, live_connect_constraints=constraints)
    assert talk_with(live, name, "gemini-live-9-not-allowed") == MESSAGE
    assert row_of(live, 101, "gemini.connectLiveConstrained")["model"] == MODEL
    url = f"{live.url.replace('http', 'ws', 1)}{PATH}?key={name}"
    with pytest.raises(InvalidStatus) as unknown, connect(url):
        pass
    assert unknown.value.response.status_code == 401
    with pytest.raises(genai_errors.ClientError) as refused:
        auth_token(live, LIMITED, live_connect_constraints=constraints)
    assert refused.value.code == 403


def test_a_secret_of_one_api_opens_no_session_of_another(live: Platform) -> None:
    name = auth_token(live, uses=0)
    url = f"{live.url.replace('http', 'ws', 1)}/v1/realtime?model=gpt-realtime"
    headers = {"authorization": f"Bearer {name}"}
    with pytest.raises(InvalidStatus) as refused, connect(url, additional_headers=headers):
        pass
    assert refused.value.response.status_code == 403
