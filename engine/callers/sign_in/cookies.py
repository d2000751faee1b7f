"""The cookies of the pages (RFC 6265). With the prefix `__Host-` no other host and no page without
TLS can set them, so nobody can bring another one's session into a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.spec.parameters.parameter_readers import cookies

MAX_VALUE = 3_800
"""Characters of a value: browsers take 4,096 bytes with the name and the attributes."""


class Cookie(Struct, frozen=True):
    """A cookie for the whole origin, which scripts cannot read. `same_site` is Lax or Strict.
    Without TLS, which is for this machine only, it has neither prefix nor `Secure`."""

    purpose: str
    same_site: str
    has_tls: bool

    @property
    def name(self) -> str:
        return f"{'__Host-' if self.has_tls else ''}modelway-{self.purpose}"

    def read(self, environ: Mapping[str, Any]) -> str:
        """The value in a request, "" without; of two cookies of the name, neither is taken."""
        header = environ.get("HTTP_COOKIE")
        if header is None:
            return ""
        values = [value for name, value in cookies(str(header)) if name == self.name]
        return values[0] if len(values) == 1 and len(values[0]) <= MAX_VALUE else ""

    def set(self, value: str, seconds: float) -> str:
        """The value of Set-Cookie."""
        secure = "; Secure" if self.has_tls else ""
        attributes = f"Path=/; Max-Age={int(seconds)}; HttpOnly{secure}; SameSite={self.same_site}"
        return f"{self.name}={value}; {attributes}"

    def clear(self) -> str:
        """The value of Set-Cookie that removes it."""
        return self.set("", 0)
