"""The tags of a request as one text: a JSON object of their values by name, "" without any."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from engine.values.event_json import json_object
from engine.values.quota_sharers import MAX_NAME, bounded
from engine.values.redaction import redact_keys, redact_tokens


def tags_text(tags: Mapping[str, str]) -> str:
    """The text of some tags, the same for the same ones."""
    return orjson.dumps(tags, option=orjson.OPT_SORT_KEYS).decode() if tags else ""


def tag_in(text: str, name: str) -> str:
    """The value of a tag in a text, "" if it has none, or is not one of `tags_text`."""
    value = json_object(text.encode()).get(name, "")
    return value if isinstance(value, str) else ""


def tag_value(text: str) -> str:
    """A text as the value of a tag: itself if it is printable and has at most 64 characters, else
    its hash, which begins with `#`. What looks like a token or the key of a vendor is left out."""
    if len(text) <= MAX_NAME and text.isprintable() and not text.startswith("#"):
        return redact_keys(text)
    return bounded(redact_tokens(text))
