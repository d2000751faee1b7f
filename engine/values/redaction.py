"""Redaction: takes secrets out of text by their value, by the shape of a token, or by the name of
the header or parameter that holds them.

A secret whose value is known is found in every encoding in which an upstream may repeat it: each
character as it is, percent-encoded, as a JSON escape or as an HTML entity, and the whole in base64
at any offset. Values under 4 characters are not searched for: they occur in ordinary words.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from functools import cached_property
from operator import itemgetter
from urllib.parse import quote

from engine.values.caller import PREFIX

MARKER = "[redacted]"
_VALUE = itemgetter(1)
_MIN_LENGTH = 4
_MIN_BASE64_LENGTH = 12
_SCHEME = re.compile(r"[A-Za-z][\w-]*\s+(?=\S)")
_ESCAPES = (b"%", b"\\", b"&", b"+")
_ENTITIES = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}

_NAME = "assertion|auth|bearer|cookie|cred|jwt|key|passw|secret|session|signature|ticket|token"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_SECRET_PARAMETER = re.compile(f"{_NAME}|code|sig|%", re.IGNORECASE)
"""`code` is OAuth's (RFC 6749), `sig` a signed URL's; a name with escapes may hide any other."""
_SECRET_VALUE = re.compile(r"[A-Za-z0-9_\-.~+/%=]{24,}|(?:sk|mw|pk|rk|AIza)[-_A-Za-z0-9].*")
_GATEWAY_TOKEN = re.compile(rf"({PREFIX})[0-9A-Za-z]{{16,}}|(?<![0-9A-Za-z])(ek_)[\w-]{{16,}}")
"""A token, or a client secret."""
_VENDORS = (
    *("sk-", "rk_", "sk_live_", "sk_test_", "gsk_", "xai-", "hf_", "AIza", "AKIA", "ASIA"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-"),
    *("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "ya29.", "eyJ"),
)
"""How keys and tokens of vendors begin."""
_VENDOR_KEY = re.compile(
    rf"(?<![0-9A-Za-z])({'|'.join(map(re.escape, _VENDORS))})"
    r"(?=[\w.~-]{0,64}[0-9A-Z])[\w.~-]{12,}"
)
"""One with a digit or a capital, which words with hyphens lack."""


def is_secret_name(header: str) -> bool:
    """Whether the name of a header suggests that its value is a secret."""
    return _SECRET_NAME.search(header) is not None


def redact_tokens(path: str) -> str:
    """A text with `mw-***` or `ek_***` for what has the shape of a token or a client secret."""
    may_have = PREFIX in path or "ek_" in path
    return _GATEWAY_TOKEN.sub(r"\1\2***", path) if may_have else path


def redact_keys(text: str) -> str:
    """As `redact_tokens`, and `***` behind what the keys of vendors begin with: for texts in which
    callers send what they like, and that many may read."""
    return _VENDOR_KEY.sub(r"\1***", redact_tokens(text))


def redact_query(query: str, *, every_value: bool) -> str:
    """A raw query with MARKER for values whose parameter has the name of a secret or that have the
    shape of one; with `every_value`, for all of them."""
    if not query:
        return ""
    return "&".join(_redact_parameter(pair, every_value) for pair in query.split("&"))


def _redact_parameter(pair: str, always: bool) -> str:
    name, equals, value = pair.partition("=")
    if not equals:  # a value without a name
        name, value = "", pair
    if not always and not _SECRET_PARAMETER.search(name) and not _SECRET_VALUE.fullmatch(value):
        return pair
    return f"{name}{equals}{MARKER}"


class Redaction:
    """Takes a set of secrets out of text. `values` are header or query values, with or without a
    scheme such as `Bearer`, which with `whole` is a part of the secret; `marker` stands in place of
    each.

    The pattern is compiled at the first text that may hold a secret: there may be thousands of
    upstreams.
    """

    def __init__(self, values: Iterable[str], marker: str = MARKER, *, whole: bool = False) -> None:
        secrets = [v for v in values if len(v) >= _MIN_LENGTH] if whole else _secrets(values)
        encoded = {form for secret in secrets for form in _base64_forms(secret)}
        # Longer ones first: a shorter one may be a prefix of them.
        self._texts = sorted({*secrets, *encoded}, key=lambda text: (-len(text), text))
        forms = (form for text in self._texts for form in (text, quote(text, safe="")))
        self._literals = tuple(dict.fromkeys(forms))
        self._marker = marker.encode()

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return _pattern(self._texts)

    def redact(self, data: bytes) -> bytes:
        """`data` without the secrets; the same object where there is none."""
        if not self._texts:
            return data
        plain = not any(sign in data for sign in _ESCAPES)
        if plain and not self._occurs_in(data.decode("latin-1")):
            return data
        return self._pattern.sub(self._marker, data)

    def redact_text(self, text: str) -> str:
        """Text without the secrets."""
        return self.redact(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def filter_headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The headers whose values hold no secret; the same list where none does."""
        if not self._occurs_in("\n".join(map(_VALUE, headers))):
            return headers
        return [pair for pair in headers if not self._occurs_in(pair[1])]

    def _occurs_in(self, text: str) -> bool:
        return any(map(text.__contains__, self._literals))


def _pattern(texts: list[str]) -> re.Pattern[bytes]:
    """A pattern for any of these texts in any encoding."""
    # The lookahead rejects most positions at their first character.
    first = "".join(sorted({re.escape(text[0]) for text in texts}))
    forms = "|".join("".join(map(_character_forms, text)) for text in texts)
    return re.compile(rf"(?=[%\\&+{first}])(?:{forms})".encode())


def _secrets(values: Iterable[str]) -> list[str]:
    """The values without their scheme; of Basic credentials also the pair and its password
    (RFC 7617)."""
    secrets: dict[str, None] = {}
    for value in values:
        scheme = _SCHEME.match(value)
        credential = value[scheme.end() :] if scheme else value
        secrets[credential] = None
        if scheme and scheme[0].strip().lower() == "basic":
            pair = _decode_base64(credential)
            secrets[pair] = secrets[pair.partition(":")[2]] = None
    return [secret for secret in secrets if len(secret) >= _MIN_LENGTH]


def _decode_base64(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _base64_forms(secret: str) -> Iterable[str]:
    """The part of the secret's base64 that does not depend on the bytes around it, for each of the
    three offsets in a longer text, in both alphabets (RFC 4648, sections 4 and 5)."""
    for offset in range(3):
        bits = 8 * (offset + len(secret.encode()))
        text = base64.b64encode(b"\0" * offset + secret.encode()).decode()
        form = text[-(-8 * offset // 6) : bits // 6]
        if len(form) >= _MIN_BASE64_LENGTH:
            yield form
            yield form.replace("+", "-").replace("/", "_")


def _character_forms(char: str) -> str:
    """A pattern for one character in any of its encodings."""
    percent = "".join(f"%{byte:02x}" for byte in char.encode())
    number = ord(char)
    forms = [
        re.escape(char),
        f"(?i:{percent})",
        rf"\\+(?i:u{number:04x})",
        f"&#0*{number};",
        f"&#(?i:x0*{number:x});",
    ]
    if char in '/"\\':
        forms.append(rf"\\+{re.escape(char)}")
    if char == " ":
        forms.append(r"\+")
    if char in _ENTITIES:
        forms.append(f"&{_ENTITIES[char]};")
    return f"(?:{'|'.join(forms)})"
