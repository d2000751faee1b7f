"""JSON-RPC messages of MCP: what is one, and what is refused with which code."""

import json

import orjson
import pytest
from msgspec.structs import replace

from engine.mcp.protocol.json_rpc import (
    MAX_DEPTH,
    Code,
    Message,
    ProtocolError,
    check_depth,
    error,
    error_object,
    read_message,
    result,
)
from engine.values.errors import GatewayError
from tests.support.each import each


def message(**members):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", **members}).encode()


def nested(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@each(
    "data, expected",
    [
        (message(), Message("ping", {}, 1)),
        (message(id="a", params={"x": 1}), Message("ping", {"x": 1}, "a")),
        (message(id=""), Message("ping", {}, "")),
        (
            b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
            Message("notifications/cancelled"),
        ),
    ],
)
def test_a_request_or_a_notification_is_read(data, expected):
    assert read_message(data) == expected


@each(
    "arguments, text",
    [
        (
            b'{"id":7,"body": {"a" : 1.10, "b":[12345678901234567890123]} }',
            b'{"a" : 1.10, "b":[123456',
        ),
        (b'{"body":1,"b\\u006fdy":[2]}', b"[2]"),
        (b'{"body":null}', b"null"),
        (b'{"id":7}', b""),
        (b"null", b""),
    ],
)
def test_a_call_has_the_text_of_its_body(arguments, text):
    data = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":%b}}'
    call = read_message(data % arguments)
    assert call.params == {"name": "a", "arguments": orjson.loads(arguments)}
    assert call.body_text.startswith(text)
    assert bool(call.body_text) == bool(text)


LARGE = b'{"note" : "}},\\"_meta\\":{}","list":[%b1.10]}' % (b"1.10," * 2_000)
HEAD, END = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":', b"}"
META = b'"_meta":{"a":{},"b":{"c":{}}}'


@each(
    "data",
    [
        HEAD + b'{"name":"a","arguments":{"id":7,"body":%b}}' + END,
        HEAD + b'{"name":"a","arguments":{"body": %b},' + META + b"}" + END + b"\n",
        HEAD + b"{" + META + b',"name":"a","arguments":{"id":7,"body":%b}}' + END,
        b'{"method":"tools/call","params":{"name":"a","arguments":{"body":%b}},"jsonrpc":"2.0","id":1}',
        b'{"id":1,"params":{"arguments":{"body":%b},"name":"a"},"method":"tools/call","jsonrpc":"2.0"}',
        HEAD + b'{"name":"body","arguments":{"body":%b ,"id":7}}' + END,
        HEAD + b'{"name":"a","_meta":{"body":{}},"arguments":{"body":%b}}' + END,
        HEAD + b'{"name":"a","arguments":{"body":{"body":1},"body":%b}}' + END,
        HEAD + b'{"name":"a","arguments":{"text":"\\"body\\":{","body":%b}}' + END,
    ],
)
def test_a_large_call_is_read_like_a_small_one(data):
    data %= LARGE
    call, params = read_message(data), orjson.loads(data)["params"]
    expected = Message("tools/call", params, 1, params.get("_meta", {}), LARGE)
    assert replace(call, body_text=call.body_text.strip()) == expected


def test_a_large_member_of_that_name_elsewhere_is_not_the_body():
    data = HEAD + b'{"name":"a","arguments":{"body":5},"_meta":{"body":%b}}' % LARGE + END
    assert read_message(data).params == orjson.loads(data)["params"]
    assert read_message(data).body_text == b"5"


@each("size", [1, 2_000])
def test_a_call_by_call_tool_has_the_text_of_its_body(size):
    text = b'{"list":[%b1.10]}' % (b"12345678901234567890123," * size)
    data = HEAD + b'{"name":"call_tool","arguments":{"name":"a","arguments":{"body":%b}}}' + END
    call = read_message(data % text)
    assert (call.body_text, call.inner_body_text) == (b"", text)
    assert call.params["arguments"]["arguments"] == {"body": orjson.loads(text)}


@each("body", [b"{%b}", b"%b}", b'{"a":%b', b"%b,", b"%b%b", b"{}%b"])
def test_a_large_call_that_is_no_json_is_refused(body):
    data = HEAD + b'{"name":"a","arguments":{"body":%b}}' % body.replace(b"%b", LARGE) + END
    with pytest.raises(ProtocolError, match="not JSON"):
        read_message(data)


@each(
    "data, code, words",
    [
        (b"", Code.PARSE, "not JSON"),
        (b"{", Code.PARSE, "not JSON"),
        (b'{"jsonrpc":"2.0","id":NaN}', Code.PARSE, "not JSON"),
        (b"[" * 100_000, Code.PARSE, "not JSON"),
        (b"[" + message() + b"]", Code.INVALID_REQUEST, "batch"),
        (b"[]", Code.INVALID_REQUEST, "batch"),
        (b'"ping"', Code.INVALID_REQUEST, "not a JSON object"),
        (message(jsonrpc="1.0"), Code.INVALID_REQUEST, "'jsonrpc'"),
        (message(method=5), Code.INVALID_REQUEST, "'method'"),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', Code.INVALID_REQUEST, "'method'"),
        (message(id=None), Code.INVALID_REQUEST, "'id'"),
        (message(id=1.5), Code.INVALID_REQUEST, "'id'"),
        (message(id=True), Code.INVALID_REQUEST, "'id'"),
        (message(id={}), Code.INVALID_REQUEST, "'id'"),
        (message(params=[1]), Code.INVALID_REQUEST, "'params'"),
        (message(params=None), Code.INVALID_REQUEST, "'params'"),
    ],
)
def test_anything_else_is_refused(data, code, words):
    with pytest.raises(ProtocolError, match=words) as raised:
        read_message(data)
    assert raised.value.code == code


def test_an_answer_may_have_many_objects_of_few_levels():
    document = {"items": [{"a": {}} for _ in range(500)], "deep": nested(MAX_DEPTH - 2)}
    check_depth(json.dumps(document).encode(), document)
    with pytest.raises(ProtocolError, match="levels"):
        check_depth(b"[" * (MAX_DEPTH + 1), nested(MAX_DEPTH + 1))


def test_responses_repeat_the_id():
    assert json.loads(result("a", b'{"tools":[]}')) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {"tools": []},
    }
    refused = {"code": -32601, "message": "no"}
    assert json.loads(error(2, Code.METHOD_NOT_FOUND, "no"))["error"] == refused
    document = json.loads(error(None, Code.PARSE, "no", {"x": 1}))
    assert (document["id"], document["error"]["data"]) == (None, {"x": 1})


def test_a_refusal_of_the_gateway_has_its_status_as_code():
    failure = GatewayError(401, "invalid_api_key", "The request has no token.")
    assert error_object(failure, "req_1")["error"] == {
        "code": 401,
        "message": "The request has no token.",
        "data": {"code": "invalid_api_key", "request_id": "req_1"},
    }
