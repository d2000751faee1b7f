"""Content inside a request."""

from __future__ import annotations

import pytest

from engine.translations.neutral.content import Inline
from engine.translations.neutral.data_url import data_url, read_data_url
from engine.translations.neutral.members import WrongType
from tests.support.each import each


@each(
    ("url", "media_type", "data"),
    [
        ("data:image/png;base64,aGk=", "image/png", "aGk="),
        ("DATA:Image/PNG; charset=x ;BASE64,aGk=", "image/png", "aGk="),
        ("data:;base64,aGk=", "text/plain", "aGk="),
        ("data:,h%69", "text/plain", "aGk="),
        ("data:text/html,a,b", "text/html", "YSxi"),
    ],
)
def test_a_data_url_has_a_media_type_and_a_content(url: str, media_type: str, data: str) -> None:
    assert read_data_url(url, "x") == Inline(media_type, data)


@each("url", ["data:image/png;base64", "data:a/b;base64,a", "data:a/b;base64,é", "data:a;base64,%"])
def test_a_broken_data_url_names_its_place(url: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read_data_url(url, "messages[0].content[1]")
    assert excinfo.value.place == "messages[0].content[1]"


def test_a_content_is_written_as_it_is_read() -> None:
    content = Inline("image/png", "aGk=")
    assert read_data_url(data_url(content), "x") == content
