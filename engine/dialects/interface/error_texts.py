"""The texts of errors, whatever their form."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any

from engine.values.event_json import json_or_none

_SEARCHED = 8_192
_TITLE = re.compile(
    r"(?is)<(?:title|message|faultstring)(?:\s[^>]{0,99})?>([^<]{1,300})"
    r"|<h1[^>]{0,99}>(.{1,300}?)</h1"
)
_TAG = re.compile(r"<[^>]*>")
MAX_TEXT = 500
"""The most characters of an error's text that are quoted."""
EVENT_STARTS = (b"data:", b"event:")
"""The beginnings of a body that is an event: some servers write their errors so."""
_MAX_NESTED = 4
_MAX_WORDS = 200
"""Characters in which the words before the JSON of an error end."""
_DECODER = JSONDecoder()
_SIGNS = frozenset({"error", "message", "detail"})
"""Members of an error that stands behind words."""
_MAX_ITEMS = 5
TEXT_MEMBERS = (
    *("message", "msg", "error_description", "error_msg", "error_message", "errorMessage"),
    *("Message", "detail", "error", "errors", "fault", "faultstring", "status_msg", "base_resp"),
    *("reason", "description", "title", "x_groq"),
)
"""The members with the text of an error, in order of precedence."""


def error_text(document: object) -> str:
    """The text of an error in any form; "" if there is none. At most MAX_TEXT characters."""
    return _text(document, 0)[:MAX_TEXT]


def inner_error(message: str) -> dict[str, Any] | None:
    """The JSON of the error that a message has, alone or behind some words, as gateways behind one
    another write it: `litellm.BadRequestError: OpenAIException - {"error": ...}`. Each doubles the
    escapes of the one before it, so that not many can. None for any other message."""
    start = message.find("{", 0, _MAX_WORDS)
    if start < 0 or message.find('"', start, start + _MAX_WORDS) < 0:
        return None
    try:
        document, _ = _DECODER.raw_decode(message[start : start + _SEARCHED])
    except (ValueError, RecursionError):
        return None
    is_error = start == 0 or (isinstance(document, dict) and not _SIGNS.isdisjoint(document))
    return document if is_error and isinstance(document, dict) else None


def _inner_text(message: str) -> str:
    """The text of the error in a message, "" for none."""
    return _text(inner_error(message), 0)


def _text(value: object, depth: int) -> str:
    if isinstance(value, str):
        return _inner_text(value) or " ".join(value[: 4 * MAX_TEXT].split())
    if depth > _MAX_NESTED:
        return ""
    if isinstance(value, list):
        texts = [text for item in value[:_MAX_ITEMS] if (text := _item_text(item, depth + 1))]
        return "; ".join(texts)
    if not isinstance(value, dict):
        return ""
    texts = [
        text for name in TEXT_MEMBERS if name in value if (text := _text(value[name], depth + 1))
    ]
    return texts[0] if texts else ""


def _item_text(item: object, depth: int) -> str:
    """The text of an item of a list, after its place as FastAPI says it: `body.messages: ...`."""
    text = _text(item, depth)
    place = item.get("loc") if isinstance(item, dict) else None
    if not text or not isinstance(place, list):
        return text
    return f"{'.'.join(str(step)[:80] for step in place[:10])}: {text}"


def message_in(error: Mapping[str, Any]) -> str:
    """The message of an error, unchanged where it has one that is no JSON text of another error;
    else its text, or a general one."""
    message = error.get("message")
    if isinstance(message, str) and message:
        return _inner_text(message) or message
    return error_text(error) or "The request failed."


def provider_text(error: Mapping[str, Any]) -> str:
    """What the provider behind a router said, most often the body of its response, which OpenRouter
    adds to its own words (`metadata.raw`), as does Vercel (`value.error_message`); "" for nothing.
    """
    holders = error.get("metadata"), error.get("value")
    metadata, value = (each if isinstance(each, dict) else {} for each in holders)
    raw = metadata.get("raw") or value.get("error_message")
    if not isinstance(raw, str):
        return error_text(raw)
    return error_text(error_document(raw.encode())) or plain_text(raw.encode())


def error_document(body: bytes) -> object:
    """The JSON of the body of an error response, which may be the event of a stream; None for a
    body that is not JSON."""
    if body.startswith(EVENT_STARTS):
        lines = body[: 4 * _SEARCHED].splitlines()
        data = [line[5:] for line in lines if line.startswith(b"data:")]
        values = map(json_or_none, data)
        return next((value for value in values if value is not None), None)
    return json_or_none(body)


def plain_text(body: bytes) -> str:
    """The text of an error that is not JSON, the title of an HTML page, or the message in XML; ""
    if there is none. At most MAX_TEXT characters."""
    text = body[:_SEARCHED].decode("utf-8", "replace").strip()
    if text.startswith("<"):
        title = _TITLE.search(text)
        text = html.unescape(_TAG.sub(" ", title[1] or title[2])) if title else ""
    elif text.startswith(("{", "[", '"')) or "\ufffd" in text:
        return ""
    words = "".join(char if char.isprintable() else " " for char in text).split()
    return " ".join(words)[:MAX_TEXT]
