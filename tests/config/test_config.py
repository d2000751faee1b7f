"""Entries that a Config leaves out because they are invalid."""

from pathlib import Path

import pytest

from engine.config.config import Broken
from engine.config.load import load
from engine.source.problem import Findings
from tests.support.configs import ROUTES, SPECS


def broken(text):
    config, _ = load(f"version: 1\n{SPECS}{ROUTES}{text}", "f", Path("/folder"), {}, Findings())
    return config.broken


@pytest.mark.parametrize(
    ("section", "name", "has"),
    [
        ("models", "small", True),
        ("models", "large", False),
        ("upstreams", "small", False),
        ("specs", "any", True),
    ],
)
def test_an_entry_is_broken_by_its_name_or_with_its_section(section, name, has):
    entries = Broken({"models": frozenset({"small"}), "specs": frozenset("*")})
    assert entries.has(section, name) is has


def test_an_invalid_entry_is_left_out_under_its_name():
    assert broken("models: {small: 5}\n").names == {"models": frozenset({"small"})}


def test_an_invalid_section_is_left_out_as_a_whole():
    assert broken("upstreams: 5\n").names == {"upstreams": frozenset("*")}


def test_a_valid_config_has_no_broken_entries():
    assert broken("") == Broken()
