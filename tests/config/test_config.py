"""Entries that a Config leaves out because they are invalid."""

from pathlib import Path

import pytest

from engine.config.config import InvalidEntries
from engine.config.load import load
from engine.source.problem import Findings
from tests.support.configs import ROUTES, SPECS


def invalid(text):
    config, _ = load(f"version: 1\n{SPECS}{ROUTES}{text}", "f", Path("/folder"), {}, Findings())
    return config.invalid


@pytest.mark.parametrize(
    ("section", "name", "has"),
    [
        ("models", "small", True),
        ("models", "large", False),
        ("upstreams", "small", False),
        ("specs", "any", True),
    ],
)
def test_an_entry_is_invalid_by_its_name_or_with_its_section(section, name, has):
    entries = InvalidEntries({"models": frozenset({"small"}), "specs": frozenset("*")})
    assert entries.has(section, name) is has


def test_an_invalid_entry_is_left_out_under_its_name():
    assert invalid("models: {small: 5}\n").names == {"models": frozenset({"small"})}


def test_an_invalid_section_is_left_out_as_a_whole():
    assert invalid("upstreams: 5\n").names == {"upstreams": frozenset("*")}


def test_a_valid_config_has_no_invalid_entries():
    assert invalid("") == InvalidEntries()
