"""`callers:` of gateway.yaml: whose tokens, besides those of this gateway, are accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import isfile
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson
from msgspec import Struct

from engine.config import keys
from engine.config.tokens import TokenReader
from engine.source.problem import Findings, Path, Source
from engine.values.caller import Caller
from engine.values.json_pointer import ClaimPlace
from engine.values.quota import percentages
from engine.values.trees import Json

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""The signatures that are accepted by default: all that need no shared secret (RFC 7518 3.1,
RFC 8037)."""

_DISCOVERY = "/.well-known/openid-configuration"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_KEY_TYPES = ("RSA", "EC", "OKP")
_NO_KEYS = 'write the key set of the issuer into it: {"keys": [...]} (RFC 7517 5)'
MAX_LEEWAY = 600.0
"""Seconds."""


class JwtIssuer(Struct, frozen=True):
    """An issuer of JSON Web Tokens. Its keys come from the URL `discovery`, the URL `jwks`, or the
    file `jwks_file`; the others are empty.

    `warn_at` are the percentages of the limits in claims at which a warning is written. `leeway` is
    in seconds. `require` are the claims that a token must have, with wildcards of their
    values. `claims` has the place of the claim for each field of a caller; `rights` is the caller
    of a token without these claims, its name is that before the claim's text. `revoked` are values
    of `jti`, `revoked_subjects` of `sub`. `sample` is a file with a token. `has_prefix`: the entry
    says how names begin.
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
    revoked_subjects: frozenset[str]
    sample: FilePath | None
    warn_at: tuple[int, ...]
    has_prefix: bool
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

    def check_names(self, issuers: Sequence[JwtIssuer], tokens: Mapping[str, Caller]) -> None:
        """Note the entries whose callers could have the name of another issuer's, or of a token:
        limits, objects and rows of the ledger belong to a name."""
        for index, issuer in enumerate(issuers):
            prefix = issuer.rights.name
            key = "prefix" if issuer.has_prefix else "issuer"
            for other in issuers[:index]:
                names = sorted((prefix, other.rights.name), key=len)
                if other.issuer != issuer.issuer and names[1].startswith(names[0]):
                    message = (
                        f"its callers' names begin with '{prefix}', and those of "
                        f"'{other.issuer}' with '{other.rights.name}': one could be taken for the "
                        "other"
                    )
                    hint = 'write a `prefix` of its own, such as `prefix: "partner:"`'
                    self._error((*issuer.at, key), message, hint, "MW107")
            if name := next((t.name for t in tokens.values() if t.name.startswith(prefix)), ""):
                message = (
                    f"its callers' names begin with '{prefix}', as that of token '{name}' does"
                )
                hint = "give the token another name, or the entry another `prefix`"
                self._error((*issuer.at, key), message, hint, "MW107")

    def _keys(self, values: Json, at: Path) -> tuple[str, str, FilePath | None]:
        """Where the keys of an issuer are: the URL of its metadata, that of its keys, or a file."""
        keys_of = [key for key in ("jwks", "jwks_file", "discovery") if key in values]
        for key in keys_of[1:]:
            message = f"`{keys_of[0]}` says where the keys are"
            self._error((*at, key), message, "remove one of both")
        jwks, discovery = values.get("jwks", ""), values.get("discovery", "")
        if not keys_of:
            discovery = discovery_url(values["issuer"])
        file = self._folder / values["jwks_file"] if "jwks_file" in values else None
        self._check_file(file, (*at, "jwks_file"))
        self._check_keys(file, (*at, "jwks_file"))
        if file is None:
            self._check_url(jwks or discovery, (*at, keys_of[0] if keys_of else "issuer"))
        return discovery, jwks, file

    def _issuer(self, entry: Json, at: Path) -> JwtIssuer:
        values = keys.fill(entry, "callers.jwt.*")
        discovery, jwks, file = self._keys(values, at)
        if values["leeway"] > MAX_LEEWAY:
            message = "tokens would be accepted for long after their end"
            self._error((*at, "leeway"), message, "write 30s, or at most 10m")
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
            revoked_subjects=frozenset(values.get("revoked_subjects", ())),
            sample=sample,
            warn_at=percentages(values.get("warn_at", ())),
            has_prefix="prefix" in entry,
            at=at,
        )

    def _rights(self, values: Json, at: Path) -> Caller:
        prefix = values.get("prefix", f"{_host(values['issuer'])}:")
        rights = {key: value for key, value in values.items() if key != "require"}  # of claims
        return self._tokens.caller({**rights, "name": prefix}, at)

    def _place(self, text: str, at: Path) -> ClaimPlace:
        try:
            return ClaimPlace.parse(text)
        except ValueError as error:
            hint = "write a claim's name, `groups[0]`, `realm_access.roles`, or a JSON Pointer"
            self._error(at, str(error), hint)
            return ClaimPlace(text, (text,))

    def _check_url(self, url: str, at: Path) -> None:
        """Keys that come in the clear could be anybody's."""
        parts = _split(url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            hint = "name its keys: `jwks_file: keys.json`, or `jwks:` with a URL"
            self._error(at, f"'{url}' is not a URL of the issuer's keys", hint)
        elif "@" in parts.netloc or "#" in url:
            message = "the URL of an issuer's keys has no user, password or fragment"
            self._error(at, message, "write the address alone: keys are public")
        elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            message = f"keys from '{url}' can be changed on their way"
            self._error(at, message, "write https://, or a file with the keys")

    def _check_file(self, file: FilePath | None, at: Path) -> None:
        if file is not None and not isfile(file):
            self._error(at, f"there is no file '{file.name}'", code="MW106")

    def _check_keys(self, file: FilePath | None, at: Path) -> None:
        """The keys of a file are those of every token: without any, nobody comes in."""
        if file is None or not isfile(file):
            return
        try:
            value = orjson.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            self._error(at, f"'{file.name}' cannot be read as JSON: {error}", _NO_KEYS)
            return
        listed = value.get("keys") if isinstance(value, dict) else None
        keys = (
            [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )
        if not any(key.get("kty") in _KEY_TYPES for key in keys):
            self._error(at, f"'{file.name}' has no public keys", _NO_KEYS)
        if any("d" in key or "k" in key for key in keys):
            hint = "write only the public keys of the issuer; renew those that were here"
            self._error(at, f"'{file.name}' has a secret key", hint)

    def _error(self, at: Path, message: str, hint: str = "", code: str = "MW104") -> None:
        self._findings.error(self._source, at, code, message, hint)


def discovery_url(issuer: str) -> str:
    """Where the metadata of an issuer are (OpenID Connect Discovery 1.0, 4)."""
    return issuer.rstrip("/") + _DISCOVERY


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _host(issuer: str) -> str:
    parts = _split(issuer) if "://" in issuer else None
    return (parts and parts.hostname) or issuer


def _split(url: str) -> SplitResult | None:
    """The parts of a URL, None for a text that is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
