"""What of an address may be written down: no token of ours, and of a query the names, and values
that cannot be a secret."""

from __future__ import annotations

import re

from engine.values.caller import PREFIX

_SUSPECT = re.compile(
    r"key|token|secret|passw|auth|cred|sig|code|session|jwt|bearer|assertion|ticket", re.IGNORECASE
)
_LOOKS_SECRET = re.compile(r"[A-Za-z0-9_\-.~+/%=]{24,}|(?:sk|mw|pk|rk|AIza)[-_A-Za-z0-9].*")
HIDDEN = "[redacted]"

_TOKEN = re.compile(rf"{PREFIX}[0-9A-Za-z]{{16,}}")


def without_tokens(path: str) -> str:
    """A raw path without what looks like a token of ours, which has no place there."""
    return _TOKEN.sub(f"{PREFIX}***", path) if PREFIX in path else path


def redacted(query: str, known: bool) -> str:
    """A raw query with values hidden: those under a name that may mean a secret, and those that
    look like one. Not `known` to belong to an operation, all of them: a token may stand anywhere.
    """
    if not query:
        return ""
    return "&".join(_pair(pair, known) for pair in query.split("&"))


def _pair(pair: str, known: bool) -> str:
    name, equals, value = pair.partition("=")
    if not equals:  # a value alone could be anything
        return pair if known and not _secret("", pair) else HIDDEN
    return pair if known and not _secret(name, value) else f"{name}={HIDDEN}"


def _secret(name: str, value: str) -> bool:
    return bool("%" in name or _SUSPECT.search(name) or (value and _LOOKS_SECRET.fullmatch(value)))
