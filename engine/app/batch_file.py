"""Uploads the requests of a batch again that the gateway has edited."""

from __future__ import annotations

from dataclasses import dataclass

from engine.app.file_calls import CannotCopy, FileCalls
from engine.dialects.interface.files import FileFacts
from engine.exchange.body import Body
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Holder
from engine.values.errors import GatewayError

_NAME = "batch.jsonl"
_MEDIA_TYPE = "application/jsonl"


@dataclass(frozen=True, slots=True)
class BatchFileUpload:
    """Uploads by `calls`, as the caller of an exchange."""

    calls: FileCalls

    def __call__(self, exchange: Exchange, body: Body, to: Holder) -> str:
        """The sealed id of a new file at a holder. Raises GatewayError."""
        try:
            return self.calls.upload(exchange, FileFacts(_NAME, _MEDIA_TYPE, body.size), body, to)
        except CannotCopy as error:
            message = f"The requests of this batch were edited, and cannot be uploaded: {error}"
            raise GatewayError(502, "upstream_error", message) from error
