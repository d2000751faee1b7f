"""Forward requests whose responses the records keep."""

from __future__ import annotations

from typing import Any

import orjson

from engine.exchange.exchange import Exchange, Response
from engine.exchange.member_protocols import Headers
from engine.exchange.opened_ids import Holder, OpenedIds, Turn
from engine.exchange.push_stream import PushStream
from engine.objects.response_ids import ResponseSealer
from engine.objects.sealed_ids import RECORDS
from engine.objects.stored_responses import ResponseEntry, StoredResponses
from engine.relay.held_body import LARGE
from engine.relay.whole_body import Correction
from engine.transforms.edited_body import edit_response
from engine.upstream.objects.object_forward import ObjectForward
from engine.upstream.responses.attempt_result import AttemptResult
from engine.values.json_document import JsonDocument
from engine.values.json_spans import Ambiguous, JsonPath, member_span
from engine.values.media_types import is_json

_FINAL = ("completed", "incomplete")
_LAST_EVENTS = ("response.completed", "response.incomplete")


class StoredResponseForward(ObjectForward):
    """The last handler of an operation that makes responses, in a gateway whose records keep them.
    What a translated target answers is stored by the records alone, because its vendor has nothing
    that is called by this id."""

    def __init__(self, *arguments: Any, responses: StoredResponses, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._responses = responses

    def holder_of(self, result: AttemptResult, opened: OpenedIds, exchange: Exchange) -> Holder:
        turn = exchange.record.turn
        if turn is not None and turn.items is not None and result.attempt.language:
            return Holder(RECORDS)
        return super().holder_of(result, opened, exchange)

    def seal(self, response: Response, exchange: Exchange, sealer: ResponseSealer) -> None:
        turn = exchange.record.turn
        if turn is None or (turn.items is None and not turn.previous):
            super().seal(response, exchange, sealer)
            return
        if isinstance(response.body, PushStream):
            # The last event is sent when the response is kept, so the event loop cannot send it.
            response.body = iter(response.body)
        editor = _StoredResponseEditor(sealer, turn, self._responses, exchange.request_id)
        edit_response(exchange, response, editor)


class _StoredResponseEditor:
    """Seals the ids of a response, keeps it at its end, and lets it say what it continues."""

    def __init__(
        self,
        sealer: ResponseSealer,
        turn: Turn,
        responses: StoredResponses,
        request_id: str,
    ) -> None:
        self._sealer, self._turn, self._responses = sealer, turn, responses
        self._request_id = request_id
        self._is_only_here = sealer.holder.upstream == RECORDS
        self._is_whole = False
        # Of a large response, kept by `settle`: where it says that it is stored, in five bytes.
        self._entry: ResponseEntry | None = None
        self._offset: int | None = None

    def headers(self, headers: Headers) -> Headers:
        return self._sealer.headers(headers)

    def edits_body(self, method: str, status: int, content_type: str) -> bool:
        self._is_whole = is_json(content_type)
        return self._sealer.edits_body(method, status, content_type)

    def json(self, text: bytes) -> bytes:
        """The JSON of the response, or of an event, as the caller gets it."""
        is_large = self._is_whole and len(text) > LARGE
        text = self._sealer.json(text)
        if not self._is_whole and text.find(b'"response"') < 0:
            return text
        try:
            document = JsonDocument.parse(text)
            self._change(document, is_large=is_large)
        except (orjson.JSONDecodeError, Ambiguous):
            return text
        return document.text

    def outcome(self) -> Any:
        entry, self._entry = self._entry, None
        return self._sealer.outcome(), entry, self._offset

    def settle(self, outcome: Any) -> Correction | None:
        """Keep a large response. It says that it is kept, which is corrected if it is not: to
        write it again would take as long as the first time."""
        of_sealer, entry, offset = outcome
        self._sealer.settle(of_sealer)
        if entry is None or self._responses.keep(entry, self._request_id) or offset is None:
            return None
        return Correction(offset, b"false")

    def _change(self, document: JsonDocument, *, is_large: bool) -> None:
        """Let a response say what it continues and whether it is stored. Raises Ambiguous."""
        value = document.value
        path: JsonPath = () if self._is_whole else ("response",)
        response = value if self._is_whole or not isinstance(value, dict) else value.get("response")
        if not isinstance(response, dict) or not isinstance(response.get("id"), str):
            return
        if self._turn.previous:
            _set(document, (*path, "previous_response_id"), self._turn.previous)
        if self._turn.items is not None:
            if self._is_only_here:
                _set(document, (*path, "store"), value=True)
            is_last = self._is_whole or value.get("type") in _LAST_EVENTS
            if not is_last:
                return
            is_kept = self._keep(response, self._turn.items, is_large=is_large)
            if self._is_only_here and not is_kept:
                _set(document, (*path, "store"), value=False)
            elif self._is_only_here and is_large:
                document.replace((*path, "store"), b"true ")
                self._offset = member_span(document.text, (*path, "store"))[1]

    def _keep(self, response: dict[str, Any], items: bytes, *, is_large: bool) -> bool:
        """Keep a response that is complete; returns whether it is, or for a large one, whether it
        can be."""
        if response.get("status") not in _FINAL:
            return False
        entry = self._responses.entry(items, response)
        if entry is None or not is_large:
            return entry is not None and self._responses.keep(entry, self._request_id)
        self._entry = entry
        return True


def _set(document: JsonDocument, path: JsonPath, value: object) -> None:
    write = document.replace if document.has(path) else document.add
    write(path, orjson.dumps(value))
