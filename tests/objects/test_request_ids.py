"""Ids in requests: where they are found, and what is refused."""

import gzip
import itertools
import json
from urllib.parse import quote

import orjson
import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.exchange.request_body import Body
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener, vendor_ids
from engine.objects.request_ids import RequestIds
from engine.objects.sealed_ids import NOBODY, Identity, Sealer
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.recording import MULTIPART, multipart

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


@each(
    ("facts", "signs"),
    [
        ({"names": {"voice": "body#/audio/voice/id"}}, [b'"voice"']),
        ({"names": {"file": "body#/messages/*/content/*/file/file_id"}}, [b'"file_id"']),
        ({"names": {"a": "body#/id"}, "when": "body#/store"}, [b'"store"', b'"id"']),
        ({"names": {"a": "body#/id"}, "when": "body#/st ore"}, None),
        ({"names": {"a": "body#/*"}}, None),
        ({"names": {"a": ["body#/id", "query.id"]}}, None),
        ({"names": {"a": "body#/id"}, "creates": {"b": "body#/id"}}, None),
        ({"names": {"a": "body#/id"}, "turns": "continue"}, None),
        ({"names": {"a": "body#/id"}, "lists": {"kind": "a"}}, None),
    ],
)
def test_the_signs_of_ids_in_json(facts, signs):
    read, faults = read_facts(facts)
    assert faults == []
    opener = IdOpener(SEALER, everybody=False, passes=False)
    ids = RequestIds(read, opener, lambda exchange: None)
    assert ids.signs == (() if signs is None else (b"\\u00", *signs))


def refusal(facts, exchange, **options):
    with pytest.raises(GatewayError) as raised:
        opened(facts, exchange, **options)
    return raised.value


def test_an_id_in_a_path_moves_the_variables_behind_it():
    path = f"/v1/files/{MINE}/parts/7"
    start, end = 10, 10 + len(MINE)
    variables = {"file": (start, end), "part": (end + 7, end + 8)}
    exchange = new_exchange(path=path, variables=variables)
    ids = opened({"names": {"file": "path.file"}}, exchange)
    assert exchange.path == "/v1/files/file-1/parts/7"
    assert (exchange.variable("file"), exchange.variable("part")) == ("file-1", "7")
    assert ids.holder == ALPHA
    assert [*vendor_ids(ids)] == [(b"file-1", MINE.encode())]


def test_a_path_may_lack_the_prefix():
    rest = sealed("files/abc").removeprefix("files/")
    exchange = new_exchange(path=f"/files/{rest}", variables={"f": (7, 7 + len(rest))})
    opened({"names": {"file": {"at": "path.f", "prefix": "files/"}}}, exchange)
    assert exchange.path == "/files/abc"


def test_ids_in_a_query_keep_everything_else():
    exchange = new_exchange(query=f"a=%20&ids[]={MINE}&ids[]={sealed('file-2')}&b=1")
    opened({"names": {"file": "query.ids"}}, exchange)
    assert exchange.query == "a=%20&ids[]=file-1&ids[]=file-2&b=1"


def test_an_id_in_a_header():
    exchange = new_exchange(environ={"HTTP_X_FILE": MINE})
    opened({"names": {"file": "header.x-file"}}, exchange)
    assert exchange.header("HTTP_X_FILE") == "file-1"


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


def test_an_id_that_is_not_the_callers_leaves_the_request_as_it_is():
    exchange = new_exchange(path=f"/%20{MINE}", variables={"f": (1, 4 + len(MINE))})
    assert refusal({"names": {"file": "path.f"}}, exchange).status == 404
    assert exchange.path == f"/%20{MINE}"


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


BEARER = {"names": {"upload": {"at": "query.id", "bearer": True}}}
UPLOAD = sealed("abc", "upload")


def test_whoever_bears_an_id_without_a_token_asks_for_its_owner():
    ids = opened(BEARER, new_exchange(query=f"id={UPLOAD}"), owner=NOBODY)
    assert ids.owner == OWNER


@each(
    ("facts", "owner"),
    [
        (BEARER, OTHER),  # a token of its own stands for nobody else
        ({"names": {"upload": "query.id"}}, NOBODY),
    ],
)
def test_otherwise_an_id_is_its_owners(facts, owner):
    assert refusal(facts, new_exchange(query=f"id={UPLOAD}"), owner=owner).status == 404


def test_a_forged_id_bears_nothing():
    exchange = new_exchange(query=f"id={UPLOAD[:-2]}AA")
    assert refusal(BEARER, exchange, owner=NOBODY).status == 404


def test_a_slash_of_an_id_that_was_coded_stays_coded():
    """Else the vendor would see one segment more, at another path."""
    coded = sealed("files/abc").replace("/", "%2F")
    exchange = new_exchange(path=f"/v1/{coded}", variables={"f": (4, 4 + len(coded))})
    opened({"names": {"file": "path.f"}}, exchange)
    assert exchange.path == "/v1/files%2Fabc"


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
