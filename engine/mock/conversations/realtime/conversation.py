"""A session: events of the client in, events of the mock out.

The mock does no voice activity detection: `turn_detection` has no effect. A turn ends when the
caller commits the buffer and asks for a response.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Iterator

from engine.mock.conversations.realtime.client_events import (
    RESPONSE,
    SESSION,
    Event,
    Invalid,
    check_event,
    read,
)
from engine.mock.conversations.realtime.items import (
    Items,
    count,
    decode_audio,
    last_turn,
    new_item,
    transcript,
    without_audio,
)
from engine.mock.conversations.realtime.response import RealtimeResponse
from engine.mock.conversations.realtime.session import RealtimeSession

_MAX_APPEND = 15 * 1024 * 1024


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(10)}"


class RealtimeConversation:
    """One session with one caller.

    The iterator that `receive` returns for `response.create` is lazy: between two of its events,
    another event of the caller can cancel the response.
    """

    def __init__(
        self,
        model: str,
        *,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[str], str] = _new_id,
    ) -> None:
        self._new_id = new_id
        self._session = RealtimeSession(model, new_id("sess"), int(clock()))
        self._id = new_id("conv")
        self._items = Items()
        self._audio_buffer = bytearray()
        self._response: RealtimeResponse | None = None
        self._handlers: dict[str, Callable[[Event], Iterator[Event]]] = {
            "session.update": self._update,
            "conversation.item.create": self._create,
            "conversation.item.retrieve": self._retrieve,
            "conversation.item.truncate": self._truncate,
            "conversation.item.delete": self._delete,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "response.create": self._respond,
            "response.cancel": self._cancel,
        }

    def opening(self) -> list[Event]:
        """The first events of the mock."""
        return [self._event("session.created", session=self._session.settings())]

    def receive(self, message: str | bytes) -> Iterator[Event]:
        """The answer to a message of the caller; an `error` event if it is invalid."""
        event: Event = {}
        try:
            event = read(message)
            yield from self._handlers[check_event(event)](event)
        except Invalid as invalid:
            yield self._error(invalid, event_id=event.get("event_id"))

    def fail(self) -> Iterator[Event]:
        """An error of the mock; a response in progress ends as failed."""
        yield self._error(Invalid("mock_fault", "The mock was asked for an error."), "server_error")
        if self._response is not None:
            self._response.stop("failed")

    def _event(self, kind: str, **fields: object) -> Event:
        return {"type": kind, "event_id": self._new_id("event"), **fields}

    def _error(
        self, invalid: Invalid, kind: str = "invalid_request_error", event_id: object = None
    ) -> Event:
        error = {
            "type": kind,
            "code": invalid.code,
            "message": invalid.message,
            "param": invalid.param,
            "event_id": event_id if isinstance(event_id, str) else None,
        }
        return self._event("error", error=error)

    def _update(self, event: Event) -> Iterator[Event]:
        SESSION.check(event["session"], "session")
        self._session.update(event["session"])
        yield self._event("session.updated", session=self._session.settings())

    def _create(self, event: Event) -> Iterator[Event]:
        item = self._new_item(event["item"])
        before = self._items.add(item, event.get("previous_item_id"))
        yield self._item_event("added", item, before)
        yield self._item_event("done", item, before)

    def _item_event(self, change: str, item: Event, before: str | None) -> Event:
        kind = f"conversation.item.{change}"
        return self._event(kind, previous_item_id=before, item=without_audio(item))

    def _retrieve(self, event: Event) -> Iterator[Event]:
        item = self._items.get(event["item_id"], "item_retrieve_invalid_item_id")
        yield self._event("conversation.item.retrieved", item=item)

    def _delete(self, event: Event) -> Iterator[Event]:
        self._items.delete(event["item_id"], "item_delete_invalid_item_id")
        yield self._event("conversation.item.deleted", item_id=event["item_id"])

    def _truncate(self, event: Event) -> Iterator[Event]:
        position = {name: event[name] for name in ("item_id", "content_index", "audio_end_ms")}
        item = self._items.get(event["item_id"], "item_truncate_invalid_item_id")
        parts = item.get("content", ())
        index, end = int(event["content_index"]), int(event["audio_end_ms"])
        if not (0 <= index < len(parts) and parts[index]["type"] == "output_audio"):
            raise Invalid(
                "invalid_value", "Only audio of the mock can be truncated.", "content_index"
            )
        audio = base64.b64decode(parts[index].get("audio", ""))
        rate = self._session.response_settings({}).bytes_per_ms
        if not 0 <= end <= len(audio) // rate:
            raise Invalid("invalid_value", "The audio is shorter than that.", "audio_end_ms")
        audio_base64 = base64.b64encode(audio[: end * rate]).decode()
        parts[index].update(audio=audio_base64, transcript="")
        yield self._event("conversation.item.truncated", **position)

    def _append(self, event: Event) -> Iterator[Event]:
        audio = decode_audio(event["audio"], "audio")
        if len(audio) > _MAX_APPEND:
            raise Invalid("invalid_value", "'audio' must not hold more than 15 MiB.", "audio")
        self._audio_buffer += audio
        yield from ()

    def _clear(self, event: Event) -> Iterator[Event]:
        self._audio_buffer.clear()
        yield self._event("input_audio_buffer.cleared")

    def _commit(self, event: Event) -> Iterator[Event]:
        if not self._audio_buffer:
            raise Invalid("input_audio_buffer_commit_empty", "The buffer holds no audio.")
        part = {"type": "input_audio", "audio": base64.b64encode(self._audio_buffer).decode()}
        self._audio_buffer.clear()
        item = self._new_item({"type": "message", "role": "user", "content": [part]})
        before = self._items.add(item)
        at = {"previous_item_id": before, "item_id": item["id"]}
        yield self._event("input_audio_buffer.committed", **at)
        yield self._item_event("added", item, before)
        yield self._item_event("done", item, before)
        if self._session.transcribes():
            yield from self._transcribed(item)

    def _transcribed(self, item: Event) -> Iterator[Event]:
        rate = self._session.input_bytes_per_ms()
        part = item["content"][0]
        text = transcript(part, rate)
        tokens, at = count([item], "", rate), {"item_id": item["id"], "content_index": 0}
        part["transcript"] = text
        kind = "conversation.item.input_audio_transcription"
        output = len(text.split())
        usage = {
            "type": "tokens",
            "input_tokens": tokens.total,
            "input_token_details": {"text_tokens": tokens.text, "audio_tokens": tokens.audio},
            "output_tokens": output,
            "total_tokens": tokens.total + output,
        }
        yield self._event(f"{kind}.delta", **at, delta=text)
        yield self._event(f"{kind}.completed", **at, transcript=text, usage=usage)

    def _cancel(self, event: Event) -> Iterator[Event]:
        response_id = event.get("response_id")
        if self._response is None or response_id not in (None, self._response.response_id):
            raise Invalid("response_cancel_not_active", "No such response is in progress.")
        self._response.stop("cancelled")
        yield from ()

    def _respond(self, request: Event) -> Iterator[Event]:
        if self._response is not None:
            raise Invalid(
                "conversation_already_has_active_response",
                f"Response '{self._response.response_id}' is still in progress.",
            )
        # LiveKit's plug-in writes null for what it does not set.
        settings = request.get("response", {})
        parameters = {name: value for name, value in settings.items() if value is not None}
        RESPONSE.check(parameters, "response")
        self._response = response = self._start_response(parameters)
        in_conversation = parameters.get("conversation") != "none"
        item: Event = {}
        before: str | None = None
        try:
            for event in response.events():
                yield event
                if in_conversation and event["type"] == "response.output_item.added":
                    item = response.item()
                    before = self._items.add(item)
                    yield self._item_event("added", item, before)
                elif in_conversation and event["type"] == "response.output_item.done":
                    item.update(response.item())
                    yield self._item_event("done", item, before)
        finally:
            self._response = None

    def _start_response(self, parameters: Event) -> RealtimeResponse:
        settings = self._session.response_settings(parameters)
        items = list(self._items)
        if "input" in parameters:
            items = [
                self._new_item(item, f"response.input[{number}]")
                for number, item in enumerate(parameters["input"])
            ]
        rate = self._session.input_bytes_per_ms()
        return RealtimeResponse(
            settings=settings,
            turn=last_turn(items, rate),
            input_tokens=count(items, settings.instructions, rate),
            response_id=self._new_id("resp"),
            item_id=self._new_id("item"),
            conversation_id="" if parameters.get("conversation") == "none" else self._id,
            event=self._event,
        )

    def _new_item(self, item: Event, at: str = "item") -> Event:
        return new_item(item, self._new_id("item"), at)
