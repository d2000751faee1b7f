"""JSON in server-sent events and in other texts that may not be JSON."""

from __future__ import annotations

import re
from typing import Any

import orjson

_DATA = re.compile(rb"^data: (.*)", re.MULTILINE)


def json_or_none(text: bytes) -> Any:
    """The value of a JSON text; None for a text that is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def event_json(event: bytes) -> Any:
    """The JSON value of a clean event's data; None for data that is not JSON, like `[DONE]`."""
    return json_or_none(b"\n".join(_DATA.findall(event)))
