"""The kinds of messages over WebSockets: compressed ones, and those of Gemini Live."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.stall.kind import Kind, dumped
from engine.relay.websocket.open_sessions import SessionLimits

_MAX = SessionLimits().max_message
_REALTIME = "/v1/realtime?model=gpt-realtime"
_LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
_SETUP = dumped({"setup": {"model": "models/gemini-live-large"}})


def _audio(text: str) -> Callable[[], bytes]:
    """An event of the Realtime API as large as a message may be."""
    event = {"type": "input_audio_buffer.append", "audio": ""}
    return lambda: dumped({**event, "audio": text * ((_MAX - 100) // len(text))})


def _noise() -> str:
    """100,000 characters that hardly get smaller."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(random.Random(1).choices(letters, k=100_000))


def _live() -> bytes:
    audio = {"data": "QUJD" * ((_MAX - 200) // 4), "mimeType": "audio/pcm"}
    return dumped({"realtimeInput": {"audio": audio}})


def _live_turns() -> bytes:
    turn = {"role": "user", "parts": [{"text": "And then? "}]}
    return dumped(
        {"clientContent": {"turns": [turn] * ((_MAX - 200) // len(dumped(turn)) * 9 // 10)}}
    )


def _turn() -> bytes:
    item = {"role": "user", "content": "Some words of a conversation. "}
    items = [item] * (_MAX * 9 // 10 // (len(dumped(item)) + 2))
    return dumped({"type": "response.create", "model": "gpt-turn", "input": items, "store": False})


SOCKET_KINDS = (
    Kind("compressed: the same letters", _REALTIME, _audio("QUJD"), "sockets", 101, deflate=True),
    Kind("compressed: noise", _REALTIME, _audio(_noise()), "sockets", 101, deflate=True),
    Kind("compressed: a turn", "/v1/responses", _turn, "sockets", 101, deflate=True),
    Kind("Live: audio", _LIVE, _live, "sockets", 101, first=_SETUP),
    Kind("Live: turns", _LIVE, _live_turns, "sockets", 101, first=_SETUP),
    Kind("Live: turns, edited", _LIVE, _live_turns, "judged", 101, first=_SETUP),
    Kind("Live: turns, compressed", _LIVE, _live_turns, "sockets", 101, deflate=True, first=_SETUP),
)
