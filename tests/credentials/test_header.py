"""Credentials in a header."""

import pytest

from engine.credentials.interface.fixed import HeaderCredential
from tests.support.credentials import problems_of, read


def test_the_name_of_the_header_is_in_lower_case() -> None:
    expected = HeaderCredential("header", "x-api-key", "k1")
    assert read({"header": "X-Api-Key", "value": "k1"}) == expected


@pytest.mark.parametrize("name", ["Host", "content-length", "TE"])
def test_a_header_of_the_connection_holds_none(name: str) -> None:
    [(at, message, *_)] = problems_of({"header": name, "value": "k1"})
    assert (at, message) == (("header",), f"header '{name}' cannot hold a credential")
