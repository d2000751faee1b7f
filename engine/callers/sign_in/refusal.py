"""Why somebody cannot sign in, and what the errors of a provider's token endpoint mean. Apart from
`pending_sign_in.py`, which loads cryptography: who only catches these needs none of it.
"""

from __future__ import annotations

import logging
import re
from typing import Any

log = logging.getLogger("modelway")
_CODE = re.compile(r"[a-z_]{1,60}")
_OF_CLIENT = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type"})
"""Errors (RFC 6749 5.2) that the operator has to mend."""


class SignInRefused(Exception):
    """A sign-in is not accepted; `str` is the reason for the person, in a sentence. `is_forbidden`:
    the provider knows the person, and the config lets them not in. `is_other`: the response is not
    that of the sign-in that the browser keeps, which another tab may still end."""

    def __init__(self, reason: str, *, is_forbidden: bool = False, is_other: bool = False) -> None:
        super().__init__(reason)
        self.is_forbidden = is_forbidden
        self.is_other = is_other


class ProviderUnavailable(Exception):
    """The provider gives no usable answer at this moment; `str` is the reason for operators."""


def error_code(value: object) -> str:
    """An error code of a provider as it may be shown, "" for any other text."""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


def refusal_of(status: int, members: dict[str, Any]) -> Exception:
    """The exception for an error of the token endpoint; `members` are those of its answer."""
    code = error_code(members.get("error"))
    if status >= 500 or not code:
        return ProviderUnavailable(f"the token endpoint answered with {status}")
    if code in _OF_CLIENT:
        log.error("the provider refuses this gateway as its client: %s", code)
        return SignInRefused(
            f"The provider does not accept this gateway as its client ({code}). Tell its operator."
        )
    return SignInRefused(f"The provider does not accept this sign-in ({code}). Sign in again.")
