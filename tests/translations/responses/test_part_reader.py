"""The parts of messages and results in responses requests -> blocks."""

import pytest
from msgspec import Raw

from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    Refusal,
    Text,
    UploadedFile,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.objects import UnknownObject
from engine.translations.responses.part_reader import PART, read_content, required
from engine.translations.responses.request_shapes import (
    FilePart,
    ImagePart,
    InputTextPart,
    RefusalPart,
)


def read(part, unread=None):
    (block,) = read_content([part], "c", [] if unread is None else unread)
    return block


def test_a_string_is_one_text_and_nothing_is_no_block():
    assert read_content("Hi", "c", []) == [Text(text="Hi", place="c")]
    assert read_content(None, "c", []) == []


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (InputTextPart(text="a"), Text(text="a", place="c[0]")),
        (RefusalPart(refusal="No"), Refusal(text="No", place="c[0]")),
        (
            ImagePart(image_url="https://a.test/x", detail="low"),
            Media(kind="image", source=Link("https://a.test/x"), detail="low", place="c[0]"),
        ),
        (
            ImagePart(image_url="data:image/png;base64,iVBO"),
            Media(kind="image", source=Inline("image/png", "iVBO"), place="c[0]"),
        ),
        (
            FilePart(file_id="f1", filename="a.pdf"),
            Media(
                kind="document",
                source=UploadedFile("f1", "responses"),
                name="a.pdf",
                place="c[0]",
            ),
        ),
    ],
)
def test_a_part_becomes_a_block(part, block):
    assert read(part) == block


def test_a_second_source_of_a_part_is_not_read():
    unread = []
    block = read(ImagePart(image_url="https://a.test/x", file_id="f1"), unread)
    assert unread == ["c[0].file_id"]
    assert block.extra == {"file_id": Raw(b'"f1"')}


def test_a_part_without_a_source_is_refused():
    with pytest.raises(WrongType, match=r"c\[0\]\.file_id"):
        read(FilePart())


def test_a_part_of_another_kind_belongs_to_the_vendor():
    block = read(UnknownObject(mark=None, kind="novel"))
    assert isinstance(block, Foreign)
    assert block.kind == f"{PART}novel"


@pytest.mark.parametrize("text", ["", None])
def test_a_required_member_is_not_empty(text):
    with pytest.raises(WrongType, match=r"'c\.id' must be a string that is not empty"):
        required(text, "c.id")
