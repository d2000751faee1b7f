"""What the records know of batches: who made one, and what its models are called. So results count
for whoever made them, whoever reads them first, and only files of a vendor's own making are
results.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping

import orjson
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from engine.dialects.interface.files import BatchFormat
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.exchange.request_client import client_of, session_of
from engine.exchange.stage_services import BatchStore
from engine.stores.database.failures import DatabaseError
from engine.values.errors import GatewayError
from engine.values.trees import Json

log = logging.getLogger("modelway")

_REMEMBERED = 10_000
"""Objects that a worker knows to be in the records, so that it does not ask again."""
_INPUT = "input_file_id"
"""The member of OpenAI's batches that names the file with their requests."""


class BatchRow(Struct, frozen=True):
    """What is known of a batch, or of a file with its requests or, with `has_results`, its results.
    `models` has the callers' name of each model by that of the vendor."""

    token: str = ""
    team: str = ""
    client: str = ""
    client_version: str = ""
    session: str = ""
    operation: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    has_results: bool = False


_FIELDS = BatchRow.__struct_fields__


class BatchRecords:
    """Keeps what is known of batches in a `store`."""

    def __init__(self, store: BatchStore) -> None:
        self.store = store
        self._noted: dict[bytes, None] = {}

    def find(self, holder: Holder, vendor_id: str) -> BatchRow | None:
        """What is known of an object. Raises GatewayError 503 if the records cannot be asked."""
        try:
            return self._read(object_key(holder, vendor_id))
        except DatabaseError as error:
            raise unavailable(error) from error

    def note(
        self, form: BatchFormat, value: Json, holder: Holder, exchange: Exchange, *, is_own: bool
    ) -> None:
        """Note what an object of the vendor says: a batch, or a file. `is_own`: it is the caller's,
        who has made it if nothing is known of it. Raises GatewayError 503 if it shows results that
        could not be counted."""
        vendor_id, files = value.get(form.id), form.files(value)
        opened = exchange.objects
        has_requests = opened is not None and opened.batch is not None
        if not isinstance(vendor_id, str) or not (has_requests or is_of_note(form, value)):
            return
        try:
            if vendor_id in files:
                self._put(object_key(holder, vendor_id), BatchRow(), has_results=True)
                return
            if is_own:
                self._note_own(value, object_key(holder, vendor_id), holder, exchange)
            keys = [object_key(holder, name) for name in files]
            if any(key not in self._noted for key in keys):
                row = self._read(object_key(holder, vendor_id)) or BatchRow()
                for key in keys:
                    self._put(key, row, has_results=True)
        except DatabaseError as error:
            if files:
                raise unavailable(error) from error
            log.warning("request %s: its batch is not noted: %s", exchange.request_id, error)

    def _note_own(self, value: Json, key: bytes, holder: Holder, exchange: Exchange) -> None:
        """Note an object of the caller's, with what is known of the file with its requests."""
        if key in self._noted:
            return
        row, source = row_of(exchange), value.get(_INPUT)
        requests = self._read(object_key(holder, source)) if isinstance(source, str) else None
        if requests is not None:
            row = replace(row, operation=requests.operation, models=requests.models)
        self._put(key, row, has_results=False)

    def _read(self, key: bytes) -> BatchRow | None:
        data = self.store.get(key)
        if data is None:
            return None
        members = orjson.loads(data)  # a newer version may know more
        return BatchRow(**{name: members[name] for name in _FIELDS if name in members})

    def _put(self, key: bytes, row: BatchRow, *, has_results: bool) -> None:
        if key not in self._noted:
            self.store.put(key, orjson.dumps({**asdict(row), "has_results": has_results}))
            self._noted[key] = None
            if len(self._noted) > _REMEMBERED:
                del self._noted[next(iter(self._noted))]


def is_of_note(form: BatchFormat, value: Json) -> bool:
    """Whether an object of the vendor says something that is noted: it is a batch, or has
    results."""
    is_file = form.purpose != "" and form.purpose in value
    return not is_file or bool(form.files(value))


def row_of(exchange: Exchange) -> BatchRow:
    """The row of what the caller of an exchange makes."""
    caller, opened = exchange.caller, exchange.objects
    batch = None if opened is None else opened.batch
    client, version = client_of(exchange)[:2]
    return BatchRow(
        "" if caller is None else caller.name,
        "" if caller is None else caller.team,
        client,
        version,
        session_of(exchange),
        "" if batch is None else batch.operation,
        {} if batch is None else dict(batch.models),
    )


def object_key(holder: Holder, vendor_id: str) -> bytes:
    """The key of an object of a vendor."""
    parts = (holder.upstream.encode(), bytes((holder.credential,)), vendor_id.encode())
    return hashlib.blake2b(b"\0".join(parts), digest_size=24).digest()


def vendor_id_of(opened: OpenedIds) -> str:
    """The vendor's id of the object that a request names."""
    return next(iter(opened.names), "")


def unavailable(error: DatabaseError) -> GatewayError:
    """503: results are not shown that cannot be counted."""
    log.warning("the records of batches cannot be asked: %s", error)
    message = "Results of batches cannot be counted at the moment. Try again later."
    return GatewayError(503, "store_unavailable", message, headers=[("retry-after", "1")])
