"""Batches of the mock: results by its own operations."""

import orjson
import pytest

from engine import dialects
from engine.edge.inside_call import InternalResponse
from engine.mock.batches import Batches
from engine.mock.object_store import ObjectStore


def inside(environ, body, caller, try_send):
    """An application that answers with the path, or 400 for a body that is no object."""
    value = orjson.loads(body)
    answer = {"path": environ["RAW_URI"], "body": value}
    return InternalResponse(200 if value else 400, [], [orjson.dumps(answer)])


def batches(dialect):
    store = ObjectStore()
    return Batches(dialect, dialects.get(dialect).batches, store, inside), store


def test_openai_s_results_are_a_file():
    made, store = batches("openai")
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat", "body": {"x": 1}}
    store.keep("/files", "file-1", {}, orjson.dumps(line) + b"\n\n")
    store.keep("/batches", "batch_1", {"id": "batch_1"})
    made.answer("/batches", "/v1", {"input_file_id": "file-1"}, {"id": "batch_1"})
    result = orjson.loads(store.collections["/files"]["file-out-batch_1"].content)
    assert result["custom_id"] == "a"
    assert result["response"]["body"] == {"path": "/v1/chat", "body": {"x": 1}}


@pytest.mark.parametrize("params", [{"x": 1}, {}])
def test_anthropic_s_results_are_the_content_of_the_batch(params):
    made, store = batches("anthropic")
    entry = store.keep("/messages/batches", "b", {"id": "b"})
    request = {"requests": [{"custom_id": "a", "params": params}]}
    made.answer("/messages/batches", "/v1", request, {"id": "b"})
    result = orjson.loads(entry.content)
    assert result["result"]["type"] == ("succeeded" if params else "errored")


def test_gemini_s_results_are_in_the_batch_at_its_end():
    made, store = batches("gemini")
    entry = store.keep("/batches", "b", {"name": "batches/b"})
    inner = {"requests": {"requests": [{"request": {"x": 1}}, {"request": {}}]}}
    made.answer(
        "/models/m:batchGenerateContent",
        "/v1beta",
        {"batch": {"inputConfig": inner}},
        {"name": "batches/b"},
    )
    lists = entry.last["metadata"]["output"]["inlinedResponses"]["inlinedResponses"]
    assert lists[0]["response"]["path"] == "/v1beta/models/m:generateContent"
    assert lists[1]["error"] == {"code": 3}


def test_gemini_s_results_of_a_file_are_a_file():
    made, store = batches("gemini")
    store.keep("/files", "f", {}, b'{"key": "a", "request": {"x": 1}}\n')
    entry = store.keep("/batches", "b", {"name": "batches/b"})
    request = {"batch": {"inputConfig": {"fileName": "files/f"}}}
    made.answer("/models/m:batchGenerateContent", "/v1beta", request, {"name": "batches/b"})
    name = entry.last["metadata"]["output"]["responsesFile"].removeprefix("files/")
    result = orjson.loads(store.collections["/files"][name].content)
    assert (result["key"], result["response"]["body"]) == ("a", {"x": 1})


def test_a_batch_that_is_not_kept_has_no_results():
    made, store = batches("anthropic")
    made.answer("/messages/batches", "/v1", {"requests": []}, {"id": "b"})
    assert store.collections == {}
