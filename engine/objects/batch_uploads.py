"""What the records keep of uploads that may be batches, where the requests of a batch are in a file
that the vendor gives nobody back, and only a later request says who wants which model to answer.

Each piece is kept in parts, compressed and encrypted, under its owner and a hash of the address of
the upload and the offset. A part is kept before the vendor gets it, so that an upload has one
content, and forgotten if the vendor refuses it. A file that is not kept completely is no batch, as
one for which the bytes of its owner leave no room.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from engine.exchange.opened_ids import Holder, Upload
from engine.exchange.services import ResponseStore
from engine.objects.batch_records import object_key
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
_START = -1
"""In the place of an offset: the upload may be a batch, unless it is lost."""
_LOST = b"lost"


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

    def keep(self, upload: Upload, offset: int, chunks: Iterable[bytes]) -> list[bytes] | None:
        """Keep a piece that begins at an offset. Returns the keys of what was not kept before; None
        without room, for this piece and all others of its upload. Raises GatewayError 409 for
        another content than that of an earlier piece there."""
        begun, keys = _part_key(upload, _START), list[bytes]()
        try:
            if offset == 0:
                self._claim(begun, b"")
            if self._read(begun) == _LOST:
                return None
            for part in _parts(chunks):
                key = _part_key(upload, offset)
                earlier_part = self._read(key)
                if earlier_part is None and not self._has_room(upload.owner, len(part)):
                    self.forget(keys)
                    self._lose(begun)
                    return None
                if earlier_part is None and self._claim(key, part):
                    keys.append(key)
                # Another request may bring the same piece at this moment.
                elif (earlier_part or self._read(key)) != part:
                    raise _conflict(offset)
                offset += len(part)
        except BaseException:
            self.forget(keys)
            raise
        return keys

    def forget(self, keys: Iterable[bytes]) -> None:
        """Forget what the vendor has not taken. Raises nothing."""
        for key in keys:
            try:
                self._store.remove(key)
            except DatabaseError as error:
                log.warning("a part of an upload is not forgotten: %s", error)

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
        return self._pieces(Upload(bytes.fromhex(owner), address), int(size))

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

    def _lose(self, begun: bytes) -> None:
        """Let an upload be no batch: the vendor gets a piece of it that is not kept."""
        log.warning("an upload is not kept: its owner has %d bytes of others", MAX_KEPT)
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


def _part_key(upload: Upload, offset: int) -> bytes:
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
