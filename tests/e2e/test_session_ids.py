"""Ids of objects in the messages of WebSockets, OpenAI's realtime sessions and Gemini's live ones,
with two callers, two teams and two accounts."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

from engine.objects.sealed_ids import Holder, Identity, Sealer, owner_of
from engine.values.caller import Caller, digest
from tests.support.each import each
from tests.support.paths import ROOT
from tests.support.running import PATIENCE, Running, gateway
from tests.support.waiting import until

KEY = "0123456789abcdef" * 4
CALLERS = {name: Caller(name, team=team) for name, team in (("ann", "red"), ("bob", "blue"))}
SECRETS = {name: "mw-" + letter * 64 for name, letter in zip(CALLERS, "ab", strict=True)}
SEALER = Sealer([KEY], ["openai", "gemini", "other"])
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
objects: {key: "KEY", owner: team}
specs:
  openai: {document: openai.yaml, dialect: openai, mount: /v1}
  gemini: {document: gemini.yaml, dialect: gemini}
upstreams:
  openai: {url: "URL/v1", dialect: openai, proxy: "", credentials: [{bearer: a}, {bearer: b}]}
  gemini:
    {url: "URL/v1beta", dialect: gemini, proxy: "", credential: {header: x-goog-api-key, value: c}}
  other: {url: "URL/v1", dialect: openai, proxy: ""}
models:
  talk: {to: [{upstream: openai}]}
  live: {to: [{upstream: gemini}]}
routes:
  - {operation: openai.connectRealtime, model: "$request.query.model"}
  - {operation: gemini.connectLive, model: "$request.body#/setup/model"}
tokens:
TOKENS
"""
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


@dataclass
class Vendor:
    """The upstream of all sessions: `received` are the messages that reached it; it answers with
    those of `says`."""

    url: str = ""
    received: list[Any] = field(default_factory=list)
    says: list[bytes | str] = field(default_factory=list)
    account: str = ""

    def opened(self, _: ServerConnection, request: Request) -> None:
        """Keep the account of a session before it is answered: its caller may ask at once."""
        self.account = request.headers.get("authorization", "")

    def __call__(self, socket: ServerConnection) -> None:
        for message in socket:
            self.received.append(json.loads(message))
            for text in self.says or ['{"type": "done"}']:
                socket.send(text)


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    handler = Vendor()
    with serve(handler, "127.0.0.1", 0, process_request=handler.opened) as server:
        handler.url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield handler
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, vendor: Vendor) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("sessions")
    for name in ("openai.yaml", "gemini.yaml"):
        shutil.copy(ROOT / "openapi" / name, folder / name)
    tokens = "\n".join(
        f"  - {{name: {name}, sha256: {digest(SECRETS[name])}, team: {caller.team}}}"
        for name, caller in CALLERS.items()
    )
    text = CONFIG.replace("KEY", KEY).replace("URL", vendor.url).replace("TOKENS", tokens)
    with gateway(folder, text) as each:
        yield each


@pytest.fixture(autouse=True)
def fresh(vendor: Vendor) -> None:
    vendor.received, vendor.says = [], []


def sealed(
    vendor_id: str,
    kind: str = "file",
    caller: str = "ann",
    upstream: str = "openai",
    account: int = 0,
) -> str:
    owner = owner_of(CALLERS[caller], "team")
    return SEALER.seal(Identity(vendor_id, Holder(upstream, account), owner), kind)


def open_session(running: Running, path: str, caller: str = "ann") -> ClientConnection:
    headers = {"authorization": f"Bearer {SECRETS[caller]}"}
    return connect(f"{running.url.replace('http', 'ws', 1)}{path}", additional_headers=headers)


def say(session: ClientConnection, value: Any) -> Any:
    session.send(json.dumps(value))
    return json.loads(session.recv(timeout=PATIENCE))


def item(file_id: str) -> dict[str, Any]:
    content = [{"type": "input_file", "file_id": file_id}]
    return {"type": "conversation.item.create", "item": {"content": content}}


