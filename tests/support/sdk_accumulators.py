"""The answers of the official SDKs for the bytes of a response, without a network: an answer in one
piece is parsed, a stream accumulated, as the SDK does it for its users."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import httpx2
from anthropic import Anthropic
from google import genai
from google.genai import types
from openai import ContentFilterFinishReasonError, LengthFinishReasonError, OpenAI

_TURN: Any = [{"role": "user", "content": "Hi"}]


class _Wire:
    """A transport that answers every request with the same response."""

    body = b""
    kind = ""

    def __call__(self, request: Any) -> Any:
        headers = {"content-type": self.kind}
        return httpx2.Response(200, headers=headers, content=self.body)


@cache
def _wire() -> _Wire:
    return _Wire()


@cache
def _http() -> httpx2.Client:
    return httpx2.Client(transport=httpx2.MockTransport(_wire()))


@cache
def _openai() -> OpenAI:
    return OpenAI(base_url="http://a", api_key="k", max_retries=0, http_client=_http())


@cache
def _anthropic() -> Anthropic:
    return Anthropic(base_url="http://a", api_key="k", max_retries=0, http_client=_http())


@cache
def _genai() -> genai.Client:
    options = types.HttpOptions(base_url="http://a", httpx_client=_http())
    return genai.Client(api_key="k", http_options=options)


def _chat(stream: bool) -> Any:
    if not stream:
        return _openai().chat.completions.create(model="m", messages=_TURN)
    with _openai().chat.completions.stream(model="m", messages=_TURN) as streaming:
        with suppress(LengthFinishReasonError, ContentFilterFinishReasonError):
            streaming.until_done()  # it says so of an answer that was cut
        return streaming.current_completion_snapshot


def _responses(stream: bool) -> Any:
    if not stream:
        return _openai().responses.create(model="m", input="Hi")
    with _openai().responses.stream(model="m", input="Hi") as streaming:
        return [event.response for event in streaming if hasattr(event, "response")][-1]


def _messages(stream: bool) -> Any:
    if not stream:
        return _anthropic().messages.create(model="m", max_tokens=9, messages=_TURN)
    with _anthropic().messages.stream(model="m", max_tokens=9, messages=_TURN) as streaming:
        return streaming.get_final_message()


def _generate(stream: bool) -> Any:
    models = _genai().models
    if not stream:
        return [models.generate_content(model="m", contents="Hi")]
    return list(models.generate_content_stream(model="m", contents="Hi"))


_SDKS: dict[str, Callable[[bool], Any]] = {
    "chat_completions": _chat,
    "responses": _responses,
    "messages": _messages,
    "generate_content": _generate,
}


def as_sdk(language: str, body: bytes, *, stream: bool) -> list[dict[str, Any]]:
    """The JSON of what the SDK of a language makes of a response: for Gemini, of each chunk. Raises
    what the SDK raises."""
    wire = _wire()
    wire.body, wire.kind = body, "text/event-stream" if stream else "application/json"
    answer = _SDKS[language](stream)
    answers = answer if isinstance(answer, list) else [answer]
    options = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}
    return [each.model_dump(**options) for each in answers]
