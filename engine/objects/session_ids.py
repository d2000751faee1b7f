"""Ids in the messages of a WebSocket: opened on their way to the upstream, sealed on their way to
the caller."""

from __future__ import annotations

import orjson

from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener, not_found
from engine.objects.id_place_names import PlaceNames
from engine.objects.id_places import JsonName
from engine.objects.loose_places import find_loosely, hides_ids
from engine.objects.response_ids import ResponseSealer
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits, edits
from engine.values.json_spans import Ambiguous, JsonPath, has_escaped_ascii, refuse_repeated_names
from engine.values.trees import value_at

MESSAGE = "message"
"""The location of places in the messages of a session."""


class SessionIds:
    """The ids of one session, which is at a `holder`: objects at another place are refused."""

    def __init__(
        self,
        facts: ObjectFacts,
        opener: IdOpener,
        sealer: ResponseSealer,
        owner: bytes,
        holder: Holder,
        json_name: JsonName | None = None,
    ) -> None:
        self._opener, self._sealer, self._json_name = opener, sealer, json_name
        self._owner, self._holder = owner, holder
        self._places = tuple(place for place in facts.names if place.location == MESSAGE)
        self._names = PlaceNames(self._places, json_name, lower=True)

    def sent(self, message: bytes) -> bytes:
        """A message of the caller with the vendor's ids. Raises GatewayError 400 and 404 for one
        that must not be sent."""
        if not self._may_have_ids(message):
            return message
        try:
            value = orjson.loads(message)
            refuse_repeated_names(message)
        except orjson.JSONDecodeError as error:
            raise GatewayError(400, "invalid_json", "The message is not valid JSON.") from error
        except Ambiguous as error:
            raise GatewayError(400, "invalid_value", f"The message {error}.") from error
        opened = OpenedIds(self._owner, self._holder, "session")
        changes: dict[JsonPath, bytes | None] = {}
        for place in self._places:
            for path in find_loosely(value, place.steps, self._json_name):
                text = value_at(value, path)
                if not self._opener.passes and hides_ids(text, place, self._places):
                    raise not_found()
                parts = place.split(text) if isinstance(text, str) else None
                if parts is None:
                    continue
                before, name, after = parts
                vendor = self._opener.open(name, place.kind, place.prefix, opened)
                if vendor is not None:
                    changes[path] = orjson.dumps(before + vendor + after)
        return apply_edits(message, edits(message, changes)) if changes else message

    def received(self, message: bytes) -> bytes:
        """A message of the upstream with sealed ids."""
        return self._sealer.json_of(message, MESSAGE)

    def _may_have_ids(self, message: bytes) -> bool:
        if not self._places:
            return False
        return bool(self._names.places_in(message.lower())) or has_escaped_ascii(message)


def has_messages(facts: ObjectFacts | None) -> bool:
    """Whether the messages of an operation's sessions have ids."""
    if facts is None:
        return False
    return any(place.location == MESSAGE for place in (*facts.names, *facts.creates))
