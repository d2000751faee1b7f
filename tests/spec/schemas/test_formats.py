"""Formats of strings."""

from __future__ import annotations

from engine.spec.schemas.formats import FORMATS
from tests.support.each import each

DAY = "2024-02-29"


@each(
    "text",
    [
        *(f"{DAY}T12:00:00Z", f"{DAY}t12:00:00.123456z", f"{DAY}T23:59:60+02:00"),
        f"{DAY}T12:00:00",  # datetime.isoformat() of Python
        f"{DAY} 12:00:00.5",  # str(datetime)
        f"{DAY}T12:00:00 02:00",  # with a plus in a query
        *(f"{DAY}T12:00:00.000+0000", f"{DAY}T12:00+01", f"{DAY}T12:00:00,5Z"),
    ],
)
def test_a_date_with_a_time_is_read_as_clocks_write_it(text: str) -> None:
    assert FORMATS["date-time"](text)


@each(
    "text",
    [
        *("", DAY, "12:00:00Z", f"{DAY}T", f"{DAY}T12", f"{DAY}T24:00:00Z", f"{DAY}T12:60:00Z"),
        *("2023-02-29T12:00:00Z", f"{DAY}T12:00:00 Z", f"{DAY}T12:00:00Z\n", f"x{DAY}T12:00:00Z"),
        *(f"{DAY}T12:00:00+2", f"{DAY}T12:00:00+25:00", "٢٠٢٤-02-29T12:00:00Z", "tomorrow"),
    ],
)
def test_another_text_is_no_date_with_a_time(text: str) -> None:
    assert not FORMATS["date-time"](text)


@each(
    ("name", "good", "bad"),
    [
        ("date", DAY, ["2023-02-29", "2024-2-9", f"{DAY}T00:00:00Z", "20240229", "2024-W05-1", ""]),
        ("byte", "YQ==", ["YQ", "é", "a b="]),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000", ["123e4567", "", "g" * 36]),
    ],
)
def test_other_formats(name: str, good: str, bad: list[str]) -> None:
    assert FORMATS[name](good)
    assert [text for text in bad if FORMATS[name](text)] == []
