"""What a route does with the batches and results in its responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from engine.dialects import Dialect
from engine.dialects.interface.files import BatchFormat
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Holder, OpenedIds, Upload
from engine.exchange.stage_services import Services
from engine.objects.batches.batch_records import BatchRecords, is_of_note, row_of, vendor_id_of
from engine.objects.batches.batch_results import ResultCounter, add_lists
from engine.objects.batches.batch_uploads import BatchUploads
from engine.objects.facts import ObjectFacts
from engine.objects.marks import Changes
from engine.objects.response_ids import Look
from engine.values.trees import member_at
from engine.values.usage import Usage

_FILE = "file"
"""The kind of files: one has results if a batch said so."""

ChargeCaller = Callable[[Exchange, str, str, Usage, int], None]


class BatchRoute:
    """Notes batches that responses show, and counts results. `facts` are those of the operation,
    `charge` counts against the limits of an exchange's caller, `uploads` has what was uploaded."""

    def __init__(
        self,
        facts: ObjectFacts,
        dialect: Dialect,
        form: BatchFormat,
        records: BatchRecords,
        services: Services,
        charge: ChargeCaller,
        uploads: BatchUploads | None = None,
    ) -> None:
        self._uploads = uploads
        self._facts, self._dialect, self._form = facts, dialect, form
        self._records, self._services, self._charge = records, services, charge

    def look(self, exchange: Exchange, opened: OpenedIds, holder: Holder) -> Look:
        """What looks at the JSON of a response that is not a list: it notes batches, and counts
        results. Raises GatewayError 503 if the records cannot be asked."""

        def note(value: dict[str, Any]) -> None:
            if opened.upload is not None and self._uploads is not None:
                self._note_upload(self._uploads, opened.upload, holder, value)
            if "state" in self._facts.batch:
                self._records.note(self._form, value, holder, exchange, is_own=True)

        counter = self._counter(exchange, opened, holder) if self.is_in_body(opened) else None
        return BatchLook(note, self._form.lists, counter)

    def look_at_page(self, value: Any) -> tuple[Changes, list[dict[str, Any]]]:
        """The changes of a page of a list, and its rows that `note` wants."""
        lists = self._facts.lists
        assert lists is not None
        rows = [row for row in member_at(value, lists.items) or [] if isinstance(row, dict)]
        is_noted = "state" in self._facts.batch
        notable = [row for row in rows if is_noted and is_of_note(self._form, row)]
        return self._without_results(value, lists.items), notable

    def note(self, row: dict[str, Any], holder: Holder, exchange: Exchange) -> None:
        """Note what a row of a list shows, which may be another caller's."""
        self._records.note(self._form, row, holder, exchange, is_own=False)

    def _note_upload(
        self, uploads: BatchUploads, upload: Upload, holder: Holder, value: Any
    ) -> None:
        """Note the file that an upload has become."""
        form = self._dialect.files
        vendor_id = None if form is None else member_at(value, form.id)
        if form is not None and isinstance(vendor_id, str):
            size = form.facts(member_at(value, form.id[:-1])).size
            uploads.finish(upload, holder, vendor_id, size)

    def is_in_body(self, opened: OpenedIds) -> bool:
        """Whether the results of the object that a request names are in its JSON."""
        has_results = "results" in self._facts.batch and bool(self._form.lists)
        return has_results and opened.kind != _FILE

    def line_counter(
        self, exchange: Exchange, opened: OpenedIds, holder: Holder
    ) -> ResultCounter | None:
        """What counts the results in the lines of a response; None if it has none. Raises
        GatewayError 503 if the records cannot be asked."""
        return None if self.is_in_body(opened) else self._counter(exchange, opened, holder)

    def _counter(
        self, exchange: Exchange, opened: OpenedIds, holder: Holder
    ) -> ResultCounter | None:
        vendor_id = vendor_id_of(opened)
        if "results" not in self._facts.batch or opened.holder is None or not vendor_id:
            return None
        row = self._records.find(holder, vendor_id)
        if opened.kind == _FILE and (row is None or not row.has_results):
            return None
        if row is None or not row.token:
            counts = row
            row = row_of(exchange)
            if counts is not None:
                row = replace(row, operation=counts.operation, models=counts.models)
        return ResultCounter(
            *(self._dialect, self._form, row, holder, vendor_id, self._services),
            self._records.store,
            partial(self._charge, exchange),
        )

    def _without_results(self, value: Any, items: tuple[str, ...]) -> Changes:
        """The changes that leave results out of a list, whose rows may be those of others."""
        changes = Changes()
        for index, row in enumerate(member_at(value, items) or []):
            for steps in self._form.lists:
                if member_at(row, steps):
                    changes[(*items, index, *steps)] = b"[]"
        return changes


class BatchLook:
    """What the JSON of a response shows of a batch (`engine.objects.response_ids.Look`). `note`
    gets the object without the results in its `lists`, which the `counter` counts, if it has
    one."""

    def __init__(
        self,
        note: Callable[[dict[str, Any]], None],
        lists: Sequence[tuple[str, ...]],
        counter: ResultCounter | None,
    ) -> None:
        self._note, self._lists, self._counter = note, lists, counter
        self._object: dict[str, Any] | None = None

    def read(self, value: Any) -> Changes:
        if isinstance(value, dict):
            self._object = value
            for steps in self._lists:
                self._object = _emptied(self._object, steps)
        return Changes() if self._counter is None else add_lists(value, self._lists, self._counter)

    def outcome(self) -> Any:
        rows = [] if self._counter is None else self._counter.take()
        batch, self._object = self._object, None
        return batch, rows

    def settle(self, outcome: Any) -> None:
        batch, rows = outcome
        if batch is not None:
            self._note(batch)
        if self._counter is not None:
            self._counter.count(rows)


def _emptied(value: dict[str, Any], steps: tuple[str, ...]) -> dict[str, Any]:
    """An object with an empty list in the place of one."""
    name, *rest = steps
    inner = value.get(name)
    if rest and isinstance(inner, dict):
        return {**value, name: _emptied(inner, tuple(rest))}
    return {**value, name: []} if not rest and inner else value
