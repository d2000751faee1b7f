"""Why a token is refused: `TokenRefused`."""

from __future__ import annotations


class TokenRefused(Exception):
    """A JSON Web Token is not accepted; `str` is the reason for its bearer, in a sentence, which
    repeats nothing of the token. `is_known`: its issuer has signed it."""

    def __init__(self, reason: str, *, is_known: bool = False) -> None:
        super().__init__(reason)
        self.is_known = is_known


class KeysUnavailable(Exception):
    """The keys of an issuer cannot be had; `str` is the reason for operators."""
