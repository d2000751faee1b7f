"""Ids in the messages of a WebSocket."""

import orjson
import pytest

from engine.exchange.opened_ids import Holder
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.objects.sealed_ids import Identity, Sealer
from engine.objects.session_ids import SessionIds, has_messages
from engine.values.errors import GatewayError
from tests.support.each import each

SEALER = Sealer(["a key for tests " * 4], ["here", "there"])
HERE = Holder("here", 1)
FACTS, _ = read_facts(
    {
        "names": {
            "file": "message#/**/file_id",
            "conversation": {"at": "message#/response/conversation", "pass": ["auto"]},
        },
        "creates": {"response": ["message#/response/id", "message#/response_id"]},
    }
)


def ids(*, passes=False):
    sealer = ResponseSealer(
        SealedPlaces(FACTS), SEALER, b"owner--1", HERE, lambda url: None, lambda name: ""
    )
    opener = IdOpener(SEALER, everybody=False, passes=passes)
    return SessionIds(FACTS, opener, sealer, b"owner--1", HERE)


def sealed(vendor_id="file-1", holder=HERE, owner=b"owner--1", kind="file"):
    return SEALER.seal(Identity(vendor_id, holder, owner), kind)


def message(**members):
    return orjson.dumps({"type": "x", "item": {"content": [members]}})


def test_ids_are_opened_and_sealed_where_they_stand():
    both = ids()
    assert both.sent(message(file_id=sealed())) == message(file_id="file-1")
    received = both.received(b'{"type": "y",  "response": {"id": "resp_1"}}')
    text = sealed("resp_1", kind="response")
    assert received == b'{"type": "y",  "response": {"id": "%s"}}' % text.encode()
    assert orjson.loads(both.received(b'{"response_id": "resp_1"}'))["response_id"] == text


@each(
    "data",
    [
        b'{"type": "input_audio_buffer.append", "audio": "file_id"}',
        b"\x00\x01 audio",
        b'{"response": {"conversation": "auto"}}',
        b'{"type": "x"',
    ],
)
def test_all_else_passes_as_it_is(data):
    assert ids().sent(data) == data
    assert ids().received(data) == data


@each(
    ("data", "status"),
    [
        (message(file_id="file-1"), 404),
        (message(file_id=sealed(owner=b"owner--2")), 404),
        (message(file_id=sealed(kind="batch")), 404),
        (message(file_id=sealed()[:-1]), 404),
        (message(file_id=sealed(holder=Holder("there"))), 400),
        (message(file_id=sealed(holder=Holder("here", 0))), 400),
        (b'{"response": {"conversation": "conv_1"}}', 404),
        (b'{"file_id": "auto", "file_id": "file-1"}', 400),
        (b'{"file_id": "file-1"', 400),
        (rb'{"file\u005fid": "file-1"}', 404),
    ],
)
def test_what_is_not_the_callers_is_not_sent(data, status):
    with pytest.raises(GatewayError) as excinfo:
        ids().sent(data)
    assert excinfo.value.status == status


def test_ids_of_before_pass_where_the_config_says_so():
    assert ids(passes=True).sent(message(file_id="file-1")) == message(file_id="file-1")


def test_only_some_operations_have_ids_in_messages():
    assert has_messages(FACTS)
    assert not has_messages(read_facts({"names": {"file": "path.id"}})[0])
    assert not has_messages(None)


@each(
    "text",
    [
        b'{"item": {"File_ID": "TEXT"}}',
        b'{"item": {"file_id": ["TEXT"]}}',
        b'{"Response": [{"conversation": "TEXT"}]}',
        b'{"response": {"conversation": {"id": "TEXT"}}}',
    ],
)
def test_an_id_in_another_form_is_one_of_another(text):
    with pytest.raises(GatewayError) as raised:
        ids().sent(text.replace(b"TEXT", b"raw-1"))
    assert raised.value.status == 404
    schema = b'{"session": {"tools": [{"parameters": {"properties": {"file_id": {"type": "x"}}}}]}}'
    assert ids().sent(schema) == schema
