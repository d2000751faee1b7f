"""Opens one sealed id, and checks that it is the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol
from urllib.parse import unquote

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.id_places import IdPlace
from engine.objects.sealed_ids import NOBODY, Identity, Sealer, is_sealed
from engine.values.errors import GatewayError


def not_found() -> GatewayError:
    """404 for an id that is not the caller's, whatever the reason: the same for a forged one, one
    of another owner, and one whose upstream was removed."""
    message = "There is no such object, or it does not belong to this token."
    return GatewayError(404, "not_found", message)


class IdOpener:
    """Opens ids of this gateway: with `passes`, what is no sealed id passes as it is."""

    def __init__(self, sealer: Sealer, *, everybody: bool, passes: bool) -> None:
        self.sealer = sealer
        self._everybody = everybody
        self.passes = passes

    def open_at(
        self, place: IdPlace, value: str, exchange: Exchange, opened: OpenedIds
    ) -> str | None:
        """The value at a place of a request with the vendor's id; None if it stays as it is. Raises
        as `open`."""
        parts = place.split(value)
        if parts is None:
            return None
        before, text, after = parts
        prefix = place.full_prefix(lambda name: unquote(exchange.variable(name)))
        vendor = self.open(text, place.kind, prefix, opened, bearer=place.bearer)
        return None if vendor is None else before + vendor + after

    def open(
        self, text: str, kind: str, prefix: str, opened: OpenedIds, *, bearer: bool = False
    ) -> str | None:
        """The vendor's id for a text, without the prefix, which both lack; None if it stays as it
        is. With `bearer` a request of nobody becomes one of the id's owner. Raises GatewayError
        404, and 400 for an object at another upstream than those before."""
        sealed = prefix + text
        identity = self.identify(sealed, kind, opened.owner, bearer=bearer)
        if identity is None:
            return None
        if bearer and opened.owner == NOBODY:
            opened.owner = identity.owner
        if opened.holder is None:
            opened.holder, opened.kind = identity.holder, kind
        else:
            check_holder(opened, identity.holder, kind)
        opened.names[identity.vendor_id] = sealed
        if not identity.vendor_id.startswith(prefix):
            raise not_found()
        return identity.vendor_id[len(prefix) :]

    def identify(
        self, sealed: str, kind: str, owner: bytes, *, bearer: bool = False
    ) -> Identity | None:
        """What an id of the owner's says; None for one that passes as it is. With `bearer` nobody
        may have any. Raises GatewayError 404."""
        identity = self.sealer.open(sealed, kind)
        if identity is None:
            if self.passes and not is_sealed(sealed):
                return None
            raise not_found()
        is_own = identity.owner == owner or (bearer and owner == NOBODY)
        if not is_own and not self._everybody:
            raise not_found()
        return identity


class Objects(Protocol):
    """Objects of one request: where they live, and the kind of the first of them."""

    holder: Holder | None
    kind: str


def check_holder(objects: Objects, other: Holder, kind: str) -> None:
    """Raises GatewayError 400 if an object of a kind lives elsewhere than those of its request."""
    if objects.holder is None or objects.holder == other:
        return
    first, second = holder_name(objects.holder), holder_name(other)
    if objects.holder.upstream == other.upstream:
        first, second = (holder_name(each, account=True) for each in (objects.holder, other))
    message = (
        f"This request names objects of two places: a {objects.kind} at {first}, and a {kind} at "
        f"{second}. Use objects of one of them."
    )
    raise GatewayError(400, "objects_of_two_upstreams", message)


def holder_name(holder: Holder, *, account: bool = False) -> str:
    """A holder for people."""
    name = f"'{holder.upstream}'" if holder.upstream else "this gateway's records"
    return f"{name} (credential {holder.credential + 1})" if account else name


def vendor_ids(opened: OpenedIds) -> Iterator[tuple[bytes, bytes]]:
    """The vendor's ids that a request named, with the sealed ones, as bytes of JSON; long ones
    first, because one may be a part of another."""
    for vendor, sealed in sorted(opened.names.items(), key=lambda pair: -len(pair[0])):
        yield orjson.dumps(vendor)[1:-1], orjson.dumps(sealed)[1:-1]
