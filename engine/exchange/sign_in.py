"""Sign-in of people to the pages, as the stages and the pages see it: `SignIn`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from engine.values.caller import Caller


class Start(NamedTuple):
    """The begin of a sign-in: the address of the provider, and the cookie of the browser (the value
    of Set-Cookie)."""

    address: str
    cookie: str


class Arrival(NamedTuple):
    """The end of a sign-in: the page to go to, the cookies (values of Set-Cookie), and whose
    session it is."""

    page: str
    cookies: tuple[str, ...]
    caller: Caller


class SignIn(Protocol):
    """Signs people in, and finds the callers of their pages' requests
    (`engine.callers.sign_in.page_sign_in`). `base_url` is the address of the gateway."""

    base_url: str

    def is_own_fetch(self, environ: Mapping[str, Any], /) -> bool:
        """Whether a request is a script's of a page of the gateway's own origin."""
        ...

    def caller(self, environ: Mapping[str, Any], /) -> tuple[Caller, str] | None:
        """The caller of a page's own request, and the identity of the session; None for a request
        without a session, and for any other. Raises TokenRefused."""
        ...

    def begin(self, page: str, /) -> Start:
        """Send a person to the provider, and to `page` (a path) at the end. Raises
        ProviderUnavailable."""
        ...

    def finish(self, query: str, environ: Mapping[str, Any], /) -> Arrival:
        """The person comes back from the provider. Raises SignInRefused, ProviderUnavailable."""
        ...

    def forget(self) -> str:
        """The value of Set-Cookie that ends a sign-in which has failed."""
        ...

    def sign_out(self) -> tuple[str, str]:
        """The value of Set-Cookie that ends the session, and the address where the person also
        signs out at the provider, "" for none."""
        ...
