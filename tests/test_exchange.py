"""What an exchange knows from its beginning."""

import pytest

from engine.exchange import MISSING, Exchange


def test_what_nobody_said_is_as_it_is_for_every_exchange():
    first, second = (Exchange("GET", "/", "", {}) for _ in range(2))
    assert (first.model, first.value, first.targets) == ("", MISSING, ())
    assert first.on_end is not second.on_end
    assert first.account is not second.account


def test_a_name_that_an_exchange_has_not_is_refused():
    with pytest.raises(TypeError, match="no modle"):
        Exchange("GET", "/", "", {}, modle="gpt")
