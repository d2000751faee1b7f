"""The kinds of credentials: their schema, and which one a section is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from engine import credentials
from tests.support.credentials import Problems


def test_the_kinds_are_the_modules_of_the_room() -> None:
    assert {"basic", "bearer", "header", "query"} <= set(credentials.names())
    assert "interface" not in credentials.names()


@pytest.mark.parametrize("name", credentials.names())
def test_a_kind_says_what_a_config_needs(name: str) -> None:
    kind = credentials.KINDS.get(name)
    assert kind.form.startswith(f"{{{name}: ")
    Draft202012Validator.check_schema(kind.schema)
    assert kind.schema["description"]
    manual = import_module(f"engine.credentials.{name}").__doc__
    assert manual is not None
    assert manual.startswith(f"`credential: {{{name}: ")


@pytest.mark.parametrize(
    ("section", "valid"),
    [
        ({}, False),
        ({"bearer": "a"}, True),
        ({"header": "x-a"}, False),
        ({"header": "x-a", "value": "b"}, True),
        ({"query": "a"}, False),
        ({"query": "a", "value": "b"}, True),
        ({"basic": {"user": "a"}}, False),
        ({"basic": {"user": "a", "password": "b"}}, True),
        ({"riddle": "a"}, False),
    ],
)
def test_the_schema_has_the_keys_of_all_kinds(section: dict[str, object], valid: bool) -> None:
    assert Draft202012Validator(credentials.schema()).is_valid(section) is valid


@pytest.mark.parametrize(
    "section",
    [{"value": "a"}, {"bearer": "a", "value": "b"}, {"header": "x-a", "query": "a", "value": "b"}],
)
def test_a_credential_has_the_keys_of_one_kind(section: dict[str, str]) -> None:
    problems = Problems()
    assert credentials.read(section, problems.context(Path())) is None
    [(at, message, hint, code)] = problems.noted
    assert (at, message, code) == ((), "a credential has one form", "MW105")
    assert hint == f"write the keys of one kind: {', '.join(credentials.names())}"
