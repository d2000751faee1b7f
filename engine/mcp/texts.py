"""Descriptions of documents as texts for models: without HTML and invisible characters, in one
paragraph, bounded."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,1000}\)")
_SPACES = re.compile(r"\s+")
_SENTENCE = re.compile(r"[.!?](?=\s)")
_ELLIPSIS = "..."
INVISIBLE = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]|[\0-\x08\x0e-\x1f\x7f]"
)
"""Characters that people do not see and models read: of width zero, of directions, variation
selectors, tags, controls. Those within emoji (U+200D, U+FE0F) are none of these."""


def plain_text(text: str, most: int) -> str:
    """The text without HTML tags and without the addresses of links, at most `most` characters
    long; cut after a sentence or a word."""
    text = text[: most * 20]  # a page would take long, and is cut anyway
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if not text.isascii() or not text.isprintable():
        text = INVISIBLE.sub("", text)
    text = _SPACES.sub(" ", text).strip()
    return text if len(text) <= most else _cut(text, most)


def _cut(text: str, most: int) -> str:
    """A text cut after its last complete sentence, or, if that is less than half, after a word."""
    start = text[: most + 1]
    ends = [match.end() for match in _SENTENCE.finditer(start)]
    if ends and ends[-1] > most // 2:
        return start[: ends[-1]]
    words = start[: most - len(_ELLIPSIS)]
    space = words.rfind(" ")
    return words[: space if space > most // 2 else len(words)].rstrip() + _ELLIPSIS
