"""The pages of the reference that are made from the program are those of this version."""

import re
from collections.abc import Iterator

import pytest

from engine import policies
from engine.config import json_schema
from engine.config.keys import ENTRY, Key, describe
from engine.edge import answers
from engine.upstream import choose
from tests.support.metrics import METRICS
from tests.support.paths import ROOT
from tools.reference import FOLDER, PAGES


# What is installed changes with the index, so tests/tools/test_licences.py has another test of it.
@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"licences.md"}))
def test_a_page_is_what_its_generator_writes(name):
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), (
        "write it: python -m tools.reference"
    )


def test_every_metric_is_in_the_reference():
    page = (FOLDER / "metrics.md").read_text("utf-8")
    assert [metric.name for metric in METRICS if f"| `{metric.name}` |" not in page] == []


def test_every_metric_that_a_module_names_is_known():
    texts = [file.read_text("utf-8") for file in (ROOT / "engine").rglob("*.py")]
    modules = [text for text in texts if "from engine.values.metric import" in text]
    pattern = re.compile(r"(?:counter|gauge|histogram)\(\s*\"(\w+)\"")
    assert sorted(name for text in modules for name in pattern.findall(text)) == sorted(
        metric.name for metric in METRICS
    )


def keys(key: Key) -> Iterator[Key]:
    """Every key that gateway.yaml may have, mappings that only group others included."""
    for name, child in key.children.items():
        if name != ENTRY:
            yield child
        yield from keys(child)


def test_no_key_of_the_config_is_without_an_entry_in_the_reference():
    page = (FOLDER / "keys.md").read_text("utf-8")
    rows = {section.partition("\n")[0]: section for section in page.split("\n## ")[1:]}
    missing = []
    options = policies.schema(), choose.forms(), answers.schema()
    schema = json_schema.full_schema(json_schema.schema(), *options)
    for key in keys(describe(schema)):
        section, *below = key.path
        path = ".".join(below).replace(".*.", "[].").removeprefix("*.")
        is_entry = re.search(rf"^\| `(?:\*\.)?{re.escape(path)}[`.\[]", rows[section], re.MULTILINE)
        missing += [] if not below or is_entry else [".".join(key.path)]
    assert missing == []
