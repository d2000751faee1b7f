"""The HTTP methods that the server accepts."""

from __future__ import annotations

import re

METHOD = r"[!$%&'*+\-.^_`|~0-9A-Z]{3,20}"
"""The pattern of a method: no lower case and no "#"."""

_SERVED = re.compile(METHOD)


def is_served(method: str) -> bool:
    """Whether requests of this method can have an operation. CONNECT asks for a tunnel."""
    return method != "CONNECT" and _SERVED.fullmatch(method) is not None
