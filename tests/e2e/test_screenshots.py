"""The screenshots of docs/reference/console.md show the pages as they are.

Those of the other pages are compared in their own tests; `tests/support/screenshots.py` takes them
anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import PLAYGROUND, chat, choose, enter
from tests.support.paths import ROOT
from tests.support.running import Platform
from tests.support.screenshots import (
    DIFFERENT_CELLS,
    FOLDER,
    NAMES,
    different,
    recorded,
    same,
    taken,
)

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)


def test_the_home_page_is_as_in_its_picture(page: Driver, console: Platform) -> None:
    page.open(console.url)
    same(page, NAMES[0], taken(page))


def test_the_playground_is_as_in_its_picture(page: Driver, console: Platform) -> None:
    enter(page, console.url)
    choose(page, "gpt-4o", "chat")
    chat(page, "What does a gateway do?")
    same(page, NAMES[1], taken(page))


def test_a_picture_of_another_page_is_noticed(page: Driver) -> None:
    home, playground = map(recorded, NAMES[:2])
    assert different(page, home, home) == 0
    assert different(page, home, playground) > 1.5 * DIFFERENT_CELLS


def test_every_picture_of_the_manual_is_checked() -> None:
    """The picture of performance is drawn with its table (`benchmarks.compare`)."""
    pictures = {file.name for file in Path(ROOT / "docs").rglob("*.png")}
    assert pictures == {*NAMES, "performance.png"}
    page = (FOLDER / "console.md").read_text("utf-8")
    how_to = (ROOT / "docs/how-to/sign-in.md").read_text("utf-8")
    assert [name for name in NAMES if f"{name})" not in page + how_to] == []
    assert PLAYGROUND in page
