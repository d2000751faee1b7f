"""Results of other servers: what clients can read, and no more."""

from engine.mcp.remote.results import MAX_PARTS, remote_result, result_of_schema
from tests.support.each import each

TEXT = {"type": "text", "text": "a"}


@each(
    "part",
    [
        TEXT,
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "c"}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "aGk="}},
        {"type": "resource_link", "uri": "a:b", "name": "c"},
    ],
)
def test_parts_of_known_kinds_pass(part):
    result = remote_result({"content": [{**part, "_meta": {"x": 1}, "annotations": {}}]})
    assert result.content == [part]


def test_a_text_in_the_place_of_parts_is_one():
    assert remote_result({"content": "a"}).content == [TEXT]


@each(
    "part",
    [
        "a",
        None,
        {"type": "video"},
        {"type": "text"},
        {"type": "image", "data": "%", "mimeType": "image/png"},
        {"type": "image", "data": "aGk="},
        {"type": "resource", "resource": {"uri": "a:b"}},
        {"type": "resource_link", "uri": "a:b"},
        {"type": "resource_link", "uri": "a:" + "b" * 3_000, "name": "c"},
    ],
)
def test_parts_that_clients_refuse_are_left_out(part):
    result = remote_result({"content": [part, TEXT]})
    assert result.content[0] == TEXT
    assert "left out" in result.content[1]["text"]


def test_parts_are_bounded():
    assert len(remote_result({"content": [TEXT] * 10_000}).content) == MAX_PARTS + 1


def test_structured_content_and_errors_pass():
    result = remote_result({"structuredContent": {"a": 1}, "isError": True})
    assert (result.structured, result.is_object, result.is_error) == (b'{"a":1}', True, True)
    assert result.content == [{"type": "text", "text": '{"a":1}'}]


@each(
    "document, content, structured, is_error",
    [
        ({"content": [TEXT], "structuredContent": {}}, [TEXT], b"{}", False),
        ({"content": [TEXT]}, [TEXT], b"", True),
        ({"content": [TEXT], "isError": True}, [TEXT], b"", True),
        (
            {"content": [TEXT], "structuredContent": {"b": 1}, "isError": True},
            [TEXT, {"type": "text", "text": '{"b":1}'}],
            b"",
            True,
        ),
        (
            {"structuredContent": {"b": 1}, "isError": True},
            [{"type": "text", "text": '{"b":1}'}],
            b"",
            True,
        ),
    ],
)
def test_an_error_of_a_tool_with_a_schema_has_its_structure_as_text(
    document, content, structured, is_error
):
    result = result_of_schema(remote_result(document))
    assert result.content == content
    assert (result.structured, result.is_error) == (structured, is_error)


def test_structured_content_is_bounded():
    assert remote_result({"structuredContent": {"a": "x" * 1_100_000}}).is_error


def test_a_question_to_the_user_is_an_error():
    assert remote_result({"resultType": "input_required"}).is_error
