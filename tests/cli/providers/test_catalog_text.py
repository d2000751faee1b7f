"""The text of a catalog."""

from engine.cli.providers.catalog_text import catalog_entry, catalog_text
from tests.support import yaml_text
from tests.support.each import each


def test_a_model_is_a_line_and_yaml_reads_it_as_it_was():
    entries = {
        "groq": {
            "date": "2030-01-31",
            "models": {
                "a:b": {"context": 5, "price": {"input": 0.1, "tiers": [{"above": 1, "input": 2}]}},
                "gone": None,
                "*": {"input": ["text", "image"]},
            },
        },
        "no": {"date": "2030-01-31"},
    }
    text = catalog_text(entries)
    assert yaml_text.load(text) == entries
    assert "    gone: null\n" in text
    assert len(text.splitlines()) == 9


@each(
    "name",
    ["two\nlines", "tab\t", "\x85", "\u2028", "'", '"', "- a", "=", "\\n", "😀", "y" * 2_000, " "],
)
def test_any_name_is_one_line(name):
    """Also one that a vendor would not choose: the file replaces one that could be read."""
    entries = {"groq": {"date": "2030-01-31", "models": {name: {"input": [name]}, "b": None}}}
    assert yaml_text.load(catalog_text(entries)) == entries


def test_a_shipped_provider_has_models_and_prices_only():
    assert {*catalog_entry("openai")} == {"date", "sources", "batch", "models"}
