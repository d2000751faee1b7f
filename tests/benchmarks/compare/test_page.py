"""The page that a run writes."""

from __future__ import annotations

import pytest

from benchmarks.compare import page
from tests.support.paths import ROOT


def test_a_page_keeps_what_stands_around_the_markers():
    text = f"# Performance\n\n{page.BEGIN}\nold\n{page.END}\n\nMethod\n"
    result = page.replaced(text, "new\n")
    assert result == f"# Performance\n\n{page.BEGIN}\n\nnew\n\n{page.END}\n\nMethod\n"
    assert page.replaced(result, "new") == result
    for broken in ("# no markers", f"{page.END}\n{page.BEGIN}"):
        with pytest.raises(ValueError, match="needs the lines"):
            page.replaced(broken, "new")


def test_the_page_can_be_written():
    shipped = ROOT / "docs" / "explanation" / "performance.md"
    assert "once more" in page.replaced(shipped.read_text(), "once more")
