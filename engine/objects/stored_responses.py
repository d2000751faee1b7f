"""Responses that the records keep, each with the whole conversation before it, compressed and
encrypted. So one read gives all that another vendor needs, and a deleted or expired response takes
nothing from those that continue it; the price is a longer row for each turn.
"""

from __future__ import annotations

import hashlib
import logging
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from engine.exchange.stage_services import ResponseStore
from engine.objects.response_items import join_items, output_items
from engine.objects.sealed_ids import RECORDS, Identity, Sealer
from engine.spec.parameters.query_string import Query
from engine.stores.database.failures import DatabaseError
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

MAX_CONVERSATION = 16_000_000
"""Bytes of a conversation that are kept. Of a longer one the response is not stored."""

KIND = "response"
"""The kind of these objects in documents."""

_LENGTH = struct.Struct("!I")
_LEVEL = 1


class StoredResponse(NamedTuple):
    """A stored response: the items of `input` with those before them, and its JSON, both as the
    caller sees them."""

    input: bytes
    response: bytes

    @property
    def items(self) -> bytes:
        """The items of the conversation, those of the answer included."""
        output = orjson.loads(self.response).get("output") or []
        return join_items(self.input, output_items(output))


class ResponseEntry(NamedTuple):
    """A response with its conversation, encrypted, under its key in the store."""

    key: bytes
    data: bytes


class StoredResponses:
    """Keeps responses in a `store` for `retention` seconds."""

    def __init__(
        self, store: ResponseStore, sealer: Sealer, retention: float, clock: Callable[[], float]
    ) -> None:
        self._store, self._sealer = store, sealer
        self._retention, self._clock = retention, clock

    def entry(self, items: bytes, response: Any) -> ResponseEntry | None:
        """The entry of a response, by its sealed id; None for one that cannot be kept."""
        identity = self._sealer.open(response["id"], KIND)
        text = orjson.dumps(response)
        if identity is None or len(items) + len(text) > MAX_CONVERSATION:
            return None
        key = _key(identity)
        data = zlib.compress(_LENGTH.pack(len(items)) + items + text, _LEVEL)
        return ResponseEntry(key, self._sealer.encrypt(data, key))

    def keep(self, entry: ResponseEntry, request_id: str) -> bool:
        """Keep a response; returns whether it is. It was made already: that it cannot be kept is no
        reason to lose it."""
        try:
            self._store.put(entry.key, self._clock() + self._retention, entry.data)
        except DatabaseError as error:
            log.warning("request %s: its response is not stored: %s", request_id, error)
            return False
        return True

    def find(self, identity: Identity) -> StoredResponse | None:
        """A stored response; None if there is none, or its key has left the ring. Raises
        GatewayError 503 if the records cannot be asked."""
        key = _key(identity)
        try:
            data = self._store.get(key, self._clock())
        except DatabaseError as error:
            raise _unavailable(error) from error
        plain = None if data is None else self._sealer.decrypt(data, key)
        if plain is None:
            return None
        text = zlib.decompress(plain)
        end = _LENGTH.size + _LENGTH.unpack_from(text)[0]
        return StoredResponse(text[_LENGTH.size : end], text[end:])

    def remove(self, identity: Identity) -> None:
        """Forget a response. Raises GatewayError 503 if the records cannot be asked."""
        try:
            self._store.remove(_key(identity))
        except DatabaseError as error:
            raise _unavailable(error) from error


def is_in_records(identity: Identity) -> bool:
    """Whether the records are the only ones that have a response."""
    return identity.holder.upstream == RECORDS


def _key(identity: Identity) -> bytes:
    """The key of a response. It says nothing about it without the vendor's id, which is random."""
    holder = identity.holder
    parts = (holder.upstream.encode(), bytes((holder.credential,)), identity.vendor_id.encode())
    return hashlib.blake2b(b"\0".join(parts), key=identity.owner, digest_size=24).digest()


def _unavailable(error: DatabaseError) -> GatewayError:
    log.warning("the records of stored responses cannot be asked: %s", error)
    message = "Stored responses cannot be read or changed at the moment. Try again later."
    return GatewayError(503, "store_unavailable", message, headers=[("retry-after", "1")])


_DEFAULT, _MAX = 20, 100
_DIGITS = len(str(_MAX))


def input_page(items: bytes, text: str) -> bytes:
    """The JSON of the page of items that a query asks for: newest first, unless `order` is asc. An
    item without an id gets that of its index. Raises GatewayError 400."""
    query = Query.parse(text)
    rows = [_with_id(item, index) for index, item in enumerate(orjson.loads(b"[%b]" % items))]
    order = query.get("order") or "desc"
    if order not in ("asc", "desc"):
        raise GatewayError(400, "invalid_value", "'order' is asc or desc.", param="order")
    if order == "desc":
        rows.reverse()
    size = _size(query.get("limit") or "")
    names = [row.get("id") for row in rows]
    after = query.get("after")
    if after and after not in names:
        message = f"'after' is '{after[:100]}', which is not an item of this response."
        raise GatewayError(400, "invalid_value", message, param="after")
    start = names.index(after) + 1 if after else 0
    page = rows[start : start + size]
    return orjson.dumps(
        {
            "object": "list",
            "data": page,
            "first_id": page[0].get("id") if page else None,
            "last_id": page[-1].get("id") if page else None,
            "has_more": start + size < len(rows),
        }
    )


def _size(text: str) -> int:
    if not text:
        return _DEFAULT
    size = int(text) if text.isdecimal() and len(text) <= _DIGITS else 0
    if not 1 <= size <= _MAX:
        message = f"'limit' is a number from 1 to {_MAX}."
        raise GatewayError(400, "invalid_value", message, param="limit")
    return size


def _with_id(item: Any, index: int) -> Any:
    if not isinstance(item, dict) or item.get("id"):
        return item
    content = item.get("content")
    if isinstance(content, str):  # the short form of a message
        item = {**item, "content": [{"type": "input_text", "text": content}]}
    return {"type": "message", **item, "id": f"item_{index:06}"}
