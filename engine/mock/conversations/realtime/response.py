"""One response: its events from `response.created` to `response.done`.

The events are a generator, which can be stopped between two events. As in the vendor's API, the
parts that were begun are then closed.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil

import orjson

from engine.mock.conversations.realtime.client_events import Event
from engine.mock.conversations.realtime.items import Tokens, Turn, without_audio
from engine.mock.conversations.realtime.session import ResponseSettings
from engine.mock.examples import words

PIECE_MS = 100
_MS_PER_TOKEN = 50
_REASONS: dict[str, Event] = {
    "cancelled": {"reason": "client_cancelled"},
    "incomplete": {"reason": "max_output_tokens"},
    "failed": {"error": {"type": "server_error", "code": "mock_fault"}},
}
"""The members of `status_details` by status, in addition to `type`."""


@dataclass
class RealtimeResponse:
    """A response in progress. `event` makes an event from its name and fields.

    `conversation_id` is "" for a response outside the conversation.
    """

    settings: ResponseSettings
    turn: Turn
    input_tokens: Tokens
    response_id: str
    item_id: str
    conversation_id: str
    event: Callable[..., Event]

    def __post_init__(self) -> None:
        self._status = "in_progress"
        self._text = ""
        self._audio = b""
        self._call_id = self.item_id.replace("item", "call", 1)
        self._tool = self.settings.tool

    def stop(self, status: str) -> None:
        """End before the next piece, with one of the statuses of `_REASONS`."""
        self._status = status

    def events(self) -> Iterator[Event]:
        """All events, or those until `stop` and the closing ones."""
        yield self.event("response.created", response=self._response([]))
        at = {"response_id": self.response_id, "output_index": 0}
        yield self.event("response.output_item.added", **at, item=without_audio(self.item()))
        yield from self._function_call() if self._tool else self._message()
        if self._status == "in_progress":
            self._status = "completed"
        item = without_audio(self.item())
        yield self.event("response.output_item.done", **at, item=item)
        yield self.event("response.done", response=self._response([item], self._usage()))

    def item(self) -> Event:
        """The part of the response that has been sent, as an item of the conversation."""
        ended_early = self._status not in ("in_progress", "completed")
        status = "incomplete" if ended_early else self._status
        item: Event = {"id": self.item_id, "object": "realtime.item", "status": status}
        if self._tool:
            call = {"call_id": self._call_id, "name": self._tool, "arguments": self._text}
            return {**item, "type": "function_call", **call}
        content: Event = {"type": "output_text", "text": self._text}
        if self.settings.audio:
            audio = base64.b64encode(self._audio).decode()
            content = {"type": "output_audio", "transcript": self._text, "audio": audio}
        contents = [content] if status != "in_progress" else []
        return {**item, "type": "message", "role": "assistant", "content": contents}

    def _message(self) -> Iterator[Event]:
        at = {**self._at(), "content_index": 0}
        yield self.event("response.content_part.added", **at, part=self._part())
        events = self._audio_events if self.settings.audio else self._text_events
        yield from events(at)
        yield self.event("response.content_part.done", **at, part=self._part())

    def _text_events(self, at: Event) -> Iterator[Event]:
        for word, _ in self._pieces():
            yield self.event("response.output_text.delta", **at, delta=word)
        yield self.event("response.output_text.done", **at, text=self._text)

    def _audio_events(self, at: Event) -> Iterator[Event]:
        for word, audio in self._pieces():
            if word:
                yield self.event("response.output_audio_transcript.delta", **at, delta=word)
            if audio:
                delta = base64.b64encode(audio).decode()
                yield self.event("response.output_audio.delta", **at, delta=delta)
        yield self.event("response.output_audio.done", **at)
        yield self.event("response.output_audio_transcript.done", **at, transcript=self._text)

    def _function_call(self) -> Iterator[Event]:
        at = {**self._at(), "call_id": self._call_id}
        arguments = orjson.dumps({"said": self.turn.text}).decode()
        for word in words(arguments):
            if self._status != "in_progress":
                break
            self._text += word
            yield self.event("response.function_call_arguments.delta", **at, delta=word)
        yield self.event(
            "response.function_call_arguments.done", **at, name=self._tool, arguments=self._text
        )

    def _pieces(self) -> Iterator[tuple[str, bytes]]:
        """Words with pieces of audio, until the response is complete, stopped, or at its limit."""
        size = PIECE_MS * self.settings.bytes_per_ms
        texts = words(self.turn.text) if self.turn.text else []
        audio = self.turn.audio or bytes(size * len(texts))
        pieces = [audio[start : start + size] for start in range(0, len(audio), size)]
        for word, piece in zip_longest(texts, pieces, fillvalue=None):
            if self._status != "in_progress":
                return
            if (
                self.settings.limit is not None
                and self._output_tokens().total >= self.settings.limit
            ):
                self._status = "incomplete"
                return
            if self.settings.audio:
                self._audio += piece or b""
            elif word is None:
                return
            self._text += word or ""
            yield word or "", piece or b""

    def _output_tokens(self) -> Tokens:
        ms = len(self._audio) / self.settings.bytes_per_ms
        return Tokens(len(self._text.split()), ceil(ms / _MS_PER_TOKEN))

    def _at(self) -> Event:
        return {"response_id": self.response_id, "item_id": self.item_id, "output_index": 0}

    def _part(self) -> Event:
        if self.settings.audio:
            return {"type": "audio", "transcript": self._text}
        return {"type": "text", "text": self._text}

    def _response(self, output: list[Event], usage: Event | None = None) -> Event:
        response: Event = {
            "id": self.response_id,
            "object": "realtime.response",
            "status": self._status,
            "output": output,
            **self.settings.fields,
        }
        if self.conversation_id:
            response["conversation_id"] = self.conversation_id
        if self._status in _REASONS:
            response["status_details"] = {"type": self._status, **_REASONS[self._status]}
        return response if usage is None else {**response, "usage": usage}

    def _usage(self) -> Event:
        tokens_in, tokens_out = self.input_tokens, self._output_tokens()
        no_tokens = {"text_tokens": 0, "audio_tokens": 0, "image_tokens": 0}
        return {
            "total_tokens": tokens_in.total + tokens_out.total,
            "input_tokens": tokens_in.total,
            "output_tokens": tokens_out.total,
            "input_token_details": {
                "text_tokens": tokens_in.text,
                "audio_tokens": tokens_in.audio,
                "image_tokens": tokens_in.image,
                "cached_tokens": 0,
                "cached_tokens_details": no_tokens,
            },
            "output_token_details": {
                "text_tokens": tokens_out.text,
                "audio_tokens": tokens_out.audio,
            },
        }
