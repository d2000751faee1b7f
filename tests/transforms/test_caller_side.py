"""Transforms on the caller's side: bytes and value of the request stay in agreement."""

import copy

import orjson
import pytest

from engine.config.transforms import TransformConfig
from engine.exchange.exchange import MISSING
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.transforms.caller_side import edit_request
from engine.transforms.compile import compile_all
from engine.transforms.template import TemplateValues
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

FORM = 'multipart/form-data; boundary="B"'


def edit(exchange, *requests):
    configs = [TransformConfig({"request": request}, ("policies", 0)) for request in requests]
    values = TemplateValues(copy.copy(exchange))
    return edit_request(exchange, compile_all(configs, upstream=False), values)


def exchange(body=b"{}", content_type="application/json", **fields):
    body = body if isinstance(body, Body) else Body(body)
    fields.setdefault("media_type", content_type.partition(";")[0])
    if content_type == "application/json" and "value" not in fields:
        fields["value"] = orjson.loads(bytes(body.buffer))
    environ = {"CONTENT_TYPE": content_type, **fields.pop("environ", {})}
    return new_exchange(environ=environ, body=body, **fields)


def test_json_and_its_value_are_edited_by_one_transform_after_another():
    request = exchange(b'{"a": 1.0}')
    rename, default = {"rename": {"a": "b"}}, {"default": {"b": 2, "c": 3}}
    assert edit(request, {"body": rename}, {"body": default})
    assert request.body.in_memory == b'{"b": 1.0,"c":3}'
    assert request.content.value == {"b": 1.0, "c": 3}


@pytest.mark.parametrize(
    ("body", "edits", "after"),
    [
        (b'{"A":1,"b":2,"A":3}', {"remove": ["a"]}, b'{"b":2}'),
        (b'{"a":1,"A":3}', {"set": {"a": 2}}, b'{"a":2}'),
        (b'{"A":3}', {"set": {"a": 2}}, b'{"a":2}'),
        (b'{"A":3}', {"set": {"a": "{token.team}"}}, b'{"A":3}'),
        (b'{"o":{"x":1,"X":2},"O":{"x":3}}', {"set": {"/o/x": 4}}, b'{"o":{"x":4},"O":{}}'),
        (b'{"A":3}', {"default": {"a": 2}}, b'{"A":3,"a":2}'),
        (b'{"A":3}', {"remove": ["$.a"]}, b"{}"),
    ],
)
def test_what_is_removed_or_set_takes_other_spellings_away(body, edits, after):
    request = exchange(body)
    edit(request, {"body": edits})
    assert request.body.in_memory == after
    assert request.content.value == orjson.loads(after)


def test_a_body_that_no_edit_changes_is_the_same():
    request = exchange(b'{"a": 1.0}')
    body = request.body
    assert not edit(request, {"body": {"default": {"a": 2}, "remove": ["b"]}})
    assert request.body is body


def test_json_on_disk_is_edited():
    request = exchange(spool([b'{"a": ', b'"x"}']))
    edit(request, {"body": {"set": {"b": 1}}})
    assert bytes(request.body.buffer) == b'{"a": "x","b":1}'


def test_json_that_was_not_parsed_is_edited():
    request = exchange(b"{}", value=MISSING, media_type="")
    edit(request, {"body": {"set": {"b": 1}}})
    assert request.body.in_memory == b'{"b":1}'


def test_text_that_is_no_json_passes_where_nothing_is_checked():
    request = exchange(b"{", "application/json", value=MISSING, media_type="")
    assert not edit(request, {"body": {"set": {"b": 1}}})


def test_templates_see_the_query_as_it_was():
    request = exchange(query="a=1")
    first = {"query": {"set": {"a": "2"}}}
    edit(request, first, {"body": {"set": {"b": "{request.query.a}"}}})
    assert request.query == "a=2"
    assert request.content.value == {"b": "1"}


def test_headers_are_edited_when_they_are_sent():
    request = exchange(environ={"HTTP_X_A": "1"})
    header = {"rename": {"x-a": "x-b"}, "remove": ["x-c"], "set": {"x-d": "{request.id}"}}
    edit(request, {"header": header})
    assert request.edits.headers([("x-c", "1")]) == [("x-b", "1"), ("x-d", "req_1")]


def test_the_headers_of_an_earlier_transform_are_edited_by_the_next():
    request = exchange(request_id="req_1")
    edit(request, {"header": {"set": {"x-a": "1"}}})
    edit(request, {"header": {"rename": {"x-a": "x-b"}}})
    assert request.edits.headers([]) == [("x-b", "1")]


def test_a_form_is_edited():
    request = exchange(b"a=1", "application/x-www-form-urlencoded")
    assert edit(request, {"body": {"set": {"b": 1}}})
    assert request.body.in_memory == b"a=1&b=1"


def test_a_multipart_form_on_disk_is_edited_twice():
    text = b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--\r\n'
    request = exchange(spool([text]), FORM)
    edit(request, {"body": {"set": {"a": 2}}}, {"body": {"rename": {"a": "b"}}})
    assert bytes(request.body.buffer) == text.replace(b"1", b"2").replace(b'"a"', b'"b"')
    assert len(request.on_end) == 2


def test_a_body_that_is_no_form_passes_where_nothing_is_checked():
    request = exchange(b"x", FORM)
    assert not edit(request, {"body": {"set": {"a": 2}}})


@pytest.mark.parametrize("body", [{"rename": {"a": "b"}}, {"set": {"/a/c": 1}}])
def test_a_member_that_is_there_twice_refuses_the_request(body):
    with pytest.raises(GatewayError) as excinfo:
        edit(exchange(b'{"a": {}, "a": {}}'), {"body": body})
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")


def test_a_request_without_a_body_gets_none():
    request = exchange(b"", "text/plain")
    assert not edit(request, {"body": {"set": {"a": 2}}})
