"""The places of names, as the workers of a machine share them in one file.

Record n of the file is the digest of the name at place n. A place may be given to another name; a
ring of numbers says which were, so that each worker reads no more than what is new to it. All of it
happens under a lock of the file, whose descriptor every function gets.
"""

from __future__ import annotations

import errno
import os
from hashlib import blake2b

from engine.machine.mapped_numbers import View

_SIZE = 16
"""The bytes of a record."""


def digest_of(name: str) -> bytes:
    """What stands for a name in the file."""
    return blake2b(name.encode(), digest_size=_SIZE).digest()


class NamePlaces:
    """The places of names, as one worker knows them. `ring` has at 0 how often a place got another
    name, and behind it the last ones that did."""

    def __init__(self, ring: View) -> None:
        self._ring = ring
        self._seen = ring[0]
        self._digests: list[bytes] = []
        self._places: dict[bytes, int] = {}

    def __len__(self) -> int:
        """The places that there are."""
        return len(self._digests)

    def read(self, fd: int) -> None:
        """See what other workers wrote."""
        new = os.fstat(fd).st_size // _SIZE - len(self)
        if new:
            self._read(fd, len(self), new)
        changes, length = self._ring[0] - self._seen, len(self._ring) - 1
        if changes > length:
            self._read(fd, 0, len(self))
        else:
            for number in range(self._seen, self._ring[0]):
                self._read(fd, self._ring[1 + number % length], 1)
        self._seen = self._ring[0]

    def find(self, digest: bytes) -> int | None:
        """The place of the name with this digest; None if it has none."""
        return self._places.get(digest)

    def append(self, fd: int, digest: bytes) -> int:
        """A new place for a name. Raises OSError if its record does not fit."""
        place = len(self)
        self._write(fd, place, digest)
        return place

    def give(self, fd: int, place: int, digest: bytes) -> None:
        """Take a place from its name, and give it to another. Whoever is ended within this leaves
        a place that is read again and has not changed."""
        ring, length = self._ring, len(self._ring) - 1
        ring[1 + ring[0] % length] = place
        ring[0] += 1
        self._seen += 1
        self._write(fd, place, digest)

    def close(self) -> None:
        """Release the ring."""
        self._ring.release()

    def _write(self, fd: int, place: int, digest: bytes) -> None:
        if os.pwrite(fd, digest, place * _SIZE) < _SIZE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._note(place, digest)

    def _read(self, fd: int, first: int, count: int) -> None:
        data = os.pread(fd, count * _SIZE, first * _SIZE)
        for at in range(count):
            self._note(first + at, data[at * _SIZE : (at + 1) * _SIZE])

    def _note(self, place: int, digest: bytes) -> None:
        if place == len(self):
            self._digests.append(digest)
        else:
            former = self._digests[place]
            if self._places.get(former) == place:
                del self._places[former]
            self._digests[place] = digest
        self._places[digest] = place
