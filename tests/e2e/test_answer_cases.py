"""Answers of real servers that once went wrong, served by a real gateway: `cases/answers` in the
folder MODELWAY_SHARED, by default `shared` beside the checkout. A folder has a config, requests and
what the upstream sends; what is right stands here."""

from __future__ import annotations

import http.client
import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import SHARED
from tests.support.paths import ROOT
from tests.support.recording import ReceivedRequest, Speak, answer, recorder
from tests.support.running import gateway
from tests.support.waiting import PATIENCE, until

Json = dict[str, Any]

FOLDER = SHARED / "cases" / "answers"
TOKEN = "mw-0d35e04557fca56f85153c7bd616f3eca67673ca99c21d839706aa00489d8098"  # of these cases only


@dataclass(frozen=True)
class Right:
    """What is right for a request: its status, words that the answer has and has not, a pattern of
    the outcome in the log, and the counts there, if the case is about them."""

    has: tuple[str, ...]
    has_not: tuple[str, ...] = ()
    status: int = 200
    outcome: str = "complete"
    usage: tuple[int, int] | None = None


RIGHT: dict[str, list[Right]] = {
    "cloudflare-52x": [Right(("from-two",))],
    "created-is-a-float": [Right(('"hi"',))] * 3,
    "error-messages-lost": [Right(("Unknown name",), status=400, outcome="refused")],
    "message-in-a-stream-chunk": [Right(("hello",))],
    "relayed-error-first-vllm-form": [Right(("from-two",))] * 2,
    "relayed-error-in-mid-stream": [
        Right(("partial", "boom"), ("[DONE]",), outcome="upstream_(cut|failed)")
    ],
    "responses-two-items-open": [Right(("call_1", "call_2"))] * 2,
    "sse-without-its-content-type-relayed": [Right(('"hi"',), ("prompt_tokens",), usage=(100, 50))],
    "sse-without-its-content-type-translated": [Right(('"hi"',), usage=(100, 50))],
    "thinking-without-signature": [Right(('"ok"',))],
    "tool-arguments-not-json-for-responses": [Right(("get_weather", "\\d"))] * 3,
    "tool-name-in-a-later-delta": [Right(('"get_weather"',))] * 2,
    "tool-name-in-pieces": [Right(('"get_weather"',))],
    "usage-is-a-float": [Right(('"output_tokens":4',), usage=(10, 4))] * 2,
}

NAMES = sorted(each.name for each in FOLDER.iterdir()) if FOLDER.is_dir() else []
needs_cases = pytest.mark.skipif(not NAMES, reason=f"no folder {FOLDER}")


@needs_cases
def test_every_folder_has_its_right_answers() -> None:
    assert sorted(RIGHT) == NAMES


def _speak(case: Json) -> Speak:
    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        reply = case
        for key, text in (("by_path", received.target), ("by_body", received.body.decode())):
            if key in case:
                found = (value for part, value in case[key].items() if part in text)
                reply = next(found, case["else"])
        headers = [f"{name}: {value}" for name, value in reply["headers"]]
        if "body" in reply:
            answer(reply["body"].encode(), headers, reply["status"])(received, sock)
            return
        chunks = [b"%x\r\n%b\r\n" % (len(data), data) for data in map(str.encode, reply["chunks"])]
        lines = [f"HTTP/1.1 {reply['status']} Fine", *headers, "transfer-encoding: chunked", "", ""]
        sock.sendall("\r\n".join(lines).encode() + b"".join(chunks) + b"0\r\n\r\n")

    return speak


def _ask(port: int, request: Json) -> tuple[int, str]:
    """The status, and as much of the body as comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    headers |= request.get("headers", {})
    connection.request(request["method"], request["path"], json.dumps(request["body"]), headers)
    response, body = connection.getresponse(), b""
    try:
        while piece := response.read1(65_536):
            body += piece
    except http.client.HTTPException:  # the gateway cut it, as it should after an error
        pass
    connection.close()
    return response.status, body.decode()


def _config(case: Path, upstream: str) -> str:
    text = (case / "gateway.yaml").read_text()
    text = text.replace("http://127.0.0.1:21701", upstream).replace("../openapi", "openapi")
    text = text.replace("127.0.0.1:21700", "{listen}")
    return re.sub(r"\ntelemetry: .*", "", text)


@needs_cases
@pytest.mark.parametrize("name", NAMES)
def test_what_a_real_server_sends_is_answered_right(name: str, tmp_path: Path) -> None:
    case = FOLDER / name
    (tmp_path / "openapi").symlink_to(ROOT / "openapi")
    with (
        recorder() as upstream,
        gateway(tmp_path, _config(case, upstream.url), {"NO_PROXY": "*"}) as running,
    ):
        upstream.speak = _speak(json.loads((case / "upstream.json").read_text()))
        requests = json.loads((case / "request.json").read_text())
        for number, (request, right) in enumerate(zip(requests, RIGHT[name], strict=True)):
            status, body = _ask(running.port, request)
            assert status == right.status, body
            assert [word for word in right.has if word not in body] == [], body
            assert [word for word in right.has_not if word in body] == [], body
            row = until(lambda number=number: _rows(running.output())[number:], "a row")[0]
            assert re.fullmatch(right.outcome, row["outcome"])
            has_failed = row["attempts"][-1]["failure"] != ""  # as the metrics count it
            assert has_failed == (right.outcome != "complete" and right.status < 400)
            if right.usage is not None:
                usage = row["usage"]
                counts = (usage["input"], usage["output"], usage["source"])
                assert counts == (*right.usage, "upstream")


def _rows(log: str) -> list[Json]:
    return [json.loads(line) for line in log.splitlines() if '"outcome"' in line]
