"""The names in HTTP: the methods that the server accepts, and the names of headers."""

from __future__ import annotations

import re

HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
"""The pattern of the name of a header or of its parameters, without groups: a token of HTTP
(RFC 9110, 5.6.2)."""

METHOD = r"[!$%&'*+\-.^_`|~0-9A-Z]{3,20}"
"""The pattern of a method: no lower case and no "#"."""

_SERVED = re.compile(METHOD)


def is_served(method: str) -> bool:
    """Whether requests of this method can have an operation. CONNECT asks for a tunnel."""
    return method != "CONNECT" and _SERVED.fullmatch(method) is not None
