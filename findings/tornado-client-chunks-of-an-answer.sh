#!/usr/bin/env bash
# Tornado 6.6.1: its client cannot read an answer in chunks with a chunk extension or a trailer field.
#
# A recipient ignores chunk extensions that it does not know (RFC 9112, 7.1.1), and reads a trailer section, whose fields
# it may discard (7.1.2; RFC 9110, 6.5.1). Tornado's AsyncHTTPClient raises "HTTP 599: Connection closed" for both, although
# all of the answer has come. httpx 0.28.1, urllib3 2.7.0 and aiohttp 3.14.5 read them. Servers send their timings and
# checksums of a stream as trailers, when all of it is known.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="tornado==6.6.1 httpx==0.28.1 urllib3==2.7.0 aiohttp==3.14.5"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import logging
import socketserver
import threading

import aiohttp
import httpx
import urllib3
from tornado.httpclient import AsyncHTTPClient

OK = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
LENGTH, CHUNKED = f"{OK}Content-Length: 3\r\n\r\nOne", f"{OK}Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "plain": LENGTH,
    "chunked": f"{CHUNKED}3\r\nOne\r\n0\r\n\r\n",
    "extension": f"{CHUNKED}3;part=1\r\nOne\r\n0\r\n\r\n",
    "trailer": f"{CHUNKED}3\r\nOne\r\n0\r\nServer-Timing: total;dur=5\r\n\r\n",
}
form = ""
logging.disable()


class Upstream(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(ANSWERS[form].encode())


server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/"


async def fetch_tornado() -> tuple:
    answer = await AsyncHTTPClient(force_instance=True).fetch(url)
    return answer.code, answer.body.decode()


async def fetch_aiohttp() -> tuple:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


def fetch_urllib3() -> tuple:
    answer = urllib3.request("GET", url)
    return answer.status, answer.data.decode()


CLIENTS = {
    "tornado": lambda: asyncio.run(fetch_tornado()),
    "httpx": lambda: ((answer := httpx.get(url)).status_code, answer.text),
    "urllib3": fetch_urllib3,
    "aiohttp": lambda: asyncio.run(fetch_aiohttp()),
}
seen = {}
for name, fetch in CLIENTS.items():
    for form in ANSWERS:
        try:
            seen[name, form] = fetch()
        except Exception as error:
            seen[name, form] = f"{type(error).__name__}: {error}"
    print(name, {form: seen[name, form] for form in ANSWERS})
other = {key: outcome for key, outcome in seen.items() if outcome != (200, "One")}
assert other == {
    ("tornado", "extension"): "HTTPStreamClosedError: Connection closed",
    ("tornado", "trailer"): "HTTPStreamClosedError: Connection closed",
}, other
PYTHON
