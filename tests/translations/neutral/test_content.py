"""The blocks that messages and answers consist of."""

import pytest

from engine.translations.neutral.content import Citation, Link


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


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2, (1, 2)),
        (0, 5, (0, 5)),
        (None, None, (0, 5)),
        (0, 0, (0, 5)),
        (3, 2, (0, 5)),
        (-1, 2, (0, 5)),
        (2, 6, (0, 5)),
        (1, None, (0, 5)),
    ],
)
def test_a_span_lies_in_its_text(start, end, expected):
    assert Citation("https://a", start=start, end=end).span(5) == expected


def test_a_span_is_counted_from_another_beginning():
    moved = Citation("https://a", start=4, end=6).moved(-3)
    assert (moved.start, moved.end) == (1, 3)
    assert Citation("https://a").moved(-3) == Citation("https://a")
