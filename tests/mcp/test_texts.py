"""Descriptions are plain, of one paragraph, and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from engine.mcp.texts import plain_text
from tests.support.each import each


@each(
    ("text", "most", "plain"),
    [
        ("<p>Get <b>it</b> &amp; go.</p>\n\n- now", 100, "Get it & go. - now"),
        ("See [the page](https://x.example.com/a?b) now", 100, "See the page now"),
        ("1 < 2 and 3 > 2", 100, "1 < 2 and 3 > 2"),
        ("a\u200bb\u202ec\U000e0041", 100, "abc"),
        ("\u2764\ufe0f", 100, "\u2764\ufe0f"),
        ("First sentence here. Second sentence is long.", 30, "First sentence here."),
        ("one two three four five six", 20, "one two three..."),
        ("x" * 50, 20, "x" * 17 + "..."),
        ("", 20, ""),
    ],
)
def test_a_text_is_plain(text, most, plain):
    assert plain_text(text, most) == plain


@given(st.text(max_size=400), st.integers(10, 100))
def test_no_text_is_longer_than_it_may_be(text, most):
    assert len(plain_text(text, most)) <= most
