"""`callers:` of gateway.yaml: whose tokens, besides those of this gateway, are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import urlsplit

from engine.config import keys
from engine.config.tokens import TokenReader
from engine.source.problem import Findings, Path, Source
from engine.values.caller import Caller
from engine.values.claim_place import ClaimPlace
from engine.values.trees import Json

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""The signatures that are accepted by default: all that need no shared secret (RFC 7518 3.1,
RFC 8037)."""

_DISCOVERY = "/.well-known/openid-configuration"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class JwtIssuer:
    """An issuer of JSON Web Tokens. Its keys come from the URL `discovery`, the URL `jwks`, or the
    file `jwks_file`; the others are empty.

    `leeway` is in seconds. `require` are the claims that a token must have, with wildcards of their
    values. `claims` has the place of the claim for each field of a caller; `rights` is the caller
    of a token without these claims, its name is that before the claim's text. `revoked` are values
    of `jti`. `sample` is a file with a token.
    """

    issuer: str
    audience: tuple[str, ...]
    discovery: str
    jwks: str
    jwks_file: FilePath | None
    algorithms: tuple[str, ...]
    leeway: float
    require: tuple[tuple[ClaimPlace, tuple[str, ...]], ...]
    claims: Mapping[str, ClaimPlace]
    rights: Caller
    revoked: frozenset[str]
    sample: FilePath | None
    at: Path


class JwtReader:
    """Reads `callers.jwt`; `tokens` reads the rights, which are written as those of a token."""

    def __init__(
        self, folder: FilePath, source: Source, findings: Findings, tokens: TokenReader
    ) -> None:
        self._folder = folder
        self._source = source
        self._findings = findings
        self._tokens = tokens

    def issuers(self, entries: list[Json | None]) -> tuple[JwtIssuer, ...]:
        """The issuers in the order of the file."""
        places = ((entry, ("callers", "jwt", index)) for index, entry in enumerate(entries))
        return tuple(self._issuer(entry, at) for entry, at in places if entry is not None)

    def _issuer(self, entry: Json, at: Path) -> JwtIssuer:
        values = keys.fill(entry, "callers.jwt.*")
        keys_of = [key for key in ("jwks", "jwks_file", "discovery") if key in entry]
        for key in keys_of[1:]:
            message = f"`{keys_of[0]}` says where the keys are"
            self._error((*at, key), message, "remove one of both")
        jwks, discovery = values.get("jwks", ""), values.get("discovery", "")
        if not keys_of:
            discovery = values["issuer"].rstrip("/") + _DISCOVERY
        file = self._folder / values["jwks_file"] if "jwks_file" in values else None
        self._check_file(file, (*at, "jwks_file"))
        if file is None:
            self._check_url(jwks or discovery, (*at, keys_of[0] if keys_of else "issuer"))
        sample = self._folder / values["sample"] if "sample" in values else None
        self._check_file(sample, (*at, "sample"))
        return JwtIssuer(
            issuer=values["issuer"],
            audience=_texts(values["audience"]),
            discovery=discovery,
            jwks=jwks,
            jwks_file=file,
            algorithms=tuple(values.get("algorithms", ALGORITHMS)),
            leeway=values["leeway"],
            require=tuple(
                (self._place(place, (*at, "require", place)), _texts(allowed))
                for place, allowed in values.get("require", {}).items()
            ),
            claims={
                field: self._place(place, (*at, "claims", field))
                for field, place in {"name": "sub", **values.get("claims", {})}.items()
            },
            rights=self._rights(values, at),
            revoked=frozenset(values.get("revoked", ())),
            sample=sample,
            at=at,
        )

    def _rights(self, values: Json, at: Path) -> Caller:
        prefix = values.get("prefix", f"{_host(values['issuer'])}:")
        return self._tokens.caller({**values, "name": prefix}, at)

    def _place(self, text: str, at: Path) -> ClaimPlace:
        try:
            return ClaimPlace.parse(text)
        except ValueError as error:
            hint = "write a claim's name, `groups[0]`, `realm_access.roles`, or a JSON Pointer"
            self._error(at, str(error), hint)
            return ClaimPlace(text, (text,))

    def _check_url(self, url: str, at: Path) -> None:
        """Keys that come in the clear could be anybody's."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            hint = "name its keys: `jwks_file: keys.json`, or `jwks:` with a URL"
            self._error(at, f"'{url}' is not a URL of the issuer's keys", hint)
        elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            message = f"keys from '{url}' can be changed on their way"
            self._error(at, message, "write https://, or a file with the keys")

    def _check_file(self, file: FilePath | None, at: Path) -> None:
        if file is not None and not file.is_file():
            self._error(at, f"there is no file '{file.name}'", code="MW106")

    def _error(self, at: Path, message: str, hint: str = "", code: str = "MW104") -> None:
        self._findings.error(self._source, at, code, message, hint)


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _host(issuer: str) -> str:
    return urlsplit(issuer).hostname or issuer if "://" in issuer else issuer
