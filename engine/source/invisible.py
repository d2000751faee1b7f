"""Characters that look like a space or like nothing: editors, chats and web pages insert them."""

from __future__ import annotations

_NAMES = {
    "\u00a0": "a no-break space",
    "\u00ad": "a soft hyphen",
    "\u2007": "a figure space",
    "\u200b": "a zero-width space",
    "\u200c": "a zero-width non-joiner",
    "\u200d": "a zero-width joiner",
    "\u200e": "a left-to-right mark",
    "\u202f": "a narrow no-break space",
    "\u2060": "a word joiner",
    "\u3000": "an ideographic space",
    "\ufeff": "a byte order mark",
}
_REMOVE = dict.fromkeys(map(ord, _NAMES))


def invisible(text: str) -> str:
    """The name of the first such character in a text, with its code; "" if there is none."""
    for char in text:
        if char in _NAMES:
            return f"{_NAMES[char]} (U+{ord(char):04X})"
    return ""


def without_invisible(text: str) -> str:
    """A text without these characters, and without spaces at its ends."""
    return text.translate(_REMOVE).strip()
