"""Sealed ids, and requests in which they are opened."""

import json

import orjson
import pytest

from engine.exchange.opened_ids import Holder, OpenedIds
from engine.exchange.request_body import Body
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.request_ids import RequestIds
from engine.objects.sealed_ids import Identity, Sealer
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

SEALER = Sealer(["a key for tests " * 4], ["alpha", "beta"])


OWNER, OTHER = b"owner--1", b"owner--2"


ALPHA, BETA = Holder("alpha"), Holder("beta")


def sealed(vendor_id="file-1", kind="file", owner=OWNER, holder=ALPHA):
    return SEALER.seal(Identity(vendor_id, holder, owner), kind)


MINE, THEIRS = sealed(), sealed(owner=OTHER)


def opened(facts, exchange, *, everybody=False, passes=False, names=None, owner=OWNER):
    """The exchange after its ids were opened, and what they said."""
    read, faults = read_facts(facts)
    assert faults == []
    opener = IdOpener(SEALER, everybody=everybody, passes=passes)
    ids = OpenedIds(owner)
    RequestIds(read, opener, lambda exchange: None, names).open(exchange, ids)
    return ids


def with_json(value, **fields):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return new_exchange(
        environ={"CONTENT_TYPE": "application/json"},
        body=Body(text),
        value=orjson.loads(text),
        media_type="application/json",
        **fields,
    )


def refusal(facts, exchange, **options):
    with pytest.raises(GatewayError) as raised:
        opened(facts, exchange, **options)
    return raised.value
