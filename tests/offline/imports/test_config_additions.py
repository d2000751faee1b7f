"""Entries added to the text of a config: the rest of it stays as it is."""

import pytest

from engine.offline.imports.config_additions import names_in, with_entries
from tests.support import yaml_text

ENTRIES = {"specs": ("new", {"document": "n.yaml"}), "routes": ("", {"operations": "new.*"})}
BLOCK = """\
version: 1  # first
specs:
  # one
  old: {document: old.yaml}  # its document
routes:
- operations: old.*   # all
  to:
    - {upstream: old}

# the end
"""


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        "version: 1\nspecs: {old: {document: old.yaml}}\nroutes: [{operations: old.*}]  # flow\n",
        "version: 1\nspecs: {}\nroutes: []",
        "version: 1\nspecs:\nroutes: # none yet\nserver: {workers: 2}\n",
        "version: 1\nspecs:\n    old:\n        document: old.yaml\nserver: {workers: 1}",
        "version: 1\nroutes:\n  - note: |\n      text\n      # text\n\ncors: {origins: [a]}\n",
        "",
    ],
)
def test_entries_are_added_and_everything_else_stays(text):
    before = yaml_text.load(text) or {}
    added = with_entries(text, ENTRIES)
    after = yaml_text.load(added)
    assert after.pop("specs") == (before.pop("specs", None) or {}) | {"new": {"document": "n.yaml"}}
    assert after.pop("routes") == [*(before.pop("routes", None) or []), {"operations": "new.*"}]
    assert after == before
    comments = [line.partition("#")[2] for line in text.splitlines() if "#" in line]
    assert [comment for comment in comments if f"#{comment}\n" not in added] == []


def test_an_entry_is_in_the_style_of_its_section():
    added = with_entries(BLOCK, ENTRIES)
    assert "# its document\n  new: {document: n.yaml}\nroutes:\n" in added
    assert '    - {upstream: old}\n- {operations: "new.*"}\n\n# the end\n' in added


@pytest.mark.parametrize(
    "text", ["[1]", "{version: 1}", "version: 1\nspecs: [a]\n", "version: 1\nroutes: all\n"]
)
def test_a_section_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match=r"mapping|list"):
        with_entries(text, ENTRIES)


def test_the_names_of_a_section():
    assert names_in(BLOCK, "specs") == ["old"]
    assert names_in(BLOCK, "routes") == names_in(BLOCK, "upstreams") == []
