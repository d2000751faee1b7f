"""The kinds of requests before a config that has many of something: thousands of models."""

from __future__ import annotations

from benchmarks.stall.kind import CHAT, Kind, chat

MODELS = 5_000
"""Models of the gateway `crowd`."""


def many_models() -> str:
    """The lines of that many entries of `models`."""
    return "".join(f"  m-{number:05}: *chat\n" for number in range(MODELS))


CROWD_KINDS = (
    Kind("list of 5,000 models", "/v1/models", bytes, "crowd", method="GET"),
    Kind("list of Gemini's of 5,000", "/v1beta/models", bytes, "crowd", method="GET"),
    Kind("one of 5,000 models", "/v1/models/m-04711", bytes, "crowd", method="GET"),
    Kind("none of 5,000 models", "/v1/models/m-4711", bytes, "crowd", 404, method="GET"),
    Kind("chat with none of 5,000", CHAT, lambda: chat("m-4711", "x"), "crowd", 404),
    Kind("chat with one of 5,000", CHAT, lambda: chat("m-04711", "x"), "crowd"),
)
