"""The results of a batch as they are read: each is in the ledger and counts against limits before
its caller gets it, once for ever, whoever reads it, wherever and how often."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from msgspec.structs import asdict

from engine.dialects import Dialect
from engine.dialects.interface.files import BatchFormat, BatchResult
from engine.exchange.opened_ids import Holder
from engine.exchange.outcome import Outcome
from engine.exchange.stage_services import BatchStore, Services
from engine.objects.batches.batch_records import BatchRow, object_key, unavailable
from engine.objects.marks import Changes
from engine.objects.response_ids import ResponseSealer
from engine.stores.database.failures import DatabaseError
from engine.stores.ledger_entry import Entry
from engine.values.json_edit import apply_edits, edits
from engine.values.trees import member_at
from engine.values.usage import NO_USAGE, Usage

VIA = "batch"
"""`via` of the ledger entries of results."""

_ROWS = 500
"""Rows of one transaction."""

Charge = Callable[[str, str, Usage, int], None]
"""Counts usage and cost (nano-units) of an operation and a model against the limits of a caller."""


@dataclass
class ResultCounter:
    """Counts the results of one object, a batch or a file. `row` is what is known of it."""

    dialect: Dialect
    form: BatchFormat
    row: BatchRow
    holder: Holder
    vendor_id: str
    services: Services
    store: BatchStore
    charge: Charge
    _rows: list[tuple[bytes, Entry]] = field(default_factory=list)
    _size: int = 0

    def add(self, value: Any, size: int) -> Changes:
        """Count a result of `size` bytes with the next `flush`. Returns the changes that give it
        the callers' name of its model."""
        index, self._size = self._size, self._size + 1
        if not isinstance(value, dict):
            return {}
        result = self.form.result(value)
        answer = result.answer if isinstance(result.answer, dict) else {}
        vendor_model = answer.get(self.form.model)
        vendor_model = vendor_model if isinstance(vendor_model, str) else ""
        name = (result.name or f"#{index}").encode("utf-8", "replace")
        batch = object_key(self.holder, self.vendor_id)
        key = hashlib.blake2b(batch + name, digest_size=24).digest()
        self._rows.append((key, self._entry(key, result, vendor_model, size)))
        model = self.row.models.get(vendor_model, vendor_model)
        if model == vendor_model:
            return {}
        return {(*result.at, self.form.model): orjson.dumps(model)}

    def flush(self) -> None:
        """Write the entries of all results since the last one, and count those that are new. Raises
        GatewayError 503 if that cannot be done."""
        self.count(self.take())

    def take(self) -> list[tuple[bytes, Entry]]:
        """The entries of all results since the last time, with their keys."""
        rows, self._rows = self._rows, []
        return rows

    def count(self, results: Sequence[tuple[bytes, Entry]]) -> None:
        """Write entries, and count those that are new. Raises as `flush`."""
        rows = [*dict(results).items()]
        sums: dict[tuple[str, str], tuple[Usage, int]] = {}
        for start in range(0, len(rows), _ROWS):
            for entry in self._new(rows[start : start + _ROWS]):
                usage, cost = sums.get((entry.operation, entry.model_asked), (NO_USAGE, 0))
                counted = Usage(input=entry.input, output=entry.output)
                sums[entry.operation, entry.model_asked] = usage + counted, cost + entry.cost
        for (operation, model), (usage, cost) in sums.items():
            self.charge(operation, model, usage, cost)

    def _new(self, rows: Sequence[tuple[bytes, Entry]]) -> list[Entry]:
        """Write entries; returns those that are new."""
        try:
            new = self.store.count(rows, secrets.token_bytes(16))
        except DatabaseError as error:
            raise unavailable(error) from error
        return [entry for key, entry in rows if key in new]

    def _entry(self, key: bytes, result: BatchResult, vendor_model: str, size: int) -> Entry:
        row, services, meter = self.row, self.services, self.dialect.meter
        usage = None
        if meter is not None and isinstance(result.answer, dict):
            usage = meter.usage_of(result.answer)
        usage = usage or NO_USAGE
        vendor_name, model = self._names(vendor_model)
        names = model, self.holder.upstream, vendor_name
        vendors, price = services.prices.find(*names), services.prices.of(row.team).find(*names)
        vendor_cost = 0 if vendors is None else vendors.batch_cost(usage)
        cost = 0 if price is None else price.batch_cost(usage)
        counts = asdict(usage)
        return Entry(
            f"batch_{key.hex()}",
            services.clock(),
            row.token,
            row.operation,
            model,
            vendor_name,
            self.holder.upstream,
            result.status,
            str(Outcome.of_status(result.status)),
            **counts,
            cost=cost,
            margin=cost - vendor_cost,
            currency=services.currency,
            bytes_out=size,
            attempts=1,
            price="" if price is None else price.source,
            team=row.team,
            client=row.client,
            client_version=row.client_version,
            session=row.session,
            via=VIA,
        )

    def _names(self, vendor_model: str) -> tuple[str, str]:
        """The vendor's and the callers' name of the model of a result. Vendors answer with the name
        of a version, too; a batch of one model has no other."""
        models = self.row.models
        if vendor_model not in models and len(models) == 1:
            return next(iter(models.items()))
        return vendor_model, models.get(vendor_model, vendor_model)


class ResultLines:
    """Edits lines of results: their ids are sealed, their models have the callers' names, and they
    are counted."""

    def __init__(self, sealer: ResponseSealer, counter: ResultCounter) -> None:
        self._sealer, self._counter = sealer, counter

    def __call__(self, line: bytes) -> bytes:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            return line
        changes = Changes(self._sealer.changes(value, "lines"))
        changes |= self._counter.add(value, len(line))
        return apply_edits(line, edits(line, changes)) if changes else line


def add_lists(value: Any, lists: Sequence[tuple[str, ...]], counter: ResultCounter) -> Changes:
    """Add the results in lists of a JSON body to a counter. Returns the changes of their models'
    names."""
    changes = Changes()
    for steps in lists:
        node = member_at(value, steps)
        for index, entry in enumerate(node if isinstance(node, list) else ()):
            for path, new in counter.add(entry, 0).items():
                changes[(*steps, index, *path)] = new
        if isinstance(node, list):
            break
    return changes
