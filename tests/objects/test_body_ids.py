"""Ids in bodies: where they are found, and what is refused."""

import gzip
import itertools
import json
from urllib.parse import quote

import orjson
import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.exchange.request_body import Body
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.recording import MULTIPART, multipart
from tests.support.sealed_ids import (
    MINE,
    THEIRS,
    opened,
    refusal,
    sealed,
    with_json,
)


def test_json_keeps_all_other_bytes():
    text = b'{ "a" : [ {"file_id":"%s"} , 1.0 ], "x": 1e2 }' % MINE.encode()
    exchange = with_json(text)
    opened({"names": {"file": "body#/a/*/file_id"}}, exchange)
    assert exchange.body.in_memory == b'{ "a" : [ {"file_id":"file-1"} , 1.0 ], "x": 1e2 }'
    assert exchange.content.value["a"][0] == {"file_id": "file-1"}


def test_json_without_ids_is_the_same_body():
    exchange = with_json({"model": "m"})
    body = exchange.body
    assert opened({"names": {"file": "body#/file_id"}}, exchange).holder is None
    assert exchange.body is body


def test_a_url_keeps_its_other_parts():
    rest = sealed("files/abc").removeprefix("files/")
    exchange = with_json({"file_data": {"file_uri": f"https://v.example/v1/files/{rest}?a"}})
    place = {"at": "body#/fileData/fileUri", "after": "files/", "prefix": "files/"}
    opened({"names": {"file": place}}, exchange, names=json_name)
    assert exchange.content.value == {"file_data": {"file_uri": "https://v.example/v1/files/abc?a"}}


@each("kind", ["application/x-www-form-urlencoded", MULTIPART])
@each(
    "other, name, place",
    [("a", "file_ids[]", "body#/file_ids"), ("video", "video[id]", "body#/video/id")],
)
def test_fields_of_forms(kind, other, name, place):
    body = f"{other}=1&{quote(name)}={MINE}".encode()
    if kind == MULTIPART:
        body = multipart((f'name="{other}"', b"\0"), (f'name="{name}"', MINE.encode()))
    exchange = new_exchange(environ={"CONTENT_TYPE": kind}, body=Body(body))
    opened({"names": {"file": place}}, exchange)
    data = b"".join(exchange.body.chunks())
    assert data == body.replace(MINE.encode(), b"file-1")


@each(
    "kind, name, text",
    itertools.product(
        ["application/x-www-form-urlencoded", MULTIPART],
        ["video", "video[]"],
        ['{"id":"file-1"}', ' \n[{"id":"file-1"}]'],
    ),
)
def test_json_in_a_field_hides_no_id(kind, name, text):
    body = f"{quote(name)}={quote(text)}".encode()
    if kind == MULTIPART:
        body = multipart((f'name="{name}"', text.encode()))
    exchange = new_exchange(environ={"CONTENT_TYPE": kind}, body=Body(body))
    with pytest.raises(GatewayError, match="JSON of the field") as raised:
        opened({"names": {"file": "body#/video/id"}}, exchange)
    assert (raised.value.status, raised.value.param) == (400, name)


def test_a_field_with_a_file_name_hides_no_id():
    body = multipart(('name="file_id"; filename="x"', b"file-1"))
    exchange = new_exchange(environ={"CONTENT_TYPE": MULTIPART}, body=Body(body))
    assert refusal({"names": {"file": "body#/file_id"}}, exchange).status == 404


@each(
    "text",
    [
        b'{"file_id":"file-7","file_id":"MINE"}',
        b'{"file_id":"file-7","file_id":null}',
        b'{"a":{"file_id":"file-7"},"a":{},"file_id":"MINE"}',
        b'{"file_id":"file-7","file\\u005fid":"MINE"}',
    ],
)
def test_a_repeated_member_hides_no_id(text):
    facts = {"names": {"file": ["body#/file_id", "body#/a/file_id"]}}
    error = refusal(facts, with_json(text.replace(b"MINE", MINE.encode())))
    assert error.status in (400, 404)


FORMS = {"names": {"file": ["body#/file_id", "body#/a/*/b/id", "body#/ids/*", "body#/x/**/ids/*"]}}


@each(
    "value",
    [
        {"FILE_ID": "TEXT"},
        {"File_Id": "TEXT", "file_id": MINE},
        {"A": [{"b": {"id": "TEXT"}}]},
        {"a": {"b": {"id": "TEXT"}}},
        {"a": [[{"b": [{"Id": "TEXT"}]}]]},
        {"ids": "TEXT"},
        {"ids": [["TEXT"]]},
        {"ids": {"Ids": "TEXT"}},
        {"x": {"y": [{"IDs": "TEXT"}]}},
        {"file_id": ["TEXT"]},
        {"file_id": {"id": "TEXT"}},
        {"file_id": 7},
    ],
)
def test_an_id_in_a_form_that_only_lenient_servers_read_is_one(value):
    """Vendors refuse most of these; a server in Go or PHP reads them."""
    text = json.dumps(value).encode()
    for vendor_id in ("file-1", THEIRS):
        assert refusal(FORMS, with_json(text.replace(b"TEXT", vendor_id.encode()))).status == 404
    if b"TEXT" in text:
        passing = with_json(text.replace(b"TEXT", b"file-1"))
        opened(FORMS, passing, passes=True)
        assert passing.body.in_memory == text.replace(b"TEXT", b"file-1").replace(
            MINE.encode(), b"file-1"
        )


