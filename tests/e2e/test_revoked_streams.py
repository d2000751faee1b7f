"""Open requests of a token that is revoked, removed or expires: they end soon, with an error in
their own dialect, and what was sent until then is counted."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

from engine.cli import main
from engine.translations import languages
from engine.values.caller import digest
from tests.support.books import Books
from tests.support.postgres import running as postgres_running
from tests.support.recording import PATIENCE, ReceivedRequest, Wire, recorder, request
from tests.support.running import ALL, Running, gateway
from tests.support.translating import CHAT_ROUTES, OPERATION_OF, SPECS, UPSTREAM_OF
from tests.support.translation_faults import Paced, RawCaller, Reply
from tests.support.waiting import until

LANGUAGES = [language.name for language in languages()]
CROSSINGS = [(caller, target) for caller in LANGUAGES for target in LANGUAGES]
_WITHOUT_USAGE = ("chat_completions", "responses", "messages")
"""Upstreams whose first events report no output."""
LIVE = """
openapi: 3.1.0
info: {title: Live, version: "1"}
paths: {/live: {get: {operationId: enter, responses: {"101": {description: it goes on}}}}}
"""


@dataclass
class Vendors:
    """An upstream of every language. A stream pauses after its first text until `go_on`, a whole
    answer waits for it."""

    go_on: threading.Event = field(default_factory=threading.Event)
    requests: int = 0

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        self.requests += 1
        body = received.body
        is_stream = re.search(rb'"stream": ?true', body) is not None
        if not is_stream and "streamGenerateContent" not in received.target:
            self.go_on.wait(PATIENCE)
            return
        target = received.target
        name = (
            "messages" if target.endswith("messages")
            else "responses" if target.endswith("responses")
            else "generate_content" if "Generate" in target
            else "chat_completions"
        )  # fmt: skip
        paced = Paced(name)
        paced.go_on = self.go_on
        paced(received, sock)


@dataclass
class Deployment:
    front: Running
    folder: Path
    vendors: Vendors
    books: Books

    def token(self, *words: str) -> None:
        config = str(self.folder / "gateway.yaml")
        result = CliRunner().invoke(main, ["token", *words, "--config", config])
        assert result.exit_code == 0, result.output

    def add_token(self, name: str = "alice", secret: str = ALL, **more: Any) -> None:
        """A token of the database."""
        record = {"name": name, "sha256": digest(secret), **more}
        (self.folder / "tokens.jsonl").write_text(json.dumps(record))
        self.token("import", str(self.folder / "tokens.jsonl"))

    def outcomes(self) -> Counter[str]:
        return self.books.outcomes()


def relay(connection: ServerConnection) -> None:
    for message in connection:
        connection.send(message)


@contextmanager
def deployment(
    folder: Path, records: str = "", tokens: str = "", stores: str = "", workers: int = 2
) -> Iterator[Deployment]:
    """A gateway in front of Vendors, and of a WebSocket that sends back what it gets."""
    (folder / "live.yaml").write_text(LIVE)
    records = records or "sqlite:///records.db"
    with recorder() as upstream, serve(relay, "127.0.0.1", 0) as live:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        upstream.speak = vendors = Vendors()
        rows = []
        for name in LANGUAGES:
            at = UPSTREAM_OF[name].format(url=upstream.url)
            rows.append(f"  {name}: {{{at}, proxy: '', retry: {{attempts: 1}}}}")
        models = [
            f"  {name}: {{{OPERATION_OF.get(name, '')}to: [{{upstream: {name}, model: gpt-4o}}]}}"
            for name in LANGUAGES
        ]
        live_url = f"http://127.0.0.1:{live.socket.getsockname()[1]}"
        config = "\n".join(
            [
                "version: 1",
                f'server: {{listen: "{{listen}}", workers: {workers}, drain: {{grace: 60s}}}}',
                f"stores: {{records: '{records}', token_ttl: 500ms{stores}}}",
                SPECS.rstrip(),
                "  live: {document: live.yaml, dialect: openai}",
                "upstreams:",
                *rows,
                f"  live: {{url: '{live_url}', dialect: openai, proxy: ''}}",
                "models:",
                *models,
                "routes:",
                CHAT_ROUTES.rstrip(),
                "  - {operation: live.enter, to: [{upstream: live}]}",
                tokens,
            ]
        )
        with gateway(folder, config) as front:
            url = "" if records.startswith("sqlite") else records
            yield Deployment(front, folder, vendors, Books(folder, url))
        vendors.go_on.set()
        live.shutdown()


@dataclass
class Stream:
    """A stream that has its first text, read to its end by a thread."""

    caller: RawCaller
    body: bytes = b""
    end: str = ""

    def read(self, port: int, model: str, begun: threading.Event) -> Stream:
        try:
            for piece in self.caller.pieces(port, model):
                self.body += piece
                if b"Hello" in self.body:
                    begun.set()
            self.end = "clean"
        except (EOFError, ConnectionResetError):
            self.end = "cut"
        return self


class Streams:
    """Streams of callers in all crossings of languages, begun together."""

    def __init__(self, front: Running, pool: ThreadPoolExecutor, crossings: Any) -> None:
        self._results = []
        for caller, target in crossings:
            begun = threading.Event()
            stream = Stream(RawCaller(caller))
            self._results.append(pool.submit(stream.read, front.port, target, begun))
            assert begun.wait(PATIENCE), (caller, target, stream)

    def ended(self) -> list[Stream]:
        return [result.result(PATIENCE) for result in self._results]


def assert_revoked(stream: Stream) -> None:
    """A stream has text, then only the error of its dialect, and no clean end."""
    reply = Reply(200, [], stream.body, True)
    assert stream.end == "cut", stream
    assert stream.caller.ends(reply) == 0
    ((message, kind, status),) = stream.caller.errors(reply)
    assert "has expired or was revoked" in message
    assert "authentication" in kind or kind in ("UNAUTHENTICATED", "invalid_request_error")
    assert status in (None, 401)


@contextmanager
def session(front: Running) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {ALL}"}
    with connect(f"ws://127.0.0.1:{front.port}/live", additional_headers=headers) as socket_:
        socket_.send("hello")
        assert socket_.recv(PATIENCE) == "hello"
        yield socket_


def test_a_stream_ends_when_its_token_is_revoked(tmp_path: Path, records_url: str) -> None:
    """In each dialect, relayed and translated; a session and a request that waits end as well."""
    with (
        deployment(tmp_path, records_url) as gateway_,
        ThreadPoolExecutor(len(CROSSINGS) + 1) as pool,
    ):
        gateway_.add_token()
        front = gateway_.front
        with session(front) as live:
            waiting = pool.submit(RawCaller("messages").ask, front.port, "messages", stream=False)
            streams = Streams(front, pool, CROSSINGS)
            until(lambda: gateway_.vendors.requests > len(CROSSINGS), "the last request")
            gateway_.token("revoke", "alice")
            for stream in streams.ended():
                assert_revoked(stream)
            refused = waiting.result(PATIENCE)
            assert (refused.status, refused.cut) == (401, False)
            assert json.loads(refused.body)["error"]["type"] == "authentication_error"
            error = json.loads(live.recv(PATIENCE))
            assert (error["type"], error["error"]["code"]) == ("error", "invalid_api_key")
            with pytest.raises(ConnectionClosed) as closed:
                live.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
        until(lambda: gateway_.outcomes()["revoked"] == len(CROSSINGS) + 2, "a row of each")
        assert set(gateway_.outcomes()) == {"revoked"}
        sent = until(lambda: counted(gateway_), "the rows in the database")
        assert all(tokens > 0 for tokens in sent), sent
        assert "Traceback" not in front.output()


def counted(gateway_: Deployment) -> list[int]:
    """The output of each stream of chat in the database; empty until all rows are there. Gemini's
    events report a usage, which is 0 until the last."""
    books = gateway_.books
    if len(books.column()) < len(CROSSINGS) + 2:
        return []
    columns = (books.column(name) for name in ("stream", "upstream", "output"))
    rows = list(zip(*columns, strict=True))
    return [out for stream, upstream, out in rows if stream and upstream in _WITHOUT_USAGE]


def test_a_reload_ends_the_streams_of_removed_tokens_and_of_no_others(tmp_path: Path) -> None:
    """One of the others stays in the config, one has moved to the database."""
    secrets = {name: f"mw-{letter * 64}" for name, letter in (("kept", "d"), ("moved", "e"))}
    entries = {
        name: f"  - {{name: {name}, sha256: {digest(secret)}}}\n"
        for name, secret in {**secrets, "alice": ALL}.items()
    }
    tokens = "tokens:\n" + "".join(entries.values())
    with (
        deployment(tmp_path, tokens=tokens, workers=1) as gateway_,
        ThreadPoolExecutor(2) as pool,
        opened(gateway_, secrets["kept"]) as kept,
        opened(gateway_, secrets["moved"]) as moved,
    ):
        streams = Streams(gateway_.front, pool, [("messages", "messages")])
        path = tmp_path / "gateway.yaml"
        path.write_text(path.read_text().replace(tokens, "tokens:\n" + entries["kept"]))
        gateway_.add_token("moved", secrets["moved"])
        gateway_.front.process.send_signal(signal.SIGHUP)
        (removed,) = streams.ended()
        assert_revoked(removed)
        gateway_.vendors.go_on.set()
        for pieces in (kept, moved):
            assert b"".join(pieces).endswith(b"data: [DONE]\n\n")
        until(lambda: gateway_.outcomes().total() == 3, "a row of each")
        assert gateway_.outcomes() == Counter({"revoked": 1, "complete": 2})


@contextmanager
def opened(gateway_: Deployment, secret: str) -> Iterator[Iterator[bytes]]:
    """The pieces of a stream of chat."""
    messages = [{"role": "user", "content": "Hi"}]
    body = {"model": "chat_completions", "messages": messages, "stream": True}
    with Wire(gateway_.front.port) as wire:
        wire.send(request("/v1/chat/completions", json.dumps(body).encode(), token=secret))
        assert wire.head()[0] == 200
        yield wire.pieces()


def test_streams_end_when_their_token_expires(tmp_path: Path) -> None:
    with deployment(tmp_path) as gateway_, ThreadPoolExecutor(2) as pool:
        gateway_.add_token(expires=time.time() + 3)
        (stream,) = Streams(gateway_.front, pool, [("messages", "chat_completions")]).ended()
        assert_revoked(stream)


def test_end_revoked_false_lets_streams_go_on(tmp_path: Path) -> None:
    stores = ", end_revoked: false"
    with deployment(tmp_path, stores=stores) as gateway_, ThreadPoolExecutor(2) as pool:
        gateway_.add_token()
        caller, port = RawCaller("messages"), gateway_.front.port
        streams = Streams(gateway_.front, pool, [("messages", "messages")])
        gateway_.token("revoke", "alice")
        refused = [until(lambda: is_refused(caller, port), "a refusal") for _ in range(4)]
        assert all(refused)
        gateway_.vendors.go_on.set()
        (stream,) = streams.ended()
        assert (stream.end, caller.ends(Reply(200, [], stream.body, False))) == ("clean", 1)


def is_refused(caller: RawCaller, port: int) -> bool:
    return caller.ask(port, "nobody", stream=False).status == 401


def test_no_stream_ends_because_the_database_does_not_answer(tmp_path: Path) -> None:
    """What cannot be looked up is not revoked."""
    with (
        postgres_running() as database,
        deployment(tmp_path, database.fresh()) as gateway_,
        ThreadPoolExecutor(2) as pool,
    ):
        gateway_.add_token()
        streams = Streams(gateway_.front, pool, [("messages", "generate_content")])
        database.kill()
        output = gateway_.front.output
        until(lambda: "tokens cannot be looked up" in output(), "a lookup that fails")
        gateway_.vendors.go_on.set()
        (stream,) = streams.ended()
        assert stream.end == "clean"
