"""What a client changes with each request, in front of a prompt."""

from __future__ import annotations

import pytest

from engine.dialects.anthropic.volatile_texts import VOLATILE_TEXTS, stable_text

LINE = "x-anthropic-billing-header: cc_version=2.1.42.0a1; cc_entrypoint=cli; cch=4f2b1;"


@pytest.mark.parametrize("line", [LINE, LINE.replace("4f2b1", "99999"), LINE.rstrip(";")])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_line_that_differs_leaves_the_same_text(line: str, end: str) -> None:
    assert stable_text(line + end) == ""
    assert stable_text(f"{line}\n{end}Be kind.\nAnd short.") == "Be kind.\nAnd short."


@pytest.mark.parametrize("text", ["", "Be kind.", f" {LINE}", f"Never write\n{LINE}\n"])
def test_other_texts_stay(text: str) -> None:
    assert stable_text(text) == text


def test_each_names_its_client_and_source() -> None:
    for each in VOLATILE_TEXTS:
        assert each.pattern.match(each.start)
        assert all([each.client, each.source])
