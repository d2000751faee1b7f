"""Names of hosts, as the `Host` header of requests has them (RFC 9110 7.2), and patterns of them:
`api.example.com`, or `*.example.com` for exactly one label more."""

from __future__ import annotations

from collections.abc import Collection

ANY_HOST = ""
"""The pattern of every host that no other pattern matches."""

WILDCARD = "*."


def host_name(field: str) -> str:
    """The name of a `Host` header in lower case, without its port and a final dot; an IPv6 address
    keeps its brackets."""
    name = field.strip().lower()
    if name.startswith("["):
        return name[: name.find("]") + 1]
    return name.partition(":")[0].removesuffix(".")


def host_pattern(name: str, patterns: Collection[str]) -> str:
    """The pattern that matches a name: the name itself, then a wildcard, then ANY_HOST."""
    if name in patterns:
        return name
    label, _, rest = name.partition(".")
    wildcard = WILDCARD + rest
    return wildcard if label and rest and wildcard in patterns else ANY_HOST


def wider_patterns(pattern: str) -> tuple[str, ...]:
    """The patterns that match all names which this one matches, itself included, the narrowest
    first. The routes of a host are those of these patterns."""
    if pattern == ANY_HOST:
        return (ANY_HOST,)
    label, _, rest = pattern.partition(".")
    has_wider = label != "*" and rest
    return (pattern, WILDCARD + rest, ANY_HOST) if has_wider else (pattern, ANY_HOST)
