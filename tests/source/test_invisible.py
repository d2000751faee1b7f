"""Characters that look like a space, or like nothing."""

import pytest

from engine.source.invisible import invisible, without_invisible
from engine.source.suggestion import did_you_mean


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("workers", ""),
        ("two words", ""),
        ("a\u00a0b", "a no-break space (U+00A0)"),
        ("\u200bmodels", "a zero-width space (U+200B)"),
        ("\ufeffversion", "a byte order mark (U+FEFF)"),
    ],
)
def test_the_first_invisible_character_is_named(text, name):
    assert invisible(text) == name


def test_a_text_without_them_has_no_blanks_at_its_ends_either():
    assert without_invisible(" \u00a0orders\u200b ") == "orders"


def test_a_name_that_differs_by_one_is_suggested_with_the_reason():
    hint = did_you_mean("orders\u00a0", ["orders", "order"])
    assert hint == "it has a no-break space (U+00A0); write 'orders'"
