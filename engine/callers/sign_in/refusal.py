"""Why somebody cannot sign in. Apart from `pending_sign_in.py`, which loads cryptography: who
only catches these needs none of it."""

from __future__ import annotations


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
