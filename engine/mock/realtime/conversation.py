"""A whole session: the caller's events in, the mock's events out.

The mock hears no end of speech: whatever `turn_detection` says, a turn ends when the caller commits
the buffer and asks for a response.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Iterator

from engine.mock.realtime.asked import checked, read
from engine.mock.realtime.items import (
    Items,
    count,
    decoded,
    heard,
    made,
    said_last,
    shown,
)
from engine.mock.realtime.reply import Reply
from engine.mock.realtime.session import Session
from engine.mock.realtime.shapes import Wrong, check
from engine.mock.realtime.version import BETA, GA, Event

_LONGEST_APPEND = 15 * 1024 * 1024


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(10)}"


class Conversation:
    """One session with one caller. `beta` asks for the older generation of events.

    The iterator that `receive` returns for `response.create` is lazy: a reply can be cancelled by
    another event between two of its own, which is what an interruption is.
    """

    def __init__(
        self,
        model: str,
        *,
        beta: bool = False,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[str], str] = _new_id,
    ) -> None:
        self._version = BETA if beta else GA
        self._new_id = new_id
        self._session = Session(self._version, model, new_id("sess"), int(clock()))
        self._id = new_id("conv")
        self._items = Items()
        self._heard = bytearray()
        self._reply: Reply | None = None
        self._answers: dict[str, Callable[[Event], Iterator[Event]]] = {
            "session.update": self._update,
            "conversation.item.create": self._create,
            "conversation.item.retrieve": self._retrieve,
            "conversation.item.truncate": self._truncate,
            "conversation.item.delete": self._delete,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "output_audio_buffer.clear": self._clear_output,
            "response.create": self._respond,
            "response.cancel": self._cancel,
        }

    def opening(self) -> list[Event]:
        """What the mock says first."""
        return [self._event("session.created", session=self._session.shown())]

    def receive(self, message: Event | str | bytes) -> Iterator[Event]:
        """The answer to one message of the caller's; what cannot be served is an `error` event."""
        event: Event = {}
        try:
            event = read(message)
            yield from self._answers[checked(event)](event)
        except Wrong as wrong:
            yield self._error(wrong, event_id=event.get("event_id"))

    def fail(self) -> Iterator[Event]:
        """An error of the mock's own; a reply on its way ends as failed."""
        yield self._error(Wrong("mock_fault", "The mock was asked for an error."), "server_error")
        if self._reply is not None:
            self._reply.stop("failed")

    def _event(self, kind: str, **fields: object) -> Event:
        return {"type": self._version.named(kind), "event_id": self._new_id("event"), **fields}

    def _error(
        self, wrong: Wrong, kind: str = "invalid_request_error", event_id: object = None
    ) -> Event:
        error = {
            "type": kind,
            "code": wrong.code,
            "message": wrong.message,
            "param": wrong.param,
            "event_id": event_id if isinstance(event_id, str) else None,
        }
        return self._event("error", error=error)

    def _update(self, event: Event) -> Iterator[Event]:
        check(event["session"], self._version.session, "session")
        self._session.update(event["session"])
        yield self._event("session.updated", session=self._session.shown())

    def _create(self, event: Event) -> Iterator[Event]:
        item = self._made(event["item"])
        before = self._items.add(item, event.get("previous_item_id"))
        yield from self._added(item, before)
        yield from self._done(item, before)

    def _added(self, item: Event, before: str | None) -> list[Event]:
        kind = "created" if self._version.beta else "added"
        return [self._placed(f"conversation.item.{kind}", item, before)]

    def _done(self, item: Event, before: str | None) -> list[Event]:
        return [] if self._version.beta else [self._placed("conversation.item.done", item, before)]

    def _placed(self, kind: str, item: Event, before: str | None) -> Event:
        return self._event(kind, previous_item_id=before, item=shown(item))

    def _retrieve(self, event: Event) -> Iterator[Event]:
        item = self._items.get(event["item_id"], "item_retrieve_invalid_item_id")
        yield self._event("conversation.item.retrieved", item=item)

    def _delete(self, event: Event) -> Iterator[Event]:
        self._items.delete(event["item_id"], "item_delete_invalid_item_id")
        yield self._event("conversation.item.deleted", item_id=event["item_id"])

    def _truncate(self, event: Event) -> Iterator[Event]:
        place = {name: event[name] for name in ("item_id", "content_index", "audio_end_ms")}
        item = self._items.get(event["item_id"], "item_truncate_invalid_item_id")
        parts, index, end = item.get("content", ()), event["content_index"], event["audio_end_ms"]
        if not (0 <= index < len(parts) and parts[index]["type"] == self._version.sound):
            raise Wrong("invalid_value", "Only sound of the mock can be cut.", "content_index")
        sound = base64.b64decode(parts[index].get("audio", ""))
        rate = self._session.manner({}).bytes_per_ms
        if not 0 <= end <= len(sound) // rate:
            raise Wrong("invalid_value", "The sound is not as long as that.", "audio_end_ms")
        left = base64.b64encode(sound[: end * rate]).decode()
        parts[index].update(audio=left, transcript="")
        yield self._event("conversation.item.truncated", **place)

    def _append(self, event: Event) -> Iterator[Event]:
        sound = decoded(event["audio"], "audio")
        if len(sound) > _LONGEST_APPEND:
            raise Wrong("invalid_value", "'audio' must not hold more than 15 MiB.", "audio")
        self._heard += sound
        yield from ()

    def _clear(self, event: Event) -> Iterator[Event]:
        self._heard.clear()
        yield self._event("input_audio_buffer.cleared")

    def _commit(self, event: Event) -> Iterator[Event]:
        if not self._heard:
            raise Wrong("input_audio_buffer_commit_empty", "There is no sound in the buffer.")
        part = {"type": "input_audio", "audio": base64.b64encode(self._heard).decode()}
        self._heard.clear()
        item = self._made({"type": "message", "role": "user", "content": [part]})
        before = self._items.add(item)
        at = {"previous_item_id": before, "item_id": item["id"]}
        yield self._event("input_audio_buffer.committed", **at)
        yield from self._added(item, before)
        yield from self._done(item, before)
        if self._session.transcribes():
            yield from self._transcribed(item)

    def _transcribed(self, item: Event) -> Iterator[Event]:
        rate = self._session.input_bytes_per_ms()
        part = item["content"][0]
        text = heard(part, rate)
        read, at = count([item], "", rate), {"item_id": item["id"], "content_index": 0}
        part["transcript"] = text
        kind = "conversation.item.input_audio_transcription"
        spent = len(text.split())
        usage = {
            "type": "tokens",
            "input_tokens": read.total,
            "input_token_details": {"text_tokens": read.text, "audio_tokens": read.audio},
            "output_tokens": spent,
            "total_tokens": read.total + spent,
        }
        yield self._event(f"{kind}.delta", **at, delta=text)
        yield self._event(f"{kind}.completed", **at, transcript=text, usage=usage)

    def _clear_output(self, event: Event) -> Iterator[Event]:
        # The buffer is the caller's own player, of which the mock knows only whose sound is in it.
        if self._reply is None:
            raise Wrong("output_audio_buffer_not_active", "No sound is on its way.")
        yield self._event("output_audio_buffer.cleared", response_id=self._reply.response_id)

    def _cancel(self, event: Event) -> Iterator[Event]:
        wanted = event.get("response_id")
        if self._reply is None or wanted not in (None, self._reply.response_id):
            raise Wrong("response_cancel_not_active", "No such response is on its way.")
        self._reply.stop("cancelled")
        yield from ()

    def _respond(self, event: Event) -> Iterator[Event]:
        if self._reply is not None:
            raise Wrong(
                "conversation_already_has_active_response",
                f"Response '{self._reply.response_id}' is still on its way.",
            )
        wanted = event.get("response", {})
        check(wanted, self._version.reply, "response")
        self._reply = reply = self._begun(wanted)
        kept = wanted.get("conversation") != "none"
        item: Event = {}
        before: str | None = None
        try:
            for said in reply.events():
                yield said
                if kept and said["type"] == "response.output_item.added":
                    item = reply.item()
                    before = self._items.add(item)
                    yield from self._added(item, before)
                elif kept and said["type"] == "response.output_item.done":
                    item.update(reply.item())
                    yield from self._done(item, before)
        finally:
            self._reply = None

    def _begun(self, wanted: Event) -> Reply:
        manner = self._session.manner(wanted)
        items = list(self._items)
        if "input" in wanted:
            items = [
                self._made(item, f"response.input[{number}]")
                for number, item in enumerate(wanted["input"])
            ]
        rate = self._session.input_bytes_per_ms()
        return Reply(
            version=self._version,
            manner=manner,
            said=said_last(items, rate),
            read=count(items, manner.instructions, rate),
            response_id=self._new_id("resp"),
            item_id=self._new_id("item"),
            conversation_id="" if wanted.get("conversation") == "none" else self._id,
            event=self._event,
        )

    def _made(self, item: Event, at: str = "item") -> Event:
        return made(item, self._new_id("item"), self._version, at)
