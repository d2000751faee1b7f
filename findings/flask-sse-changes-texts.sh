#!/usr/bin/env bash
# Flask-SSE 1.0.0: a text that begins with a space loses it, and one with U+2028 gets a line break.
#
# A reader removes one space behind the colon of `data:`, so a value that begins with a space needs one more (HTML Living
# Standard, 9.2.6). Flask-SSE writes no space of its own, so the first one of the text is gone. Lines end with LF, CR
# or both and nothing else (9.2.5). Flask-SSE takes `splitlines()`, so U+2028, U+0085, a form feed and a vertical tab
# become a line break. An empty text is no event at all.
# sse-starlette 3.7.0 writes them so that they come back as they were.
#
# Most pieces of a model's answer begin with a space: "One", " two", " three" arrives as "Onetwothree".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet flask-sse==1.0.0 sse-starlette==3.7.0 httpx==0.28.1 httpx-sse==0.4.3
"$folder/venv/bin/python" - <<'PYTHON'
import httpx
from flask_sse import Message
from httpx_sse import EventSource
from sse_starlette import ServerSentEvent

PIECES = ["One", " two", " three"]
OTHERS = ["a\u2028b", "a\x85b", "a\x0cb", "a\x0bb"]


def read(stream: str) -> list[str]:
    answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=stream.encode())
    return [event.data for event in EventSource(answer).iter_sse()]


# flask_sse.sse.stream() yields str(message) of each message that was published.
flask = {text: read(str(Message(text))) for text in (*PIECES, *OTHERS, "")}
starlette = {text: read(ServerSentEvent(text).encode().decode()) for text in (*PIECES, *OTHERS)}
print("flask-sse", flask)
print("sse-starlette", starlette)
assert all(events == [text] for text, events in starlette.items())
assert "".join(flask[piece][0] for piece in PIECES) == "Onetwothree"
assert all(flask[text] == ["a\nb"] for text in OTHERS)
assert flask[""] == []
PYTHON
