"""Transforms on the upstream's side: one after another, on the request of an attempt."""

from engine.config.transforms import TransformConfig
from engine.transforms.template import TemplateValues
from engine.transforms.transform import compile_all
from engine.transforms.upstream_side import UpstreamEdits
from engine.upstream.client.request import UpstreamRequest
from tests.support.exchanges import new_exchange


def sent(*requests, path="/v1/chat", query="a=1", headers=(("x", "1"),)):
    configs = [TransformConfig({"request": request}, ()) for request in requests]
    request = UpstreamRequest("POST", "host", path, query, list(headers), b"{}")
    values = TemplateValues(new_exchange(), "main", "m")
    UpstreamEdits(compile_all(configs, upstream=True)).apply(request, "/v1", values)
    return request


def test_path_query_and_headers_are_edited():
    request = sent(
        {
            "header": {"rename": {"x": "y"}},
            "query": {"set": {"b": "{target.path}"}},
            "path": "/deployments/{target.model}{target.path}",
        }
    )
    assert request.target == "/v1/deployments/m/chat?a=1&b=%2Fchat"
    assert request.headers == [("y", "1")]


def test_a_later_transform_sees_what_an_earlier_one_made():
    request = sent({"path": "/a{target.path}"}, {"path": {"/a/chat": "/b{target.path}"}})
    assert request.path == "/v1/b/a/chat"


def test_transforms_without_edits_are_none():
    assert not UpstreamEdits(compile_all([TransformConfig({"request": {}}, ())], upstream=True))
