"""One reply: the events of a response from `response.created` to `response.done`.

It is a generator that can be stopped between two events: what was said until then is closed
properly, as the vendor does it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil

import orjson

from engine.mock.examples import words
from engine.mock.realtime.items import Said, Tokens, shown
from engine.mock.realtime.session import Manner
from engine.mock.realtime.version import Event, Version

PIECE_MS = 100
_MS_PER_TOKEN = 50
_REASONS: dict[str, Event] = {
    "cancelled": {"reason": "client_cancelled"},
    "incomplete": {"reason": "max_output_tokens"},
    "failed": {"error": {"type": "server_error", "code": "mock_fault"}},
}
"""What `status_details` says beside the status itself."""


@dataclass
class Reply:
    """A response on its way. `event` makes an event of its name and fields.

    `conversation_id` is "" for one that leaves no trace in the conversation.
    """

    version: Version
    manner: Manner
    said: Said
    read: Tokens
    response_id: str
    item_id: str
    conversation_id: str
    event: Callable[..., Event]

    def __post_init__(self) -> None:
        self._status = "in_progress"
        self._text = ""
        self._sound = b""
        self._call_id = self.item_id.replace("item", "call", 1)
        self._tool = self.manner.tool

    def stop(self, status: str) -> None:
        """End before the next piece, with one of the statuses of `_REASONS`."""
        self._status = status

    def events(self) -> Iterator[Event]:
        """The whole response; `stop` shortens it."""
        yield self.event("response.created", response=self._response([]))
        at = {"response_id": self.response_id, "output_index": 0}
        yield self.event("response.output_item.added", **at, item=shown(self.item()))
        yield from self._called() if self._tool else self._spoken()
        if self._status == "in_progress":
            self._status = "completed"
        item = shown(self.item())
        yield self.event("response.output_item.done", **at, item=item)
        yield self.event("response.done", response=self._response([item], self._usage()))

    def item(self) -> Event:
        """The reply as an item of the conversation, as far as it has come."""
        done = {"in_progress": "in_progress", "completed": "completed"}
        status = done.get(self._status, "incomplete")
        item: Event = {"id": self.item_id, "object": "realtime.item", "status": status}
        if self._tool:
            call = {"call_id": self._call_id, "name": self._tool, "arguments": self._text}
            return {**item, "type": "function_call", **call}
        content: Event = {"type": self.version.text, "text": self._text}
        if self.manner.sound:
            audio = base64.b64encode(self._sound).decode()
            content = {"type": self.version.sound, "transcript": self._text, "audio": audio}
        contents = [content] if status != "in_progress" else []
        return {**item, "type": "message", "role": "assistant", "content": contents}

    def _spoken(self) -> Iterator[Event]:
        at = {**self._at(), "content_index": 0}
        yield self.event("response.content_part.added", **at, part=self._part())
        speak = self._in_sound if self.manner.sound else self._in_text
        yield from speak(at)
        yield self.event("response.content_part.done", **at, part=self._part())

    def _in_text(self, at: Event) -> Iterator[Event]:
        for word, _ in self._pieces():
            yield self.event("response.output_text.delta", **at, delta=word)
        yield self.event("response.output_text.done", **at, text=self._text)

    def _in_sound(self, at: Event) -> Iterator[Event]:
        for word, sound in self._pieces():
            if word:
                yield self.event("response.output_audio_transcript.delta", **at, delta=word)
            if sound:
                delta = base64.b64encode(sound).decode()
                yield self.event("response.output_audio.delta", **at, delta=delta)
        yield self.event("response.output_audio.done", **at)
        yield self.event("response.output_audio_transcript.done", **at, transcript=self._text)

    def _called(self) -> Iterator[Event]:
        at = {**self._at(), "call_id": self._call_id}
        arguments = orjson.dumps({"said": self.said.text}).decode()
        for word in words(arguments):
            if self._status != "in_progress":
                break
            self._text += word
            yield self.event("response.function_call_arguments.delta", **at, delta=word)
        yield self.event(
            "response.function_call_arguments.done", **at, name=self._tool, arguments=self._text
        )

    def _pieces(self) -> Iterator[tuple[str, bytes]]:
        """Words and sound side by side, until the reply is whole, stopped, or long enough."""
        size = PIECE_MS * self.manner.bytes_per_ms
        said = words(self.said.text) if self.said.text else []
        sound = self.said.sound or bytes(size * len(said))
        cut = [sound[start : start + size] for start in range(0, len(sound), size)]
        for word, piece in zip_longest(said, cut, fillvalue=None):
            if self._status != "in_progress":
                return
            if self.manner.limit is not None and self._spent().total >= self.manner.limit:
                self._status = "incomplete"
                return
            if self.manner.sound:
                self._sound += piece or b""
            elif word is None:
                return
            self._text += word or ""
            yield word or "", piece or b""

    def _spent(self) -> Tokens:
        ms = len(self._sound) / self.manner.bytes_per_ms
        return Tokens(len(self._text.split()), ceil(ms / _MS_PER_TOKEN))

    def _at(self) -> Event:
        return {"response_id": self.response_id, "item_id": self.item_id, "output_index": 0}

    def _part(self) -> Event:
        if self.manner.sound:
            return {"type": "audio", "transcript": self._text}
        return {"type": "text", "text": self._text}

    def _response(self, output: list[Event], usage: Event | None = None) -> Event:
        response: Event = {
            "id": self.response_id,
            "object": "realtime.response",
            "status": self._status,
            "output": output,
            **self.manner.shown,
        }
        if self.conversation_id:
            response["conversation_id"] = self.conversation_id
        if self._status in _REASONS:
            response["status_details"] = {"type": self._status, **_REASONS[self._status]}
        return response if usage is None else {**response, "usage": usage}

    def _usage(self) -> Event:
        read, spent = self.read, self._spent()
        nothing = {"text_tokens": 0, "audio_tokens": 0, "image_tokens": 0}
        return {
            "total_tokens": read.total + spent.total,
            "input_tokens": read.total,
            "output_tokens": spent.total,
            "input_token_details": {
                "text_tokens": read.text,
                "audio_tokens": read.audio,
                "image_tokens": read.image,
                "cached_tokens": 0,
                "cached_tokens_details": nothing,
            },
            "output_token_details": {"text_tokens": spent.text, "audio_tokens": spent.audio},
        }
