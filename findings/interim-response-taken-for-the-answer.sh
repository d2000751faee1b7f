#!/usr/bin/env bash
# urllib3 2.8.0 on the http.client of Python 3.11, and with it requests 2.34.2, httplib2 0.32.1, websockets 17.4 and
# websocket-client 1.9.2: an interim response, 103 Early Hints or 102 Processing, is taken for the answer.
#
# A client reads one or more responses of 1xx before the final one, and may ignore those that it does not know, whether it
# expects them or not (RFC 9110, 15.2). For the first three the answer of an API is "103" and empty, which for requests is no
# error: `raise_for_status` passes. Both clients of WebSockets say that the server has rejected the connection, before they
# have read the 101 behind it, even for 100 Continue, which the first three read over. CDNs send Early Hints (RFC 8297) for
# whatever a page is made of. httpx 0.28.1, aiohttp 3.14.5, Tornado 6.6.1 and curl_cffi 0.17.0 read the answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="httpx==0.28.1 urllib3==2.8.0 aiohttp==3.14.5 tornado==6.6.1 curl_cffi==0.17.0 httplib2==0.32.1"
"$folder/venv/bin/pip" install --quiet $packages requests==2.34.2 websockets==17.4 websocket-client==1.9.2
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import base64
import contextlib
import hashlib
import logging
import socketserver
import threading

import aiohttp
import curl_cffi
import httplib2
import httpx
import requests
import urllib3
import websocket
from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import websocket_connect
from websockets.sync.client import connect

INTERIM = {
    "none": "",
    "100": "HTTP/1.1 100 Continue\r\n\r\n",
    "102": "HTTP/1.1 102 Processing\r\n\r\n",
    "103": "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n",
}
ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
form = ""
logging.disable()


class Server(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        key = b""
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            key = value.strip() if name.lower() == b"sec-websocket-key" else key
        self.wfile.write(INTERIM[form].encode())
        if not key:
            self.wfile.write(ANSWER.encode())
            return
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
        accept = f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}"
        self.wfile.write(f"{head}\r\n{accept}\r\n\r\n".encode() + b"\x81\x05hello")
        self.connection.settimeout(2)
        with contextlib.suppress(OSError):
            while self.rfile.read(1):
                pass


server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"127.0.0.1:{server.server_address[1]}/"
url = f"http://{address}"


def described(status: int, content: bytes) -> str:
    return content.decode() if status == 200 else f"{status}: {content.decode()}"


def fetch_httplib2() -> str:
    response, content = httplib2.Http().request(url)
    return described(response.status, content)


def fetch_urllib3() -> str:
    response = urllib3.request("GET", url)
    return described(response.status, response.data)


def fetch_requests() -> str:
    response = requests.get(url)
    response.raise_for_status()
    return described(response.status_code, response.content)


async def fetch_aiohttp() -> str:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.text()


async def fetch_tornado() -> str:
    return (await AsyncHTTPClient(force_instance=True).fetch(url)).body.decode()


def open_websockets() -> str:
    with connect(f"ws://{address}", close_timeout=0.1, proxy=None) as sock:
        return sock.recv(5)


async def open_aiohttp() -> str:
    timeout = aiohttp.ClientWSTimeout(ws_close=0.1)
    async with aiohttp.ClientSession() as session, session.ws_connect(f"ws://{address}", timeout=timeout) as sock:
        return await sock.receive_str(timeout=5)


async def open_tornado() -> str:
    sock = await websocket_connect(f"ws://{address}")
    return await asyncio.wait_for(sock.read_message(), 5)


CLIENTS = {
    "httplib2": fetch_httplib2,
    "httpx": lambda: httpx.get(url).text,
    "urllib3": fetch_urllib3,
    "requests": fetch_requests,
    "curl_cffi": lambda: curl_cffi.get(url).text,
    "aiohttp": lambda: asyncio.run(fetch_aiohttp()),
    "Tornado": lambda: asyncio.run(fetch_tornado()),
    "websockets": open_websockets,
    "websocket-client": lambda: websocket.create_connection(f"ws://{address}", timeout=5).recv(),
    "aiohttp, WebSocket": lambda: asyncio.run(open_aiohttp()),
    "Tornado, WebSocket": lambda: asyncio.run(open_tornado()),
}
OTHER = {
    **dict.fromkeys(["httplib2", "urllib3", "requests"], "{}: "),
    "websockets": "InvalidStatus: server rejected WebSocket connection: HTTP {}",
    "websocket-client": "WebSocketBadStatusException: Handshake status {}",
}
for form in INTERIM:
    for name, client in CLIENTS.items():
        try:
            outcome = client()
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"[:70]
        print(form, name, outcome)
        is_other = name in OTHER and (form in ("102", "103") or (form == "100" and name.startswith("websocket")))
        expected = OTHER[name].format(form) if is_other else "hello"
        assert outcome.startswith(expected), (form, name, outcome)
PYTHON
