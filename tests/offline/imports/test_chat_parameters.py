"""Parameters of chat from other gateways."""

import pytest

from engine.offline.imports.chat_parameters import fits, number_of


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1), ("0.5", 0.5), (2.0, 2), (True, None), ("x", None), (None, None)]
)
def test_a_number_may_be_a_text(value, number):
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("key", "value", "is_taken"),
    [
        ("max_tokens", 1, True),
        ("max_tokens", 0, False),
        ("max_tokens", 1.5, False),
        ("temperature", 1, True),
        ("temperature", 1.5, False),
        ("top_p", None, False),
    ],
)
def test_a_value_fits_if_every_format_of_chat_takes_it(key, value, is_taken):
    assert fits(key, value) == is_taken
