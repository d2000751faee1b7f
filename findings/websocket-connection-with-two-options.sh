#!/usr/bin/env bash
# aiohttp 3.14.5, and with it livekit-plugins-openai 1.8.9, and Tornado 6.6.1 (Python): a WebSocket is not opened if the
# server's answer says `Connection: keep-alive, Upgrade`.
#
# `Connection` is a list of options (RFC 9110, 7.6.1), in one line or several. A client fails the connection if the list
# has no element "Upgrade" (RFC 6455, 4.1). Both compare all of the field with "upgrade": aiohttp raises
# WSServerHandshakeError with the status 101, "Invalid connection header"; Tornado closes the connection. Proxies add
# `keep-alive` to answers of both kinds. A voice agent of LiveKit opens its realtime session with aiohttp, so that it never
# hears the model behind such a proxy. websockets 17.4 and websocket-client 1.9.2 open it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="aiohttp==3.14.5 tornado==6.6.1 websockets==17.4 websocket-client==1.9.2 livekit-plugins-openai==1.8.9"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import asyncio
import base64
import contextlib
import hashlib
import logging
import socketserver
import threading

import aiohttp
import websocket
from livekit.plugins import openai
from tornado.websocket import websocket_connect
from websockets.sync.client import connect

FIELDS = {
    "one option": "Connection: Upgrade",
    "two options": "Connection: keep-alive, Upgrade",
    "two lines": "Connection: keep-alive\r\nConnection: Upgrade",
}
MESSAGE = b'\x81\x18{"type": "hello world!"}'
HELLO, HANDSHAKE, CLOSED = MESSAGE[2:].decode(), "WSServerHandshakeError: 101", "StreamClosedError"
form = ""
opened = threading.Event()
logging.disable()


class Server(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        key = b""
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            key = value.strip() if name.lower() == b"sec-websocket-key" else key
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        accept = f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}"
        head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n{FIELDS[form]}\r\n{accept}\r\n\r\n"
        self.wfile.write(head.encode() + MESSAGE)
        self.connection.settimeout(5)
        with contextlib.suppress(OSError):
            if self.rfile.read(1):  # a client writes only after it has accepted the answer
                opened.set()


server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"127.0.0.1:{server.server_address[1]}/"


async def open_aiohttp() -> str:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"ws://{address}") as sock:
        return await sock.receive_str(timeout=5)


async def open_tornado() -> str:
    sock = await websocket_connect(f"ws://{address}")
    return await asyncio.wait_for(sock.read_message(), 5)


def open_websockets() -> str:
    with connect(f"ws://{address}", close_timeout=0.1, proxy=None) as sock:
        return sock.recv(5)


def open_websocket_client() -> str:
    sock = websocket.create_connection(f"ws://{address}", timeout=5)
    return sock.recv()


async def speak() -> str:
    """Whether a session of LiveKit sends its first event."""
    opened.clear()
    refused = asyncio.Event()
    async with aiohttp.ClientSession() as http:
        options = {"api_key": "x", "base_url": f"http://{address}v1", "http_session": http}
        session = openai.realtime.RealtimeModel(**options).session()
        session.on("error", lambda _: refused.set())
        while not opened.is_set() and not refused.is_set():
            await asyncio.sleep(0.01)
        outcome = "opened" if opened.is_set() else "refused"
        await session.aclose()
        return outcome


CLIENTS = {
    "aiohttp": lambda: asyncio.run(open_aiohttp()),
    "Tornado": lambda: asyncio.run(open_tornado()),
    "websockets": open_websockets,
    "websocket-client": open_websocket_client,
    "livekit": lambda: asyncio.run(speak()),
}
seen = {}
for form in FIELDS:
    for name, client in CLIENTS.items():
        try:
            seen[form, name] = client()
        except Exception as error:
            seen[form, name] = f"{type(error).__name__}: {error}"[:70]
        print(form, name, seen[form, name])
        is_refused = form != "one option" and name in ("aiohttp", "Tornado", "livekit")
        refusal = {"aiohttp": HANDSHAKE, "Tornado": CLOSED, "livekit": "refused"}.get(name, "")
        expected = refusal if is_refused else "opened" if name == "livekit" else HELLO
        assert seen[form, name].startswith(expected), (form, name, seen[form, name])
PYTHON
