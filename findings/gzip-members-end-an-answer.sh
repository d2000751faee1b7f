#!/usr/bin/env bash
# httpx 0.28.1, and with it openai 3.57.0, and httplib2 0.32.1 (Python): of an answer in gzip with more than one member,
# all but the first is lost, without an error.
#
# A gzip file is a series of members, one after the other (RFC 1952, 2.2), and the content of the coding "gzip" is one
# (RFC 9110, 8.4.1.3). Servers write several where each part is compressed alone: `bgzip`, files that were joined, and
# streams of which each event ends a member. Of a JSON text these clients give the beginning. A stream of openai ends after
# its first piece, which reads like a short answer. urllib3 2.8.0, aiohttp 3.14.5 and Tornado 6.6.1 read all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="httpx==0.28.1 openai==3.57.0 httplib2==0.32.1 urllib3==2.8.0 aiohttp==3.14.5 tornado==6.6.1"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import gzip
import json
import socketserver
import threading

import aiohttp
import httplib2
import httpx
import urllib3
from openai import OpenAI
from tornado.httpclient import AsyncHTTPClient

WORDS = ["One", " two", " three"]


def event(word: str) -> bytes:
    choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


PARTS = {"GET": ("application/json", [b'{"a":', b" 1}"])}
PARTS["POST"] = ("text/event-stream", [*map(event, WORDS), b"data: [DONE]\n\n"])
several = False


class Upstream(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        media_type, parts = PARTS[self.rfile.readline().split()[0].decode()]
        size = 0
        while line := self.rfile.readline().strip():
            name, _, value = line.decode().partition(":")
            size = int(value) if name.lower() == "content-length" else size
        self.rfile.read(size)
        body = b"".join(map(gzip.compress, parts)) if several else gzip.compress(b"".join(parts))
        head = f"Content-Type: {media_type}\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}"
        self.wfile.write(f"HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n".encode() + body)


server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/"


async def fetch_aiohttp() -> str:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.text()


async def fetch_tornado() -> str:
    return (await AsyncHTTPClient(force_instance=True).fetch(url)).body.decode()


def chat() -> str:
    client = OpenAI(base_url=url, api_key="x", max_retries=0)
    messages = [{"role": "user", "content": "Count."}]
    chunks = client.chat.completions.create(model="m", messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content for chunk in chunks)


CLIENTS = {
    "httpx": lambda: httpx.get(url).text,
    "httplib2": lambda: httplib2.Http().request(url)[1].decode(),
    "urllib3": lambda: urllib3.request("GET", url).data.decode(),
    "aiohttp": lambda: asyncio.run(fetch_aiohttp()),
    "tornado": lambda: asyncio.run(fetch_tornado()),
    "openai": chat,
}
BEGINNINGS = {"httpx": '{"a":', "httplib2": '{"a":', "openai": "One"}
for several in (False, True):
    texts = {name: fetch() for name, fetch in CLIENTS.items()}
    print("several members:" if several else "one member:", texts)
    whole = dict.fromkeys(CLIENTS, '{"a": 1}') | {"openai": "One two three"}
    assert texts == (whole | BEGINNINGS if several else whole), texts
PYTHON
