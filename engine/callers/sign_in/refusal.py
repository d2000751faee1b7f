"""Why somebody cannot sign in: `SignInRefused`, `ProviderUnavailable`."""

from __future__ import annotations


class SignInRefused(Exception):
    """A sign-in is not accepted; `str` is the reason for the person, in a sentence. `is_forbidden`:
    the provider knows the person, and the config lets them not in."""

    def __init__(self, reason: str, *, is_forbidden: bool = False) -> None:
        super().__init__(reason)
        self.is_forbidden = is_forbidden


class ProviderUnavailable(Exception):
    """The provider gives no usable answer at this moment; `str` is the reason for operators."""
