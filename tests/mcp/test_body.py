"""Bodies of every kind: their schemas for agents, and their bytes in requests."""

import pytest

from engine.mcp.body import read_file
from engine.mcp.listed_tool import InvalidArguments
from tests.support.each import each
from tests.support.tool_plans import shop_plan, shop_tools, written

FILE = {"data": "aGk=", "filename": "a.txt", "media_type": "text/plain"}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return shop_plan(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def tools(plan):
    return shop_tools(plan)


def body_schema(tools, name):
    return tools[name].input_schema["properties"]["body"]


def test_json_comes_before_other_media_types(plan, tools):
    request = written(plan, tools["createOrder"], {"body": {"item": "\u00e9", "quantity": 1}})
    assert dict(request.headers) == {"content-type": "application/json"}
    assert request.body == '{"item":"\u00e9","quantity":1}'.encode()


def test_files_of_a_form_are_objects_with_their_names(plan, tools):
    file = body_schema(tools, "upload")["properties"]["file"]
    assert file["description"] == "A file"
    assert (file["type"], file["required"]) == ("object", ["data"])
    assert body_schema(tools, "upload")["properties"]["more"]["items"]["type"] == "object"
    body = {"file": FILE, "more": [{"data": ""}], "tags": ["x", "y"], "meta": {"a": 1}}
    request = written(plan, tools["upload"], {"body": body})
    assert (
        b'name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n' in request.body
    )
    assert b'name="more"; filename="more"' in request.body
    assert request.body.count(b'name="tags"') == 2
    assert b'name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n' in request.body


def test_a_form_has_brackets_where_its_document_says_so(plan, tools):
    body = {"expand": ["a", "b"], "metadata": {"k": "v"}, "amount": 5}
    request = written(plan, tools["form"], {"body": body})
    assert request.body == b"expand%5B%5D=a&expand%5B%5D=b&metadata%5Bk%5D=v&amount=5"
    assert dict(request.headers) == {"content-type": "application/x-www-form-urlencoded"}


def test_bytes_are_base64(plan, tools):
    assert body_schema(tools, "bytes")["contentEncoding"] == "base64"
    request = written(plan, tools["bytes"], {"body": "AAH/"})
    assert (request.body, dict(request.headers)) == (
        b"\x00\x01\xff",
        {"content-type": "application/pdf"},
    )


def test_bytes_of_several_media_types_name_theirs(plan, tools):
    types = body_schema(tools, "images")["properties"]["media_type"]["enum"]
    assert types == ["image/png", "image/jpeg"]
    body = {"data": "AA==", "media_type": "image/jpeg"}
    request = written(plan, tools["images"], {"body": body})
    assert (request.body, dict(request.headers)) == (b"\x00", {"content-type": "image/jpeg"})


def test_a_text_is_sent_as_it_is(plan, tools):
    request = written(plan, tools["note"], {"body": "a \u00e9"})
    assert (request.body, dict(request.headers)) == (
        "a \u00e9".encode(),
        {"content-type": "text/plain"},
    )


@each(
    ("tool", "body", "place"),
    [
        ("bytes", "not base64!", "body"),
        ("bytes", {"data": "AA=="}, "body"),
        ("images", "AA==", "body"),
        ("images", {"data": "AA=="}, "body.media_type"),
        ("images", {"data": "AA==", "media_type": "text/html"}, "body.media_type"),
        ("upload", {"file": {"filename": "x"}}, "body.file"),
        ("upload", {"file": {"data": "%"}}, "body.file.data"),
        ("upload", {"file": {"data": "", "path": "/etc/passwd"}}, "body.file.path"),
        ("upload", {"file": FILE, "more": [FILE, 5]}, "body.more[1]"),
        ("upload", {"tags": []}, "body.file"),
        ("upload", {"file": FILE, "meta": {"a": "x"}}, "body.meta.a"),
        ("upload", "x", "body"),
        ("form", {"amount": "x"}, "body.amount"),
        ("note", 5, "body"),
    ],
)
def test_a_body_that_is_none_is_refused_with_its_place(tools, tool, body, place):
    with pytest.raises(InvalidArguments) as excinfo:
        tools[tool].values({"body": body})
    assert excinfo.value.place == place


@each(
    ("media_type", "content_type"),
    [
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json; charset=utf-8", "application/json; charset=utf-8"),
        ("application/json;odata=verbose", "application/json;odata=verbose"),
        ("application/json; charset=latin1", "application/json"),
    ],
)
def test_a_body_of_any_media_type_is_judged_as_json(tmp_path, media_type, content_type):
    document = f"""
openapi: 3.0.3
info: {{title: Shop, version: "1"}}
paths:
  /any:
    put:
      operationId: any
      requestBody:
        content: {{"{media_type}": {{schema: {{properties: {{a: {{type: integer}}}}}}}}}}
      responses: {{"200": {{description: ok}}}}
"""
    plan = shop_plan(tmp_path, document)
    tools = shop_tools(plan)
    request = written(plan, tools["any"], {"body": {"a": 1}})
    assert dict(request.headers) == {"content-type": content_type}
    with pytest.raises(InvalidArguments) as excinfo:
        tools["any"].values({"body": {"a": "x"}})
    assert excinfo.value.place == "body.a"


def test_a_sequence_that_its_document_calls_a_text_is_one(tmp_path):
    document = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /lines:
    post:
      operationId: lines
      requestBody: {content: {application/jsonl: {schema: {type: string}}}}
      responses: {"200": {description: ok}}
"""
    plan = shop_plan(tmp_path, document)
    tool = shop_tools(plan)["lines"]
    assert body_schema({"lines": tool}, "lines") == {"type": "string"}
    assert written(plan, tool, {"body": '{"a":1}\n'}).body == b'{"a":1}\n'


def test_a_file_may_be_its_base64_alone():
    assert read_file("aGk=", "body.file").content == b"hi"
