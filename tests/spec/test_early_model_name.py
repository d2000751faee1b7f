"""The name of the model in a body that has not been parsed."""

import pytest

from engine.exchange.request_body import Body
from engine.spec.early_model_name import early_model_name
from engine.spec.expression import parse
from tests.support.each import each
from tests.support.exchanges import new_exchange

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
    body = Body(file=file, size=len(data))
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
