"""The number that a text probably means: 4 for `4,`, 1000000 for `1M`, 0.5 for `50%`."""

from __future__ import annotations

import math
import re

from engine.values.trees import Section

_THOUSANDS = {"k": 1000, "m": 1_000_000, "b": 1_000_000_000}
_NO_LIMIT = frozenset({"unlimited", "infinite", "infinity", "none", "off", "max", "no limit", "-1"})


def hint(key: str, text: str, schema: Section, types: tuple[str, ...]) -> str:
    """What to write in place of a text where a number is expected; "" if its meaning is unclear."""
    text = text.strip()
    if text.lower() in _NO_LIMIT and "default" not in schema:
        return f"leave '{key}' out for no limit"
    if comment := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:#|//).*", text):
        return f"write {comment[1]}; a comment begins with a space and #"
    if end := re.fullmatch(r"(\d+(?:\.\d+)?)[,;]", text):
        return f"write {end[1]}, without '{text[-1]}'"
    is_integer = "number" not in types
    if re.fullmatch(r"\d{1,3}(?:_\d{3})+", text) or (
        is_integer and re.fullmatch(r"[1-9]\d{0,2}(?:[,.' ]\d{3})+", text)
    ):
        return f"write {re.sub('[^0-9]', '', text)}"
    if many := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmb])", text.lower()):
        return f"write {float(many[1]) * _THOUSANDS[many[2]]:.0f}"
    match = re.fullmatch(r"[$€£]?\s*(\d+(?:[.,]\d+)?)\s*([%$€£]?)(?:[A-Z]{3})?", text)
    if match is None:
        return str(schema.get("description", ""))
    number = match[1].replace(",", ".")
    if match[2] == "%" and schema.get("maximum", math.inf) <= 1:
        number = f"{float(number) / 100:g}"
    return f"write {number} without quotes" if number == text else f"write {number}"


def share(value: object, most: object) -> str:
    """The hint for a share in percent, which is to be at most 1; "" for other values."""
    if most == 1 and isinstance(value, int | float) and 1 < value <= 100:
        return f"write {value / 100:g}: it is a share, from 0 to 1"
    return ""
