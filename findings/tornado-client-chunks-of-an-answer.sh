#!/usr/bin/env bash
# Tornado 6.6.1 and httplib2 0.32.1 (Python): valid answers of HTTP/1.1 cannot be read.
#
# 1. Tornado's AsyncHTTPClient: an answer in chunks with a chunk extension (RFC 9112, 7.1.1: a recipient ignores those
#    it does not know) or with a trailer field (7.1.2) is "HTTP 599: Connection closed", although all of it has come.
# 2. httplib2: an interim answer, 103 Early Hints or 102, is taken for the answer (RFC 9110, 15.2: a client has to be
#    able to read any number of them before the final one). Its status is 103, its body empty.
# httpx 0.28.1, urllib3 2.7.0 and aiohttp 3.14.5 read all of them. Proxies send hints, and gRPC-minded ones trailers.
# google-api-python-client sends its requests through httplib2, agents in notebooks through Tornado.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="tornado==6.6.1 httplib2==0.32.1 httpx==0.28.1 urllib3==2.7.0 aiohttp==3.14.5"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import logging
import socketserver
import threading

import aiohttp
import httplib2
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
    "103": f"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n{LENGTH}",
    "102": f"HTTP/1.1 102 Processing\r\n\r\n{LENGTH}",
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


def fetch_httplib2() -> tuple:
    answer, body = httplib2.Http().request(url)
    return answer.status, body.decode()


def fetch_urllib3() -> tuple:
    answer = urllib3.request("GET", url)
    return answer.status, answer.data.decode()


CLIENTS = {
    "tornado": lambda: asyncio.run(fetch_tornado()),
    "httplib2": fetch_httplib2,
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
            seen[name, form] = str(error)
    print(name, {form: seen[name, form] for form in ANSWERS})
other = {key: outcome for key, outcome in seen.items() if outcome != (200, "One")}
assert other == {
    ("tornado", "extension"): "HTTP 599: Connection closed",
    ("tornado", "trailer"): "HTTP 599: Connection closed",
    ("httplib2", "103"): (103, ""),
    ("httplib2", "102"): (102, ""),
}, other
PYTHON
