"""Errors of an upstream that speaks another language of chat, translated for the caller."""

from __future__ import annotations

import math

import orjson
from msgspec import Struct

from engine.dialects import Dialect
from engine.exchange.interfaces import Headers
from engine.relay.sse import NotAnEvent
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.upstream.client.failures import InvalidAnswer
from engine.values.errors import GatewayError
from engine.values.redaction import Redaction


class TranslatedErrors(Struct):
    """Writes errors in the caller's `dialect`, without the gateway's credentials. `headers` are
    those of the response: a time to wait that an error names is added to them."""

    dialect: Dialect
    request_id: str
    redaction: Redaction
    headers: Headers

    def document(self, error: UpstreamError) -> bytes:
        """The JSON of an error that the upstream reports."""
        if error.retry_after is not None and all(name != "retry-after" for name, _ in self.headers):
            self.headers.append(("retry-after", str(math.ceil(error.retry_after))))
        message = error.message or f"The upstream answered {error.status}."
        status = error.status if error.status >= 400 else 502
        gateway_error = GatewayError(status, error.code or "upstream_error", message)
        document = orjson.dumps(self.dialect.error(gateway_error, self.request_id))
        return self.redaction.redact(document) + b"\n"

    def failure(self, error: BrokenAnswer | UpstreamError) -> InvalidAnswer | NotAnEvent:
        """The failure that ends a stream: NotAnEvent for an error that the upstream reports."""
        if isinstance(error, UpstreamError):
            return NotAnEvent(self.document(error))
        return self.invalid_answer(error)

    def invalid_answer(self, error: BrokenAnswer) -> InvalidAnswer:
        """The failure of a response that cannot be translated, with the message of `error`."""
        return InvalidAnswer(self.redaction.redact_text(str(error))).after_start()
