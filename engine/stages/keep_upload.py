"""The stage that keeps what is uploaded and may be a batch, so that its requests can be judged when
the batch is created (`objects/batches/batch_uploads.py`)."""

from __future__ import annotations

from msgspec import Struct

from engine.dialects.interface.files import FileFormat, Piece
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.opened_ids import OpenedIds, Upload
from engine.objects.batches.batch_uploads import MAX_FILE, BatchUploads, UploadPiece
from engine.objects.id_opener import IdOpener
from engine.objects.id_places import IdPlace
from engine.objects.sealed_ids import NOBODY, owner_of
from engine.spec.parameters.query_string import Query

_HEAD = 65_536
_REQUEST = b'"request"'
"""The member that every line of a batch has, within the first bytes of its first line."""


class UploadRules(Struct, frozen=True):
    """Which pieces of uploads are kept: `place` is that of the address of an upload in queries,
    `form` reads what a request brings, `owner` is that of the config."""

    uploads: BatchUploads
    opener: IdOpener
    place: IdPlace
    form: FileFormat
    owner: str

    def upload(self, exchange: Exchange, head: bytes, size: int) -> Upload | None:
        """The upload of which the body of a request, of `size` bytes that begin with a `head`, is
        kept; None if it is not. Raises GatewayError 404 for an upload that there is not."""
        piece, address = self.piece(exchange), self._address(exchange)
        internal = exchange.connection.internal
        if piece is None or (internal is not None and internal.is_copy):
            return None
        if piece.offset + size > MAX_FILE or (piece.offset == 0 and not _may_be_batch(head)):
            return None
        identity = self.opener.identify(address, self.place.kind, NOBODY, bearer=True)
        if identity is None:
            return None
        upload = Upload(identity.owner, address)
        return upload if piece.offset == 0 or self.uploads.has_begun(upload) else None

    def keeps(self, exchange: Exchange, head: bytes, size: int) -> bool:
        """Whether there is such an upload. Raises GatewayError 404."""
        return self.upload(exchange, head, size) is not None

    def piece(self, exchange: Exchange) -> Piece | None:
        """What a request brings of a file."""
        return self.form.read_piece(lambda name: exchange.header(environ_key(name)) or "")

    def _address(self, exchange: Exchange) -> str:
        """The address of the upload, sealed; "" for several: the vendor may take another one."""
        query, name = Query.parse(exchange.query), self.place.steps[0]
        return (query.get(name) or "") if len(query.values(name)) == 1 else ""


def keep_upload(rules: UploadRules) -> Stage:
    """A stage that keeps a piece before the vendor gets it. Raises GatewayError 409 for a piece in
    the place of another one."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        body, sent = exchange.body, rules.piece(exchange)
        if sent is None or not body.is_replayable:
            return following(exchange)
        head = bytes(body.buffer[:_HEAD]) if body.size else b""
        upload = rules.upload(exchange, head, body.size)
        if upload is None:
            return following(exchange)
        piece = UploadPiece(upload, sent.offset, body.chunks)
        if not rules.uploads.keep(piece):
            return following(exchange)
        owner = owner_of(exchange.caller, rules.owner)
        exchange.objects = OpenedIds(owner, upload=upload if sent.is_last else None)
        try:
            response = following(exchange)
        except BaseException:
            rules.uploads.forget(piece)
            raise
        if response.status == 200:
            rules.uploads.confirm(piece)
        else:
            rules.uploads.forget(piece)
        return response

    return stage


def _may_be_batch(head: bytes) -> bool:
    """Whether a file begins with a JSON object that has a request."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"{") and _REQUEST in text
