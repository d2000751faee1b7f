"""Values of sampling parameters that hardly bind."""

from __future__ import annotations

import pytest
from msgspec import Raw

from engine.translations.neutral.sampling import is_wide


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top_k", b"40"),
        ("top_k", b"64"),
        ("top_k", b"64.0"),
        ("top_p", b"0.95"),
        ("top_p", b"1"),
    ],
)
def test_a_vendors_default_or_more_is_wide(name: str, text: bytes) -> None:
    assert is_wide(name, Raw(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top_k", b"39"),
        ("top_k", b"0"),
        ("top_k", b'"64"'),
        ("top_k", b"true"),
        ("top_p", b"0.949"),
        ("top_p", b"{}"),
    ],
)
def test_anything_else_is_not(name: str, text: bytes) -> None:
    assert not is_wide(name, Raw(text))


def test_nothing_is_not_wide() -> None:
    assert not is_wide("top_k", None)
