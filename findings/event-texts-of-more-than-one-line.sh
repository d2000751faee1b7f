#!/usr/bin/env bash
# Falcon 4.4.0 and BlackSheep 2.6.4 (Python): an event whose text has a line break arrives cut off, or with a backslash.
#
# Data of several lines is written as several fields `data`, which the reader joins with LF (HTML Living Standard, 9.2.6,
# "Interpreting an event stream"). Of `SSEvent(text=...)` and `data=...` Falcon writes one field:
# - "One\ntwo" reaches a browser as "One", what follows is a field that nobody knows;
# - "One\n\ntwo" reaches it as "One" too: the empty line ends the event.
# BlackSheep's `TextServerSentEvent` writes a backslash and an "n" in place of the line break, which no reader undoes.
# sse-starlette 3.7.0, Litestar 2.25.0 and aiohttp-sse 3.0 write each line as a field.
#
# Models write line breaks in nearly each answer: a chat loses its second line, or has no lines, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="falcon==4.4.0 blacksheep==2.6.4 sse-starlette==3.7.0 litestar==2.25.0 aiohttp-sse==3.0 httpx-sse==0.4.3"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import asyncio

import httpx
from aiohttp_sse import EventSourceResponse
from blacksheep.server.sse import TextServerSentEvent, write_sse
from falcon.asgi import SSEvent
from httpx_sse import EventSource
from litestar.response.sse import ServerSentEventMessage
from sse_starlette import ServerSentEvent


def aiohttp(text: str) -> bytes:
    response, written = EventSourceResponse(), []

    async def write(data: bytes) -> None:
        written.append(data)

    response.write, response._payload_writer = write, object()
    asyncio.run(response.send(text))
    return b"".join(written)


WRITERS = {
    "falcon": lambda text: SSEvent(text=text).serialize(),
    "falcon data": lambda text: SSEvent(data=text.encode()).serialize(),
    "blacksheep": lambda text: write_sse(TextServerSentEvent(text)),
    "sse-starlette": lambda text: ServerSentEvent(text).encode(),
    "litestar": lambda text: ServerSentEventMessage(data=text).encode(),
    "aiohttp-sse": aiohttp,
}
TEXTS = ["One", "One\ntwo", "One\n\ntwo"]
seen = {}
for name, write in WRITERS.items():
    for text in TEXTS:
        answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=bytes(write(text)))
        seen[name, text] = [event.data for event in EventSource(answer).iter_sse()]
    print(name, [seen[name, text] for text in TEXTS])
other = {key: events for key, events in seen.items() if events != [key[1]]}
assert other == {
    **{(name, text): ["One"] for name in ("falcon", "falcon data") for text in TEXTS[1:]},
    **{("blacksheep", text): [text.replace("\n", "\\n")] for text in TEXTS[1:]},
}, other
PYTHON