def test_the_callers_own_id_in_other_capitals_is_opened():
    exchange = with_json({"FILE_ID": MINE, "a": {"b": {"ID": MINE}}})
    opened(FORMS, exchange)
    assert orjson.loads(exchange.body.in_memory) == {
        "FILE_ID": "file-1",
        "a": {"b": {"ID": "file-1"}},
    }


def test_the_schema_of_an_argument_with_the_name_of_ids_is_none():
    schema = {"ids": {"type": "array", "items": {"type": "string"}}}
    value = {"x": [{"parameters": {"properties": schema}}], "ids": [MINE]}
    exchange = with_json(value)
    opened(FORMS, exchange)
    assert orjson.loads(exchange.body.in_memory) == {**value, "ids": ["file-1"]}


def test_a_list_given_twice_hides_no_id():
    """Of two items the second one might make up for the member that is given twice."""
    text = b'{"ids":["file-7"],"ids":["%s","%s"]}' % (MINE.encode(), MINE.encode())
    assert refusal(FORMS, with_json(text)).status == 400


@each("value", [{"file_id": None}, {"file_id": ""}, {"file_id": False}, {"file_id": []}, []])
def test_what_is_no_text_is_no_id(value):
    exchange = with_json(value)
    opened({"names": {"file": "body#/file_id"}}, exchange)
    assert orjson.loads(exchange.body.in_memory) == value


def test_a_body_in_which_ids_cannot_be_found_is_refused():
    facts = {"names": {"file": "body#/file_id"}}
    plain = new_exchange(environ={"CONTENT_TYPE": "text/plain"}, body=Body(b'{"file_id":"file-1"}'))
    broken = new_exchange(
        environ={"CONTENT_TYPE": "application/json"}, body=Body(b'{"file_id":"file-1"')
    )
    form = new_exchange(environ={"CONTENT_TYPE": MULTIPART}, body=Body(b"no multipart"))
    assert [refusal(facts, each).status for each in (plain, broken, form)] == [415, 400, 400]


def test_an_object_is_made_only_where_the_request_says_so():
    mark = {"kind": "file", "form": "map", "at": "body#/metadata"}
    facts = {"when": "body#/store", "creates": {"file": "body#/id"}, "marks": [mark]}
    for value, creates in (({"store": True}, True), ({"store": "yes"}, False), ({}, False)):
        exchange = with_json(value)
        assert opened(facts, exchange).creates is creates
        assert (b"modelway_owner" in exchange.body.buffer) is creates


@pytest.mark.parametrize(
    ("coded", "content_type", "more"),
    [
        (lambda text: text.encode("utf-16"), "application/json; charset=utf-16", {}),
        (lambda text: text.encode("utf-16"), "application/json", {}),
        (lambda text: text.encode("utf-16-le"), "application/json", {}),
        (lambda text: text.encode("utf-32-be"), "application/json", {}),
        (lambda text: text.replace("_", "+AF8-").encode(), 'application/json;charset="utf-7"', {}),
        (
            lambda text: text.replace("_", "+AF8-").encode(),
            'application/json; charset=utf-7; x="multipart/"',
            {},
        ),
        (str.encode, "application/x-www-form-urlencoded", {}),
        (lambda text: gzip.compress(text.encode()), "application/json", {"gzip": True}),
    ],
    ids=["utf-16", "mark", "utf-16-le", "utf-32", "utf-7", "parameter", "form", "gzip"],
)
def test_a_body_in_which_no_id_is_found_is_refused(coded, content_type, more):
    text = '{"input_file_id": "file-of-another"}'
    environ = {"CONTENT_TYPE": content_type} | ({"HTTP_CONTENT_ENCODING": "gzip"} if more else {})
    exchange = new_exchange(body=Body(coded(text)), environ=environ)
    with pytest.raises(GatewayError) as raised:
        opened({"names": {"file": "body#/input_file_id"}}, exchange)
    assert raised.value.status == 415


@pytest.mark.parametrize("charset", ["utf-8", '"UTF8"', " us-ascii", "iso-8859-1; x=y"])
def test_a_charset_in_which_ids_have_their_bytes_is_read(charset):
    environ = {"CONTENT_TYPE": f"application/json; charset={charset}"}
    exchange = new_exchange(body=Body(b'{"input_file_id": "file-of-another"}'), environ=environ)
    with pytest.raises(GatewayError) as raised:
        opened({"names": {"file": "body#/input_file_id"}}, exchange)
    assert raised.value.status == 404
