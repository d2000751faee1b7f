"""The page of translations says what translations refuse."""

from __future__ import annotations

from tests.support.translation_table import PAGE, parts, table


def test_the_table_of_the_page_is_what_translations_refuse() -> None:
    _, table_text, _ = parts(PAGE.read_text("utf-8"))
    assert table_text == table(), "write it: python -m tests.support.translation_table"
