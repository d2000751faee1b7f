"""Credentials in the query string."""

from engine.credentials.interface.fixed import QueryCredential
from tests.support.credentials import problems_of, read


def test_the_name_of_the_parameter_is_as_written() -> None:
    assert read({"query": "Key", "value": "k1"}) == QueryCredential("query", "Key", "k1")


def test_its_value_is_one_line_of_ascii() -> None:
    assert [at for at, *_ in problems_of({"query": "key", "value": "a\nb"})] == [()]
