"""Values of sampling parameters that hardly bind."""

from __future__ import annotations

import msgspec
from msgspec import Raw

_NUMBER = msgspec.json.Decoder(float)
_WIDE = {"top_k": 40, "top_p": 0.95}
"""The smallest of the vendors' own defaults, which SDKs and agents send without being told to."""


def number(value: Raw | None) -> float | None:
    """A parameter's number, None for anything else."""
    if value is None:
        return None
    try:
        return _NUMBER.decode(value)
    except msgspec.DecodeError:
        return None


def is_wide(name: str, value: Raw | None) -> bool:
    """Whether a `top_k` or `top_p` leaves nearly every token to choose from: as much as a vendor
    leaves by itself, or more."""
    limit = number(value)
    return limit is not None and limit >= _WIDE[name]
