"""What the records keep of uploads that may be batches, where the requests of a batch are in a file
that the vendor gives nobody back, and only a later request says who wants which model to answer.

Each piece is kept in parts, compressed and encrypted, under its owner and a hash of the address of
the upload and the offset. A part is kept before the vendor gets it, so that an upload has one
content, and forgotten if the vendor refuses it. A file that is not kept completely is no batch, as
one for which the bytes of its owner leave no room.

Two requests may bring one piece at a time: the second finds the parts that the first has kept. So a
request that has found parts notes that the vendor has taken the piece, and looks for them then; one
that fails forgets its parts, and looks for the note then. Whichever is last puts them back.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from engine.exchange.opened_ids import Holder, Upload
from engine.exchange.stage_services import ResponseStore
from engine.objects.batches.batch_records import object_key
from engine.objects.sealed_ids import Identity, Sealer
from engine.stores.database.failures import DatabaseError
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

MAX_FILE = 100_000_000
"""Bytes of a file that is kept."""
MAX_KEPT = 1_000_000_000
"""Bytes that all uploads of one owner take in the records."""

_PURPOSE = b"modelway upload of a batch 1"
_LIFETIME = 47 * 3_600.0
"""Seconds for which a file is kept. Gemini deletes it after 48 hours."""
_PART = 2_000_000
_LEVEL = 1
_START = "begun"
"""In the place of an offset: the upload may be a batch, unless it is lost."""
_LOST = b"lost"


class UploadPiece:
    """What a request brings of an upload: the bytes from an `offset` on, which `chunks` reads as
    often as it is called. `keys` are those of the parts that were not kept before, `has_found` says
    whether others were."""

    def __init__(self, upload: Upload, offset: int, chunks: Callable[[], Iterable[bytes]]) -> None:
        self.upload, self.offset, self.chunks = upload, offset, chunks
        self.keys = list[bytes]()
        self.has_found = False

    @property
    def note(self) -> bytes:
        """The key of the note that the vendor has taken the piece."""
        return _part_key(self.upload, f"taken {self.offset}")


class BatchUploads:
    """Keeps uploads in a `store`. Everything raises GatewayError 503 if that cannot be asked,
    unless it says otherwise."""

    def __init__(self, store: ResponseStore, sealer: Sealer, clock: Callable[[], float]) -> None:
        self._store, self._sealer, self._clock = store, sealer, clock

    def has_begun(self, upload: Upload) -> bool:
        """Whether the beginning of an upload is kept. Not, while the store cannot be asked: most
        uploads are no batches, and one that lacks a piece is none. Raises nothing."""
        try:
            return self._read(_part_key(upload, _START)) == b""
        except GatewayError:  # it is in the log
            return False

    def keep(self, piece: UploadPiece) -> bool:
        """Keep a piece. False without room, for this piece and all others of its upload. Raises
        GatewayError 409 for another content than that of an earlier piece there."""
        upload, at = piece.upload, piece.offset
        begun = _part_key(upload, _START)
        try:
            if at == 0:
                self._claim(begun, b"")
            if self._read(begun) == _LOST:
                return False
            for part in _parts(piece.chunks()):
                if not self._keep_part(piece, at, part):
                    self.forget(piece)
                    self._lose(upload, f"its owner has {MAX_KEPT} bytes of others")
                    return False
                at += len(part)
        except BaseException:
            self.forget(piece)
            raise
        return True

    def _keep_part(self, piece: UploadPiece, at: int, part: bytes) -> bool:
        """Keep a part, and False if there is no room for it. Raises GatewayError."""
        key = _part_key(piece.upload, at)
        earlier_part = self._read(key)
        if earlier_part is None:
            if not self._has_room(piece.upload.owner, len(part)):
                return False
            if self._claim(key, part):
                piece.keys.append(key)
                return True
            earlier_part = self._read(key)  # another request has brought it at this moment
        if earlier_part != part:
            raise _conflict(piece.offset)
        piece.has_found = True
        return True

    def confirm(self, piece: UploadPiece) -> None:
        """Note that the vendor has taken a piece, for the request that has kept parts of it and may
        fail. Raises GatewayError 503, as that request may bring its parts to be forgotten."""
        if piece.has_found:
            self._claim(piece.note, b"")
            self._keep_again(piece)

    def forget(self, piece: UploadPiece) -> None:
        """Forget what the vendor has not taken of this request, unless it has of another one.
        Raises nothing."""
        for key in piece.keys:
            try:
                self._store.remove(key)
            except DatabaseError as error:
                log.warning("a part of an upload is not forgotten: %s", error)
        try:
            if piece.keys and self._read(piece.note) is not None:
                self._keep_again(piece)
        except GatewayError:  # it is in the log; the file lacks a part, and is no batch
            pass

    def _keep_again(self, piece: UploadPiece) -> None:
        """Keep the parts of a piece that are not kept any more. Raises GatewayError 503."""
        at = piece.offset
        for part in _parts(piece.chunks()):
            key = _part_key(piece.upload, at)
            if not self._claim(key, part) and self._read(key) != part:
                self._lose(piece.upload, "a request has brought another piece meanwhile")
                return
            at += len(part)

    def finish(self, upload: Upload, holder: Holder, vendor_id: str, size: int) -> None:
        """Note which file of `size` bytes an upload has become. Raises nothing: without this note
        the file is no batch."""
        key = object_key(holder, vendor_id)
        note = f"{size} {upload.owner.hex()} {upload.address}".encode()
        try:
            self._store.put(key, self._expires(), self._seal(note, key))
        except DatabaseError as error:
            log.warning("the upload of a file is not noted: %s", error)

    def content(self, identity: Identity) -> Iterator[bytes] | None:
        """The bytes of a file; None if nothing of it is kept. Iteration raises ValueError if
        something is missing."""
        note = self._read(object_key(identity.holder, identity.vendor_id))
        if note is None:
            return None
        size, owner, address = note.decode().split(" ", 2)
        upload = Upload(bytes.fromhex(owner), address)
        is_lost = self._read(_part_key(upload, _START)) == _LOST
        return None if is_lost else self._pieces(upload, int(size))

    def _pieces(self, upload: Upload, size: int) -> Iterator[bytes]:
        at = 0
        while part := self._read(_part_key(upload, at)):
            at += len(part)
            yield part
        if at != size:
            raise ValueError(f"{at} of {size} bytes are kept")

    def _has_room(self, owner: bytes, size: int) -> bool:
        with _asking():
            return self._store.size(owner, self._clock()) + size <= MAX_KEPT

    def _lose(self, upload: Upload, reason: str) -> None:
        """Let an upload be no batch: what the vendor gets of it is not what is kept."""
        log.warning("an upload is not kept: %s", reason)
        begun = _part_key(upload, _START)
        with _asking():
            self._store.put(begun, self._expires(), self._seal(_LOST, begun))

    def _claim(self, key: bytes, part: bytes) -> bool:
        with _asking():
            data = self._seal(part, key)
            return self._store.claim(key, self._expires(), data, self._clock())

    def _read(self, key: bytes) -> bytes | None:
        with _asking():
            data = self._store.get(key, self._clock())
        plain = None if data is None else self._sealer.decrypt(data, key, _PURPOSE)
        return None if plain is None else zlib.decompress(plain)

    def _seal(self, plain: bytes, key: bytes) -> bytes:
        return self._sealer.encrypt(zlib.compress(plain, _LEVEL), key, _PURPOSE)

    def _expires(self) -> float:
        return self._clock() + _LIFETIME


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        log.warning("the records of uploads cannot be asked: %s", error)
        message = "Uploads for batches cannot be kept or read at the moment. Try again later."
        headers = [("retry-after", "1")]
        raise GatewayError(503, "store_unavailable", message, headers=headers) from error


def _conflict(offset: int) -> GatewayError:
    message = f"Another piece of this upload was sent for its byte {offset}. Begin a new upload."
    return GatewayError(409, "upload_conflict", message)


def _part_key(upload: Upload, offset: int | str) -> bytes:
    """The key of what begins at an offset: behind the owner, it says nothing without the address of
    the upload."""
    text = f"upload {offset} {upload.address}"
    return upload.owner + hashlib.blake2b(text.encode(), digest_size=24).digest()


def _parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in parts of one size, so that a piece that is sent again has equal ones."""
    part = bytearray()
    for chunk in chunks:
        part += chunk
        while len(part) >= _PART:
            yield bytes(part[:_PART])
            del part[:_PART]
    if part:
        yield bytes(part)
