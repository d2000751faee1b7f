"""Transforms on the upstream's side: one after another, on the request of an attempt."""

import pytest

from engine import dialects
from engine.config.transforms import TransformConfig
from engine.dialects.gemini.proto_json import json_name
from engine.exchange.spooled_body import spool
from engine.transforms.compile import compile_all
from engine.transforms.template import TemplateValues
from engine.transforms.upstream_side import UpstreamEdits
from engine.values.upstream_request import UpstreamRequest
from tests.support.exchanges import new_exchange


def edited_request(*requests, path="/v1/chat", query="a=1", headers=(("x", "1"),)):
    configs = [TransformConfig({"request": request}, ()) for request in requests]
    request = UpstreamRequest("POST", "host", path, query, list(headers), b"{}")
    values = TemplateValues(new_exchange(), "main", "m")
    UpstreamEdits(compile_all(configs, upstream=True)).apply(request, "/v1", values)
    return request


def test_path_query_and_headers_are_edited():
    request = edited_request(
        {
            "header": {"rename": {"x": "y"}},
            "query": {"set": {"b": "{target.path}"}},
            "path": "/deployments/{target.model}{target.path}",
        }
    )
    assert request.target == "/v1/deployments/m/chat?a=1&b=%2Fchat"
    assert request.headers == [("y", "1")]


def test_a_later_transform_sees_what_an_earlier_one_made():
    request = edited_request({"path": "/a{target.path}"}, {"path": {"/a/chat": "/b{target.path}"}})
    assert request.path == "/v1/b/a/chat"


def test_transforms_without_edits_are_left_out():
    assert not UpstreamEdits(compile_all([TransformConfig({"request": {}}, ())], upstream=True))


def sent_body(body, content_type, *requests):
    exchange = new_exchange()
    configs = [TransformConfig({"request": request}, ()) for request in requests]
    headers = [("content-type", content_type)]
    request = UpstreamRequest("POST", "host", "/v1/chat", "", headers, body)
    values = TemplateValues(exchange, "main", "m")
    UpstreamEdits(compile_all(configs, upstream=True)).apply(request, "/v1", values)
    return request, exchange


def test_json_is_edited_by_each_transform():
    request, _ = sent_body(
        b'{"model": "x", "a": 1.0}',
        "application/json; charset=utf-8",
        {"body": {"remove": ["model"]}},
        {"body": {"set": {"b": "{target.model}"}}},
    )
    assert request.body == b'{"a": 1.0,"b":"m"}'


def test_json_on_disk_is_edited():
    request, _ = sent_body(spool([b"{", b"}"]), "application/json", {"body": {"set": {"a": 1}}})
    assert request.body == b'{"a":1}'


def test_a_form_is_edited():
    form = "application/x-www-form-urlencoded"
    request, _ = sent_body(b"a=1", form, {"body": {"rename": {"a": "b"}}})
    assert request.body == b"b=1"


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_multipart_form_is_edited(on_disk):
    text = b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--\r\n'
    body = spool([text]) if on_disk else text
    request, exchange = sent_body(
        body, "multipart/form-data; boundary=B", {"body": {"set": {"a": 2}}}
    )
    after = b"".join(request.body.chunks()) if on_disk else request.body
    assert after == text.replace(b"1", b"2")
    assert len(exchange.on_end) == 2 * on_disk


@pytest.mark.parametrize(
    ("body", "content_type"), [(b"{", "application/json"), (b"x", "audio/wav"), (None, "")]
)
def test_a_body_of_another_kind_passes(body, content_type):
    request, _ = sent_body(body, content_type, {"body": {"set": {"a": 1}}})
    assert request.body == body


@pytest.mark.parametrize(
    ("body", "path"),
    [(b'{"stream": true}', "/v1/s"), (b'{"stream": 1}', "/v1/w"), (b"[]", "/v1/w")],
)
def test_a_request_for_a_stream_may_have_a_path_of_its_own(body, path):
    forms = {"path": {"/chat": {"whole": "/w", "stream": "/s"}}}
    request, _ = sent_body(body, "application/json", forms)
    assert request.path == path
    assert request.body == body


def test_the_path_of_a_stream_is_that_of_a_request_whose_wish_for_one_is_removed():
    edits = {
        "path": {"/chat": {"whole": "/w", "stream": "/s"}},
        "body": {"remove": ["stream"]},
    }
    request, _ = sent_body(b'{"stream":true}', "application/json", edits)
    assert (request.path, request.body) == ("/v1/s", b"{}")


@pytest.mark.parametrize(
    ("json_names", "dialect", "body"),
    [
        ({json_name}, "openai", b'{"genConfig":{"topK":5}}'),
        ({json_name, None}, "gemini", b'{"genConfig":{"topK":5}}'),
        ({json_name, None}, "openai", b'{"genConfig":{},"gen_config":{"top_k":5}}'),
        ({None}, "gemini", b'{"genConfig":{},"gen_config":{"top_k":5}}'),
    ],
)
def test_an_upstream_whose_members_have_two_spellings_is_edited_in_both(json_names, dialect, body):
    configs = [TransformConfig({"request": {"body": {"set": {"/gen_config/top_k": 5}}}}, ())]
    sent = b'{"genConfig":{"topK":1}}'
    headers = [("content-type", "application/json")]
    request = UpstreamRequest("POST", "host", "/v1/chat", "", headers, sent)
    values = TemplateValues(new_exchange(dialect=dialects.get(dialect)), "main", "m")
    UpstreamEdits(compile_all(configs, upstream=True), json_names).apply(request, "/v1", values)
    assert request.body == body
