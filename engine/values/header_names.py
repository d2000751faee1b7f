"""The syntax of the names of headers and of their parameters: a token of HTTP (RFC 9110, 5.6.2)."""

from __future__ import annotations

HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
"""The pattern of such a name, without groups."""
