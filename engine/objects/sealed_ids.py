"""Ids of an upstream's objects, sealed: encrypted and authenticated, so that no caller can read,
make or change one.

A sealed id is `PREFIX` + `mw` + text. The prefix is that of the vendor's id (`file-`, `resp_`,
`files/`), which clients look at. The text is base64url, or hexadecimal behind a slash (google-genai
takes nothing but lower-case letters and digits there). It is the AES-SIV (RFC 5297) of:

    8 bytes   the owner (see `owner_of`)
    4 bytes   the upstream: the BLAKE2b of its name
    1 byte    the index of the credential at the upstream, 0 for the only one
    the rest  the vendor's id, in UTF-8

The kind of the object is associated data, so that the id of a file opens nowhere as that of a
batch. AES-SIV is deterministic: an id is the same each time it is seen, and after a restart, as
long as the first key of the ring stays. Keys behind the first open ids and seal none.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engine.exchange.opened_ids import Holder
from engine.values.caller import Caller

MARKER = "mw"
MAX_LENGTH = 2_048
"""Characters of a sealed id: a vendor's id of about 1,500 bytes, of 990 behind a slash."""

_HEAD = 13
_VERSION = b"modelway object 1"
STORED_RESPONSE = b"modelway stored response 1"
"""The purpose of what the records keep under a key."""
_PREFIX = re.compile(rf"(?!{MARKER})(?:.*/|[A-Za-z]{{1,24}}[_-])", re.DOTALL)
_MARK_LENGTH = 16


class Identity(NamedTuple):
    """What a sealed id says: the vendor's id, its holder, and the owner's 8 bytes."""

    vendor_id: str
    holder: Holder
    owner: bytes


class TooLong(ValueError):
    """A vendor's id that sealed would have more than MAX_LENGTH characters."""


RECORDS = ""
"""Stands for the gateway's own records where an id has the name of an upstream."""


class Sealer:
    """Seals and opens ids with the keys of a ring, the newest first, for `upstreams`, which are the
    names of all that are configured, with RECORDS if those keep objects. What the records keep, and
    summaries that callers keep, are encrypted with the same ring."""

    def __init__(self, keys: Sequence[str], upstreams: Iterable[str]) -> None:
        from engine.objects.id_cipher import IdCipher  # 6 MB that few gateways need

        digests = [hashlib.sha512(_VERSION + b"\0" + key.encode()).digest() for key in keys]
        self._keys = [IdCipher(digest) for digest in digests]
        self._mark_keys = [hashlib.sha256(b"owner's mark\0" + each).digest() for each in digests]
        self._names: Mapping[bytes, str] = {tag(name): name for name in upstreams}

    def seal(self, identity: Identity, kind: str) -> str:
        """The sealed id of an object. Raises TooLong."""
        holder, raw = identity.holder, identity.vendor_id.encode()
        if len(raw) > MAX_LENGTH:
            raise TooLong(f"an id of {len(raw)} bytes")
        plain = b"".join((identity.owner, tag(holder.upstream), bytes((holder.credential,)), raw))
        data = self._keys[0].encrypt(plain, _associated(kind))
        prefix = prefix_of(identity.vendor_id)
        text = prefix + MARKER + _encode(data, prefix)
        if len(text) > MAX_LENGTH:
            raise TooLong(f"an id of {len(raw)} bytes")
        return text

    def open(self, text: str, kind: str) -> Identity | None:
        """What a sealed id of this kind says; None for any other text, and for one whose upstream
        was removed."""
        prefix = prefix_of(text)
        start = len(prefix) + len(MARKER)
        if len(text) > MAX_LENGTH or not text.startswith(MARKER, len(prefix)):
            return None
        try:
            data = _decode(text[start:], prefix)
        except ValueError:
            return None
        associated = _associated(kind)
        for key in self._keys:
            plain = key.decrypt(data, associated)
            if plain is not None:
                return self._identity(plain, prefix)
        return None

    def _identity(self, plain: bytes, prefix: str) -> Identity | None:
        upstream = self._names.get(plain[8:12])
        vendor_id = plain[_HEAD:].decode()
        if upstream is None or prefix_of(vendor_id) != prefix:
            return None
        return Identity(vendor_id, Holder(upstream, plain[12]), plain[:8])

    def encrypt(self, data: bytes, key: bytes, purpose: bytes = STORED_RESPONSE) -> bytes:
        """A value for one purpose, which opens with the same `key` alone: where the records keep
        it, or whose it is."""
        return self._keys[0].encrypt(data, [purpose, key])

    def decrypt(self, data: bytes, key: bytes, purpose: bytes = STORED_RESPONSE) -> bytes | None:
        """The value that was encrypted so; None if no key of the ring opens it."""
        for each in self._keys:
            value = each.decrypt(data, [purpose, key])
            if value is not None:
                return value
        return None

    def mark(self, owner: bytes, kind: str) -> str:
        """The mark of an owner's objects of a kind, which only the holder of a key can make."""
        return _mark(self._mark_keys[0], owner, kind)

    def marks(self, owner: bytes, kind: str) -> frozenset[str]:
        """The marks of an owner by all keys of the ring."""
        return frozenset(_mark(key, owner, kind) for key in self._mark_keys)


def is_sealed(text: str) -> bool:
    """Whether a text has the form of a sealed id, of whatever key, kind and owner."""
    return text.startswith(MARKER, len(prefix_of(text)))


def prefix_of(vendor_id: str) -> str:
    """The prefix of an id, which its sealed form keeps."""
    match = _PREFIX.match(vendor_id)
    return "" if match is None else match[0]


def tag(upstream: str) -> bytes:
    """The 4 bytes that stand for an upstream."""
    return hashlib.blake2b(upstream.encode(), digest_size=4).digest()


@cache  # kinds are those of the documents
def _associated(kind: str) -> list[bytes]:
    """The associated data of ids of a kind."""
    return [_VERSION + b" " + kind.encode()]


def _mark(key: bytes, owner: bytes, kind: str) -> str:
    digest = hmac.digest(key, owner + kind.encode(), "sha256")
    return b32encode(digest).decode().lower()[:_MARK_LENGTH]


def _encode(data: bytes, prefix: str) -> str:
    if prefix.endswith("/"):
        return data.hex()
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str, prefix: str) -> bytes:
    """The bytes of a text. Raises ValueError for one that is not exactly what `_encode` writes."""
    if prefix.endswith("/"):
        data = bytes.fromhex(text)
    else:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _encode(data, prefix) != text:
        raise ValueError("not the one spelling of its bytes")
    return data


EVERYBODY = b"\0" * 8
"""The owner of the objects of a config with `owner: all`."""


def owner_of(caller: Caller | None, owner: str) -> bytes:
    """The 8 bytes that stand for the owner of a caller's objects; `owner` is that of the config. A
    token without a team owns its objects alone, and so does whoever sends none."""
    if owner == "all":
        return EVERYBODY
    name = "" if caller is None else caller.name
    team = caller.team if caller is not None and owner == "team" else ""
    return _digest("team", team) if team else _digest("token" if caller else "nobody", name)


@lru_cache(maxsize=4_096)
def _digest(kind: str, name: str) -> bytes:
    return hashlib.blake2b(f"{kind}\0{name}".encode(), digest_size=8).digest()


NOBODY = owner_of(None, "token")
"""The owner of what requests without a token make."""
