"""The blocks that messages and answers consist of."""

import pytest

from engine.translations.neutral.content import Link


@pytest.mark.parametrize(
    ("url", "is_web"),
    [
        ("https://a.test/x.png", True),
        ("HTTP://a.test", True),
        ("httpss://a.test", False),
        ("file:///etc/passwd", False),
        ("gs://bucket/x", False),
        (" https://a.test", False),
        ("", False),
    ],
)
def test_only_http_and_https_are_links_of_the_web(url, is_web):
    assert Link(url).is_web is is_web
