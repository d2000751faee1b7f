"""A batch whose requests are in a file that was uploaded before (`stages/keep_upload.py`)."""

from __future__ import annotations

from typing import Protocol

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Batch, Holder
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.objects.batches.batch_requests import BatchWriter
from engine.objects.batches.batch_uploads import MAX_FILE, MAX_KEPT, BatchUploads
from engine.objects.file_copies import FILE
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import Identity, owner_of
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits, edits
from engine.values.json_spans import JsonPath
from engine.values.trees import value_at


class UploadFile(Protocol):
    """Uploads a file of the caller's to a holder (`app/routes/batch_stages.py`)."""

    def __call__(self, exchange: Exchange, body: Body, to: Holder, /) -> str:
        """The sealed id of the file. Raises GatewayError."""


class BatchFiles:
    """Files with requests: `uploads` has their bytes, None for nothing, `upload` makes a new one of
    those that the gateway has to edit. `owner` is that of the config."""

    def __init__(
        self, uploads: BatchUploads | None, opener: IdOpener, owner: str, upload: UploadFile
    ) -> None:
        self._uploads, self._opener = uploads, opener
        self._owner, self._upload = owner, upload

    def judge(self, exchange: Exchange, path: JsonPath, batch: Batch, writer: BatchWriter) -> None:
        """Judge the file that a JSON body names at a path. If its requests are edited, the body
        names another file then, which has them as the vendor gets them.

        Raises GatewayError 400 for a file that is not kept, and with the place of each request that
        cannot be made; 404 for a file that is not the caller's."""
        identity = self._identity(exchange, path)
        batch.holder, batch.kind = identity.holder, FILE
        file = self._read(identity)
        exchange.on_end.append(file.close)
        copy = spool(writer.lines(file.buffer, 0, file.size))
        exchange.on_end.append(copy.close)
        if not writer.is_edited:
            return
        new = orjson.dumps(self._upload(exchange, copy, identity.holder))
        text = bytes(exchange.body.buffer)
        exchange.body = Body(apply_edits(text, edits(text, {path: new})))
        value = orjson.loads(bytes(exchange.body.buffer))
        exchange.content = exchange.content._replace(value=value)

    def _identity(self, exchange: Exchange, path: JsonPath) -> Identity:
        text = value_at(exchange.content.value, path)
        if not isinstance(text, str):
            raise _not_kept()
        owner = owner_of(exchange.caller, self._owner)
        identity = self._opener.identify(text, FILE, owner)
        if identity is None:
            raise _not_kept()
        return identity

    def _read(self, identity: Identity) -> Body:
        content = None if self._uploads is None else self._uploads.content(identity)
        if content is None:
            raise _not_kept()
        try:
            return spool(content)
        except ValueError as error:
            raise _not_kept() from error


def _not_kept() -> GatewayError:
    message = (
        "This gateway cannot judge the requests in that file, because it has not kept it. It keeps "
        f"files of JSON Lines with a 'request' each, of up to {MAX_FILE // 1_000_000} MB, for 47 "
        f"hours after their upload, if it has a database: {MAX_KEPT // 1_000_000:,} MB of "
        "one owner at most. Upload the file again, or send the requests in the body."
    )
    return GatewayError(400, "batch_not_kept", message)
