"""The kinds with very many, very small or very long items or lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.stall.kind import CHAT, NOT_LARGE, SIZE, Kind, chat, dumped, small

_EMBEDDINGS = "/v1/embeddings"
_GEMINI = "/v1beta/models/gemini-2.5-flash:generateContent"
_MESSAGES = "/v1/messages"


def _tiny_messages(model: str, size: int) -> Callable[[], bytes]:
    message = {"role": "user", "content": "a"}
    return lambda: dumped({"model": model, "messages": [message] * (size // 33)})


def _tiny_parts(model: str, size: int) -> Callable[[], bytes]:
    part = {"type": "text", "text": "a"}
    return lambda: chat(model, [part] * (size // 30))


def _tiny_items(size: int) -> Callable[[], bytes]:
    item = {"role": "user", "content": ""}
    return lambda: dumped({"model": "gpt-4o", "input": [item] * (size // 33)})


def _tiny_contents(size: int) -> Callable[[], bytes]:
    return lambda: dumped({"contents": [{"parts": [{}]}] * (size // 19)})


def _tiny_blocks(size: int) -> Callable[[], bytes]:
    block = {"type": "text", "text": "a"}
    message: dict[str, Any] = {"role": "user", "content": [block] * (size // 31)}
    return lambda: dumped({"model": "claude-x", "max_tokens": 1, "messages": [message]})


def _streamed(title: str, model: str, *gateways: str) -> tuple[Kind, ...]:
    """Streams of a model, relayed and by gateways that read them."""
    names = {"judged": "edited", "guarded": "guarded"}
    return (
        Kind(f"answer: {title}", CHAT, small(model, stream=True)),
        *(
            Kind(f"answer: {title}, {names[g]}", CHAT, small(model, stream=True), g)
            for g in gateways
        ),
    )


_BOTH = "judged", "guarded"
SHAPE_KINDS = (
    Kind("tiny messages, not large", CHAT, _tiny_messages("gpt-4o", NOT_LARGE)),
    Kind("tiny messages, translated", CHAT, _tiny_messages("claude-small", SIZE), status=400),
    Kind("tiny messages, not large, translated", CHAT, _tiny_messages("claude-small", NOT_LARGE)),
    Kind("tiny messages, not large, guarded", CHAT, _tiny_messages("gpt-4o", NOT_LARGE), "guarded"),
    Kind("tiny messages, not large, judged", CHAT, _tiny_messages("gpt-4o", NOT_LARGE), "judged"),
    Kind("tiny parts, not large, translated", CHAT, _tiny_parts("claude-small", NOT_LARGE)),
    Kind("tiny parts, not large, guarded", CHAT, _tiny_parts("gpt-4o", NOT_LARGE), "guarded"),
    Kind("tiny items, not large", "/v1/responses", _tiny_items(NOT_LARGE)),
    Kind("tiny contents, not large", _GEMINI, _tiny_contents(NOT_LARGE)),
    Kind("tiny blocks, not large", _MESSAGES, _tiny_blocks(NOT_LARGE)),
    *_streamed("a million empty lines", "gpt-empty-lines", *_BOTH),
    *_streamed("a million CR", "gpt-empty-returns", *_BOTH),
    *_streamed("events of CR", "gpt-returns", *_BOTH),
    *_streamed("a line of 10 MB", "gpt-line", *_BOTH),
    *_streamed("a comment of 10 MB", "gpt-comment", *_BOTH),
    *_streamed("an id of 10 MB", "gpt-field", *_BOTH),
    *_streamed("100 MB of events in gzip", "gpt-events-bomb", *_BOTH),
    *_streamed("20 MB of comments in deflate", "gpt-ping-bomb", *_BOTH),
    Kind("answer: a delta of 10 MB, translated", CHAT, small("claude-line", stream=True)),
    Kind("answer: a million blocks, translated", CHAT, small("claude-tiny-blocks"), status=502),
    Kind("answer: 300,000 choices", CHAT, small("gpt-tiny-choices")),
    Kind("answer: 300,000 choices, edited", CHAT, small("gpt-tiny-choices"), "judged"),
    Kind("answer: 300,000 choices, guarded", CHAT, small("gpt-tiny-choices"), "guarded"),
    Kind(
        "answer: a million vectors, guarded",
        _EMBEDDINGS,
        lambda: dumped({"model": "text-embedding-tiny", "input": "x"}),
        "guarded",
    ),
)
