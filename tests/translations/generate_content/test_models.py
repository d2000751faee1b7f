"""What models take, by their names."""

from __future__ import annotations

from engine.translations.generate_content.models import model_called
from tests.support.each import each
from tests.translations.generate_content.request_writing import (
    FLASH,
    FLASH_3,
    OLD,
    PRO,
    PRO_3,
    PRO_31,
)


@each(
    ("name", "like"),
    [
        ("gemini-pro", OLD),
        ("models/gemini-1.5-flash", OLD),
        ("gemini-2.5-flash-preview-09-2025", FLASH),
        ("publishers/google/models/gemini-2.5-pro", PRO),
        ("GEMINI-3-PRO", PRO_3),
        ("gemini-flash-latest", FLASH_3),
        ("gemini-pro-latest", PRO_31),
        ("gemini-4-flash", FLASH_3),
    ],
)
def test_a_name_tells_what_a_model_takes(name: str, like: str) -> None:
    assert model_called(name) == model_called(like)
