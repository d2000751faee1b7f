"""Records of decisions: short, of one form, and each in the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(file for file in FOLDER.glob("*.md") if file.name != "index.md")
MAX_LINES = 30


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_a_record_has_its_three_parts_on_one_screen(file: Path) -> None:
    text = file.read_text("utf-8")
    parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
    assert parts == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= MAX_LINES


def test_the_list_has_each_record_with_its_title() -> None:
    listed = re.findall(r"\[(.+?)\]\(([\w-]+\.md)\)", (FOLDER / "index.md").read_text("utf-8"))
    titles = {file.name: file.read_text("utf-8").partition("\n")[0][2:] for file in RECORDS}
    assert {name: title for title, name in listed} == titles
