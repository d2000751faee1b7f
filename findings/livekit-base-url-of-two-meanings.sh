#!/usr/bin/env bash
# livekit-plugins-openai 1.8.9: `base_url` of a model of the Responses API is an address to which the path is added, or
# the whole address, by an option that is on if nothing is said.
#
# With `openai.responses.LLM(base_url="http://host/v1")` a plug-in asks /v1?model=..., which is a WebSocket (the default
# `use_websocket=True`), and /v1/responses with `use_websocket=False`. openai-python 3.57.0 adds the path in both, over HTTP
# and in `responses.connect()`. For `openai.realtime.RealtimeModel` of the same plug-in /v1 becomes /v1/realtime. So
# the address that works for all other models of an agent is a 404 for this one, which is tried four times.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="livekit-plugins-openai==1.8.9 openai[realtime]==3.57.0"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import asyncio
import contextlib
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai
from livekit.agents import APIConnectOptions, llm
from livekit.agents.utils import http_context
from livekit.plugins.openai import LLM, realtime, responses

paths: list[tuple[str, str]] = []
logging.disable()


class Server(BaseHTTPRequestHandler):
    """Refuses everything, and keeps the paths."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        kind = self.headers.get("upgrade", "http").lower()
        paths.append((kind, self.path.partition("?")[0]))
        self.send_response(400)
        self.send_header("content-length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
base_url = f"http://127.0.0.1:{server.server_port}/v1"
OPTIONS = {"model": "m", "api_key": "x", "base_url": base_url}


async def ask(model: llm.LLM) -> None:
    context = llm.ChatContext.empty()
    context.add_message(role="user", content="Hello")
    async with model.chat(chat_ctx=context, conn_options=APIConnectOptions(max_retry=0)) as stream:
        async for _ in stream:
            pass


async def speak() -> None:
    session = realtime.RealtimeModel(**OPTIONS).session()
    while not paths:
        await asyncio.sleep(0.01)
    await session.aclose()


async def connect() -> None:
    async with openai.AsyncOpenAI(api_key="x", base_url=base_url).responses.connect():
        pass


async def path_of(request: asyncio.Future) -> tuple[str, str]:
    paths.clear()
    async with http_context.open():
        with contextlib.suppress(Exception):
            await request
    return paths[0]


async def main() -> None:
    requests = {
        "chat completions": ask(LLM(**OPTIONS)),
        "responses, use_websocket=False": ask(responses.LLM(**OPTIONS, use_websocket=False)),
        "responses": ask(responses.LLM(**OPTIONS)),
        "realtime": speak(),
        "openai, responses.connect()": connect(),
    }
    seen = {name: await path_of(request) for name, request in requests.items()}
    for name, (kind, path) in seen.items():
        print(f"{name}: {kind} {path}")
    assert seen == {
        "chat completions": ("http", "/v1/chat/completions"),
        "responses, use_websocket=False": ("http", "/v1/responses"),
        "responses": ("websocket", "/v1"),
        "realtime": ("websocket", "/v1/realtime"),
        "openai, responses.connect()": ("websocket", "/v1/responses"),
    }, seen


asyncio.run(main())
PYTHON
