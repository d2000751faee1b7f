"""The content of messages -> neutral blocks."""

import pytest
from msgspec import Raw

from engine.translations.messages.content_reader import read_arguments, read_content, read_texts
from engine.translations.messages.request_shapes import (
    CallBlock,
    DocumentBlock,
    ImageBlock,
    ResultBlock,
    SourceObject,
    TextBlock,
)
from engine.translations.neutral.content import Foreign, Link, Text, ToolCall, ToolResult
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request_json import UnknownObject

UNKNOWN = UnknownObject(mark=None, kind="novel")


def test_a_string_is_one_text_and_nothing_is_no_block():
    assert read_content("Hi", "messages[0].content", []) == [
        Text(text="Hi", place="messages[0].content")
    ]
    assert read_content(None, "content", []) == []


def test_blocks_keep_their_order_and_have_their_places():
    content = [TextBlock(text="a"), CallBlock(id="1", name="look", input=Raw(b'{"x":1}'))]
    assert read_content(content, "c", []) == [
        Text(text="a", place="c[0]"),
        ToolCall(id="1", name="look", arguments='{"x":1}', place="c[1]"),
    ]


def test_the_content_of_a_result_is_read_alike():
    (result,) = read_content([ResultBlock(tool_use_id="1", content="ok", is_error=True)], "c", [])
    content = [Text(text="ok", place="c[0].content")]
    assert result == ToolResult(id="1", content=content, is_error=True, place="c[0]")


def test_a_block_of_another_kind_belongs_to_the_vendor():
    (block,) = read_content([UNKNOWN], "c", [])
    assert isinstance(block, Foreign)
    assert block.kind == "novel"


def test_a_block_without_a_kind_is_refused():
    with pytest.raises(WrongType, match=r"c\[0\]\.type"):
        read_content([UnknownObject(mark=None)], "c", [])


def test_a_document_by_link_is_a_pdf_and_an_image_is_anything():
    source = SourceObject(type="url", url="https://a.test/x")
    image, document = read_content(
        [ImageBlock(source=source), DocumentBlock(source=source)], "c", []
    )
    assert (image.source, document.source) == (
        Link("https://a.test/x"),
        Link("https://a.test/x", "application/pdf"),
    )


def test_a_source_without_its_data_is_refused():
    with pytest.raises(WrongType, match=r"c\[0\]\.source"):
        read_content([ImageBlock(source=SourceObject(type="base64"))], "c", [])


@pytest.mark.parametrize(
    ("citations", "unread"),
    [(b'{"enabled":true}', ["c[0].citations"]), (b'{"enabled": false}', []), (b"", [])],
)
def test_citations_that_a_document_asks_for_are_not_read(citations, unread):
    places = []
    source = SourceObject(type="text", data="words")
    read_content([DocumentBlock(source=source, citations=Raw(citations))], "c", places)
    assert places == unread


@pytest.mark.parametrize(("content", "texts"), [("Hi", ["Hi"]), ("", []), (None, []), ([], [])])
def test_a_content_of_text_alone_has_no_empty_text(content, texts):
    assert [text.text for text in read_texts(content, "system")] == texts


def test_a_content_of_text_alone_refuses_other_blocks():
    with pytest.raises(WrongType, match=r"system\[1\]\.type"):
        read_texts([TextBlock(text="a"), UNKNOWN], "system")


@pytest.mark.parametrize(
    ("raw", "arguments"), [(b"", ""), (b"null", ""), (b"{}", ""), (b'{"b":1,"a":2e0}', None)]
)
def test_arguments_keep_their_text(raw, arguments):
    expected = raw.decode() if arguments is None else arguments
    assert read_arguments(Raw(raw), "input") == expected


def test_arguments_are_an_object():
    with pytest.raises(WrongType, match="'input' must be an object"):
        read_arguments(Raw(b"[1]"), "input")
