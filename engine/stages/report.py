"""Reporting requests and responses that do not match the document, without refusing them.

Mismatches are counted by operation and place, without indexes. What a caller wrote (values, and
names that no document has) is in neither the counts nor the log. The metric has the codes, of which
there are few; the log names a place the first time, then at most once a minute with its count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.push_stream import Pipeline, PushStream
from engine.process.log_throttle import LogThrottle
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.spec.schemas.refusal_messages import Refusal
from engine.values.errors import GatewayError
from engine.values.media_types import essence, is_json, sequence_kind
from engine.values.redaction import redact_tokens

MAX_RESPONSE = 1_000_000
"""Bytes of a response that is checked; a larger one is not."""

OTHER_PLACES = "other"
"""The place of mismatches in an operation after `max_places`."""

_MAX_PLACE = 200
"""Characters of a place: the keys of a map are the caller's."""
_INDEX = re.compile(r"\[\d+\]")
_CODES_WITH_CALLERS_NAMES = frozenset({"unknown_parameter"})


class Mismatches:
    """The mismatches of this process: `places` counts them by operation and place, `codes` by
    operation, part (`request` or `response`) and code."""

    def __init__(self, max_places: int = 2000) -> None:
        self.places: Counter[tuple[str, str]] = Counter()
        self.codes: Counter[tuple[str, str, str]] = Counter()
        self._throttles: dict[tuple[str, str], LogThrottle] = {}
        self._max_places = max_places

    def note(
        self, request_id: str, operation: str, code: str, place: str, part: str = "request"
    ) -> None:
        """Count and log one mismatch. `place` is within the `part`."""
        name = redact_tokens(_INDEX.sub("[]", place))[:_MAX_PLACE]
        if code in _CODES_WITH_CALLERS_NAMES:
            name = name.rpartition(".")[0]
        key = (operation, name or "body")
        if key not in self.places and len(self.places) >= self._max_places:
            key = (operation, OTHER_PLACES)
        self.places[key] += 1
        self.codes[operation, part, code] += 1
        throttle = self._throttles.setdefault(key, LogThrottle())
        throttle.log(
            "request %s: %s would refuse it (%s at %r)", request_id, operation, code, name or "body"
        )

    def note_error(self, request_id: str, operation: str, error: GatewayError) -> None:
        """Count and log the error that a strict route would have raised."""
        self.note(request_id, operation, error.code, error.param)

    @contextmanager
    def capture(self, places: list[str]) -> Iterator[None]:
        """Within this context append the places of mismatches to `places` and log each, instead of
        counting them."""
        saved = (self.places, self.codes, self._throttles)
        self.places, self.codes, self._throttles = Counter(), Counter(), {}
        try:
            yield
        finally:
            places += [place for _, place in self.places.elements()]
            self.places, self.codes, self._throttles = saved


mismatches = Mismatches()
"""The mismatches of this process."""


def report_responses(answers: ResponseValidators) -> Stage:
    """A stage that checks responses without an encoding after they were sent: JSON with a length
    and a schema for its status, and the items in the first MAX_RESPONSE bytes of a sequence."""
    return _ResponseReport(answers).stage


class _ResponseReport:
    """Notes where the responses of a route do not match its document."""

    def __init__(self, answers: ResponseValidators) -> None:
        self._answers = answers

    def stage(self, exchange: Exchange, following: Handler) -> Response:
        response, answers = following(exchange), self._answers
        if answers.items and (kind := _sequence_kind(response)):
            if answers.item_validators(response.status, kind) is not None:
                self._watch_items(response, kind, exchange)
        elif answers.describes(response.status) and _is_readable(response):
            if isinstance(response.body, bytes):
                self._check(response.body, response.status, exchange)
            else:
                response.body = self._checked_at_end(response.body, response.status, exchange)
        return response

    def _check(self, body: bytes, status: int, exchange: Exchange) -> None:
        refusal = self._answers.check(status, body)
        if refusal is not None:
            _note(refusal, exchange)

    def _watch_items(self, response: Response, kind: str, exchange: Exchange) -> None:
        """Keep the beginning of a sequence as it passes, and check its items at the end."""
        beginning = _Beginning()
        status = response.status

        def check_items() -> None:
            # An event that does not end is none (HTML standard).
            is_cut = beginning.is_cut or kind == "events"
            body = b"".join(beginning.pieces)
            for refusal in self._answers.check_items(status, kind, body, truncated=is_cut):
                _note(refusal, exchange)

        if isinstance(response.body, bytes):
            beginning.keep(response.body)
        else:
            body = response.body
            response.body = body if isinstance(body, PushStream) else PushStream(body, Pipeline())
            response.body.pipeline.add(beginning.keep)
        exchange.on_end.append(check_items)

    def _checked_at_end(
        self, body: Iterable[bytes], status: int, exchange: Exchange
    ) -> Iterator[bytes]:
        pieces: list[bytes] = []
        size = 0
        for piece in body:
            size += len(piece)
            if size <= MAX_RESPONSE:
                pieces.append(piece)
            else:
                pieces.clear()
            yield piece
        if 0 < size <= MAX_RESPONSE:
            self._check(b"".join(pieces), status, exchange)


class _Beginning:
    """The first `pieces` of a body, about MAX_RESPONSE bytes."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self._size = 0

    @property
    def is_cut(self) -> bool:
        """Whether there may be more than these pieces."""
        return self._size > MAX_RESPONSE

    def keep(self, piece: bytes) -> bytes:
        """A step of a pipeline."""
        if not self.is_cut:
            self.pieces.append(piece)
            self._size += len(piece)
        return piece


def _note(refusal: Refusal, exchange: Exchange) -> None:
    place = f"response.{refusal.param}" if refusal.param else "response"
    mismatches.note(exchange.request_id, exchange.operation, refusal.code, place, "response")


def _sequence_kind(response: Response) -> str:
    """The kind of sequence that a response is; "" for one with an encoding or of another type."""
    headers = dict(response.headers)
    return (
        ""
        if "content-encoding" in headers
        else sequence_kind(essence(headers.get("content-type", "")))
    )


def _is_readable(response: Response) -> bool:
    """Whether a response is JSON of bounded length without an encoding."""
    headers = dict(response.headers)
    if not is_json(headers.get("content-type", "")) or "content-encoding" in headers:
        return False
    length = headers.get("content-length", "")
    return isinstance(response.body, bytes) or (length.isdigit() and int(length) <= MAX_RESPONSE)