def test_a_session_has_the_ids_of_its_caller(running: Running, vendor: Vendor) -> None:
    vendor.says = [b'{"type": "response.created", "response": {"id": "resp_1"}}']
    with open_session(running, "/v1/realtime?model=talk") as session:
        answer = say(session, {"type": "response.create"})
        account = 1 if vendor.account.endswith("b") else 0
        response_id = answer["response"]["id"]
        assert response_id == sealed("resp_1", "response", account=account)
        say(session, {"type": "response.cancel", "response_id": response_id})
        say(session, item(sealed("file-1", account=account)))
    assert vendor.received[1]["response_id"] == "resp_1"
    assert vendor.received[2] == item("file-1")


def test_fragments_are_one_message(running: Running, vendor: Vendor) -> None:
    with open_session(running, "/v1/realtime?model=talk") as session:
        account = 1 if vendor.account.endswith("b") else 0
        text = json.dumps(item(sealed("file-1", account=account)))
        session.send(text[at : at + 7] for at in range(0, len(text), 7))
        session.recv(timeout=PATIENCE)
        until(lambda: vendor.received, "the message at the vendor")
    assert vendor.received == [item("file-1")]


@each(
    ("file_id", "code"),
    [
        (sealed("file-1", caller="bob"), "not_found"),
        (sealed("file-1", "batch"), "not_found"),
        (sealed("file-1")[:-2], "not_found"),
        ("file-1", "not_found"),
        (sealed("file-1", upstream="other"), "objects_of_two_upstreams"),
        (sealed("file-1", account=2), "objects_of_two_upstreams"),
    ],
)
def test_a_foreign_id_is_an_error_event(
    running: Running, vendor: Vendor, file_id: str, code: str
) -> None:
    with open_session(running, "/v1/realtime?model=talk") as session:
        answer = say(session, item(file_id))
        assert (answer["type"], answer["error"]["code"]) == ("error", code)
        assert say(session, {"type": "ping"}) == {"type": "done"}
    assert vendor.received == [{"type": "ping"}]
    vendor.received.clear()


def live(handle: str = "") -> dict[str, Any]:
    resumption = {"sessionResumption": {"handle": handle}} if handle else {}
    return {"setup": {"model": "models/live", **resumption}}


def test_a_live_session_is_resumed_by_its_caller_alone(running: Running, vendor: Vendor) -> None:
    vendor.says = [b'{"sessionResumptionUpdate": {"newHandle": "handle-1", "resumable": true}}']
    with open_session(running, LIVE) as session:
        handle = say(session, live())["sessionResumptionUpdate"]["newHandle"]
    assert handle == sealed("handle-1", "live_session", upstream="gemini")
    with open_session(running, LIVE) as session:
        say(session, live(handle))
    assert vendor.received[-1] == live("handle-1")
    count = len(vendor.received)
    for caller, wrong in (("bob", handle), ("ann", "handle-1"), ("ann", handle[:-1])):
        with open_session(running, LIVE, caller) as session, pytest.raises(ConnectionClosed):
            say(session, live(wrong))
    assert len(vendor.received) == count


def test_a_foreign_file_ends_a_live_session(running: Running, vendor: Vendor) -> None:
    def turn(name: str) -> dict[str, Any]:
        url = f"https://generativelanguage.googleapis.com/v1beta/{name}"
        return {"clientContent": {"turns": [{"parts": [{"fileData": {"fileUri": url}}]}]}}

    with open_session(running, LIVE) as session:
        say(session, live())
        say(session, turn(sealed("files/1", upstream="gemini")))
        assert vendor.received[-1] == turn("files/1")
        with pytest.raises(ConnectionClosed) as ending:
            say(session, turn(sealed("files/1", upstream="gemini", caller="bob")))
    assert ending.value.rcvd is not None
    assert ending.value.rcvd.code == 1008
    assert "no such object" in ending.value.rcvd.reason
