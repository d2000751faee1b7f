"""Whether JSON answers are what the document says: reported after they were sent, never gating."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.spec.media_types import is_json
from engine.spec.response_schemas import Answers
from engine.stages.would_reject import note

LARGEST = 1_000_000
"""Bytes of an answer that is looked at; a larger one passes unseen."""


def report_answers(operation: str, answers: Answers) -> Stage:
    """A stage that looks at answers with a length, no encoding, and a schema for their status."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        response = following(exchange)
        if answers.describes(response.status) and _can_be_read(response):
            if isinstance(response.body, bytes):
                _look(response.body, response.status, exchange)
            else:
                response.body = _watched(response.body, response.status, exchange)
        return response

    def _look(body: bytes, status: int, exchange: Exchange) -> None:
        refusal = answers.check(status, body)
        if refusal is not None:
            place = f"response.{refusal.param}" if refusal.param else "response"
            note(exchange.request_id, operation, refusal.code, place, "response")

    def _watched(body: Iterable[bytes], status: int, exchange: Exchange) -> Iterator[bytes]:
        held: list[bytes] = []
        size = 0
        for piece in body:
            size += len(piece)
            if size <= LARGEST:
                held.append(piece)
            else:
                held.clear()
            yield piece
        if 0 < size <= LARGEST:
            _look(b"".join(held), status, exchange)

    return stage


def _can_be_read(response: Response) -> bool:
    """Whether an answer is JSON of bounded length, as it is."""
    headers = dict(response.headers)
    if not is_json(headers.get("content-type", "")) or "content-encoding" in headers:
        return False
    length = headers.get("content-length", "")
    return isinstance(response.body, bytes) or (length.isdigit() and int(length) <= LARGEST)
