"""Where a request names its model, and repeats the name."""

import orjson
import pytest

from engine.exchange.request_body import Body
from engine.exchange.spooled_body import SpooledBody
from engine.spec.expression import parse
from engine.spec.model_locations import ModelLocations, early_model_name
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

COPY = parse("$request.body#/model")
BY_HEADER = ModelLocations(parse("$request.header.x-model"), (COPY,), "models/")


def exchange(body):
    return new_exchange(
        environ={"HTTP_X_MODEL": "m"},
        body=Body(body),
        value=orjson.loads(body),
        media_type="application/json",
        model="m",
    )


def test_the_place_in_the_body_is_found():
    request = exchange(b'{"n": 1, "model": "m"}')
    ModelLocations(COPY).find(request)
    start, end = request.model.span
    assert request.body.in_memory[start:end] == b'"m"'
    assert request.model.copies == ()


@pytest.mark.parametrize(("name", "prefix"), [("m", ""), ("models/m", "models/")])
def test_a_copy_may_have_the_prefix(name, prefix):
    request = exchange(b'{"model": "%s"}' % name.encode())
    BY_HEADER.find(request)
    assert request.model.span is None
    assert [copy[2] for copy in request.model.copies] == [prefix]


@pytest.mark.parametrize(
    ("copy", "body"),
    [
        ("/model", b'{"model": "other", "model": "m"}'),
        ("/a/model", b'{"a": {"model": "other"}, "a": {}}'),
        ("/a/model", b'{"a": {"model": "other"}, "a": 1}'),
        ("/a/*/model", b'{"a": [{"model": "other"}], "a": []}'),
    ],
)
def test_a_copy_that_may_be_in_a_repeated_member_is_refused(copy, body):
    locations = ModelLocations(BY_HEADER.model, (parse(f"$request.body#{copy}"),))
    with pytest.raises(GatewayError) as excinfo:
        locations.find(exchange(body))
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")


def test_another_name_in_a_copy_is_refused():
    with pytest.raises(GatewayError) as excinfo:
        BY_HEADER.find(exchange(b'{"model": "other"}'))
    assert (excinfo.value.status, excinfo.value.param) == (400, "model")


MODEL = "$request.body#/model"


def named(text=MODEL, body=b"", kind="application/json", **fields):
    environ = {"CONTENT_TYPE": kind, "HTTP_X_MODEL": "of-header"}
    return early_model_name(parse(text), new_exchange(environ=environ, body=Body(body), **fields))


@each(
    ("body", "name"),
    [
        (b'{"model": "m"}', "m"),
        (b'{"a": [{"model": "x"}], "model": "m", "z": {"model": "y"}}', "m"),
        (b'{"messages": [{"model": "x"}]}', ""),
        (b'{"mod\\u0065l": "m\\u00e9"}', "m\xe9"),
        (b'{"model": "a", "model": "b"}', "b"),
        (b'{"model": 7}', ""),
        (b'{"model": null}', ""),
        (b'["model"]', ""),
        (b'{"model": "m"', ""),
        (b'{"model": "\xff"}', ""),
        (b"", ""),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "model": "m"}', ""),
    ],
)
def test_a_name_in_the_body_is_skimmed(body, name):
    assert named(body=body) == name


def test_a_body_on_disk_is_skimmed(tmp_path):
    file = (tmp_path / "body").open("w+b")
    data = b'{"model": "m", "pad": "%s"}' % (b"x" * 100_000)
    file.write(data)
    file.flush()
    body = SpooledBody(file, len(data))
    exchange = new_exchange(environ={"CONTENT_TYPE": "application/json"}, body=body)
    assert early_model_name(parse(MODEL), exchange) == "m"
    body.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("$request.header.x-model", "of-header"),
        ("$request.header.x-missing", ""),
        ("$request.query.m", "a b"),
        ("$request.path.model", "gpt 4"),
    ],
)
def test_a_name_in_the_head_is_read(text, name):
    path = "/models/gpt%204"
    assert named(text, path=path, query="m=a%20b", variables={"model": (8, len(path))}) == name


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (MODEL, "application/x-www-form-urlencoded"),
        (MODEL, "text/plain"),
        (MODEL, ""),
        ("$request.body#/a/model", "application/json"),
    ],
)
def test_what_only_the_parsed_body_tells_has_no_name(text, kind):
    assert named(text, b'{"model": "m", "a": {"model": "m"}}', kind) == ""
