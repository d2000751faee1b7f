"""The page about plug-ins lists every name that they may import, and no other."""

from __future__ import annotations

import re

from engine import plugins
from tests.support.paths import ROOT

PAGE = (ROOT / "docs/how-to/plugin.md").read_text("utf-8")


def test_the_page_lists_the_names() -> None:
    section = PAGE.partition("## What may be imported")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    listed = re.findall(r"`(\w+)`", " ".join(rows))
    assert set(listed) == set(plugins.__all__)


def test_what_the_page_imports_is_listed() -> None:
    imported = re.findall(r"^from engine\.plugins import (.+)$", PAGE, re.MULTILINE)
    assert imported
    assert {name for line in imported for name in line.split(", ")} <= set(plugins.__all__)
    assert set(re.findall(r"^from (engine[\w.]*) import", PAGE, re.MULTILINE)) == {"engine.plugins"}
