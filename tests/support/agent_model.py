"""A model that an agent talks to: an upstream of every vendor with a plan of tool calls.

Its answers are in the vendor's format, with thoughts and their signatures, as streams or whole. The
last user's message that names a turn (`TURN-3`) chooses the steps; the results that follow this
message in the request are those of the steps before.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.translations import languages
from tests.support.agent_answers import WRITERS, Call, Compaction
from tests.support.recording import ReceivedRequest, answer

Json = dict[str, Any]

_USAGE = 12
_TURN = re.compile(r"TURN-(\d)")
_RESULTS = ("tool", "tool_result", "function_call_output", "custom_tool_call_output")
_EVENT_STREAM = ("Content-Type: text/event-stream",)


@dataclass
class AgentModel:
    """`turns` has the steps of each turn, which are calls that are made at once; after the last
    step, and where the request declares no tools, the answer is the text `Done N.`, or that of
    `texts`.

    A turn of `held` gets the beginning of a stream, and no more: the caller has to give up. The
    last answer of a turn of `full` reports so many tokens of input, by which agents begin to
    compact.
    """

    turns: Mapping[int, Sequence[Sequence[Call]]]
    held: frozenset[int] = frozenset()
    full: Mapping[int, int] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    hangs: list[int] = field(default_factory=list)

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        path = received.target.partition("?")[0]
        if path.endswith(":countTokens"):
            answer(json.dumps({"totalTokens": _USAGE}).encode())(received, sock)
            return
        language = next((each for each in languages() if each.speaks(path)), None)
        if language is None:  # an agent that probes the address
            answer(status=404)(received, sock)
            return
        if received.line.startswith("GET "):  # a WebSocket, which it does not have
            answer(status=426)(received, sock)
            return
        body = json.loads(received.body)
        turn, results = position(body)
        calls = self._calls(turn, results) if body.get("tools") else ()
        usage = _USAGE if calls or not body.get("tools") else self.full.get(turn, _USAGE)
        writer = WRITERS[language.name](self.texts.get(turn, f"Done {turn}."), calls, usage)
        if _wants_compaction(body):
            writer = Compaction("", (), _USAGE)
        if not (body.get("stream") or path.endswith(":streamGenerateContent")):
            answer(json.dumps(writer.whole()).encode())(received, sock)
            return
        data = b"".join(writer.stream())
        if turn in self.held and body.get("tools"):
            self.hangs.append(turn)
            _hold(data, sock)
            return
        answer(data, _EVENT_STREAM)(received, sock)

    def _calls(self, turn: int, results: int) -> Sequence[Call]:
        """The next step of a turn with so many results."""
        for step in self.turns.get(turn, ()):
            if results <= 0:
                return step
            results -= len(step)
        return ()


def _wants_compaction(body: Json) -> bool:
    items = body.get("input")
    return isinstance(items, list) and items[-1].get("type") == "compaction_trigger"


def _hold(data: bytes, sock: socket.socket) -> None:
    """Send the first half of a stream, and wait until the other side has closed."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999999\r\n\r\n"
    sock.sendall(head.encode() + data[: data.index(b"\n\n", len(data) // 2) + 2])
    while sock.recv(1000):
        pass


def position(body: Json) -> tuple[int, int]:
    """The turn that a request is in, and the number of results since it began."""
    turn, results = 0, 0
    for role, item in items(body):
        if role == "result":
            results += 1
        elif role == "user" and (match := _TURN.findall(json.dumps(item))):
            turn, results = int(match[-1]), 0
    return turn, results


def tool_results(body: Json) -> list[Json]:
    """The results of tools in a request, in their order."""
    return [part for role, part in items(body) if role == "result"]


def items(body: Json) -> Iterator[tuple[str, Json]]:
    """The parts of a conversation in any language: each with `user`, `model` or `result`."""
    turns = body.get("messages", body.get("contents", body.get("input")))
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    for turn in turns or []:
        kind = turn.get("type", "message")
        role = turn.get("role", "result" if kind in _RESULTS else "assistant")
        parts = turn.get("content", turn.get("parts"))
        for part in parts if isinstance(parts, list) and role != "tool" else [turn]:
            has_type = role in ("tool", "result") or part.get("type") in _RESULTS
            if has_type or "functionResponse" in part or "toolResult" in part:
                yield "result", part
            else:
                yield "user" if role == "user" else "model", part
