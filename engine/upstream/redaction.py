"""Cutting our own credentials out of what an upstream answers, however it repeats them.

The law: each character may stand as it is, percent-encoded, as a JSON escape or as an HTML entity,
and all of it may stand in base64, at any place of a longer text. Values under 4 characters are not
looked for: they would be found everywhere.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from operator import itemgetter
from urllib.parse import quote

MARKER = b"[redacted]"
_VALUE = itemgetter(1)
_SHORTEST = 4
_SHORTEST_BASE64 = 12
_SCHEME = re.compile(r"[A-Za-z][\w-]*\s+(?=\S)")
_ESCAPES = (b"%", b"\\", b"&", b"+")
_NAMED = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}


class Redaction:
    """Finds the secrets of one upstream. `values` are header or query values that hold one, with or
    without a scheme such as `Bearer`."""

    __slots__ = ("_literals", "_pattern")

    def __init__(self, values: Iterable[str]) -> None:
        secrets = _secrets(values)
        coded = {form for secret in secrets for form in _base64_forms(secret)}
        # Longer ones first: one may be the beginning of another.
        every = sorted({*secrets, *coded}, key=lambda text: (-len(text), text))
        self._literals = tuple(dict.fromkeys(form for text in every for form in (text, _url(text))))
        self._pattern = _pattern(every)

    def without(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Headers without those whose value holds one of the secrets; the same list where none
        does."""
        if not self._finds("\n".join(map(_VALUE, headers))):
            return headers
        return [pair for pair in headers if not self._finds(pair[1])]

    def _finds(self, text: str) -> bool:
        for literal in self._literals:  # noqa: SIM110 - a generator takes twice as long
            if literal in text:
                return True
        return False

    def cut(self, data: bytes) -> bytes:
        """`data` with MARKER in place of each secret; the same object where there is none."""
        if self._pattern is None:
            return data
        plain = not any(sign in data for sign in _ESCAPES)
        if plain and not self._finds(data.decode("latin-1")):
            return data
        return self._pattern.sub(MARKER, data)


def _pattern(texts: list[str]) -> re.Pattern[bytes] | None:
    """A pattern for any of these texts in any form."""
    if not texts:
        return None
    # Most places are given up at their first character.
    first = "".join(sorted({re.escape(text[0]) for text in texts}))
    forms = "|".join("".join(map(_any_form, text)) for text in texts)
    return re.compile(rf"(?=[%\\&+{first}])(?:{forms})".encode())


def _secrets(values: Iterable[str]) -> list[str]:
    """The values, without their scheme, and of Basic what it encodes (RFC 7617)."""
    found: dict[str, None] = {}
    for value in values:
        scheme = _SCHEME.match(value)
        bare = value[scheme.end() :] if scheme else value
        found[bare] = None
        if scheme and scheme[0].strip().lower() == "basic":
            pair = _decoded(bare)
            found[pair] = found[pair.partition(":")[2]] = None
    return [secret for secret in found if len(secret) >= _SHORTEST]


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _base64_forms(secret: str) -> Iterable[str]:
    """What of the secret's base64 does not depend on what stands around it, for each of the three
    places at which it may begin in a longer text, in both alphabets (RFC 4648 4 and 5)."""
    for before in range(3):
        bits = 8 * (before + len(secret.encode()))
        text = base64.b64encode(b"\0" * before + secret.encode()).decode()
        form = text[-(-8 * before // 6) : bits // 6]
        if len(form) >= _SHORTEST_BASE64:
            yield form
            yield form.replace("+", "-").replace("/", "_")


def _url(text: str) -> str:
    return quote(text, safe="")


def _any_form(char: str) -> str:
    """A pattern for a character in any of its forms."""
    coded = "".join(f"%{byte:02x}" for byte in char.encode())
    number = ord(char)
    forms = [
        re.escape(char),
        f"(?i:{coded})",
        rf"\\+(?i:u{number:04x})",
        f"&#0*{number};",
        f"&#(?i:x0*{number:x});",
    ]
    if char in '/"\\':
        forms.append(rf"\\+{re.escape(char)}")
    if char == " ":
        forms.append(r"\+")
    if char in _NAMED:
        forms.append(f"&{_NAMED[char]};")
    return f"(?:{'|'.join(forms)})"
