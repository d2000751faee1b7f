"""The metadata of a provider (OpenID Connect Discovery 1.0): its endpoints."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.callers.jwt.endpoint import endpoint, object_of
from engine.callers.jwt.refusal import KeysUnavailable


class ProviderMetadata(Struct, frozen=True):
    """The endpoints of a provider; those that it may lack are "". `names_issuer`: its responses say
    who sends them (RFC 9207). `takes_basic`: its token endpoint takes a client's secret as HTTP
    Basic, else in the form."""

    authorization: str
    token: str
    userinfo: str
    end_session: str
    names_issuer: bool
    takes_basic: bool


def read_metadata(document: bytes, issuer: str, url: str) -> ProviderMetadata:
    """The metadata that were fetched from `url`, which must be the issuer's own (Discovery 1.0,
    4.3). Raises KeysUnavailable."""
    members = object_of(document, url)
    if members.get("issuer") != issuer:
        name = str(members.get("issuer"))[:200]
        raise KeysUnavailable(f"{url} is the metadata of '{name}'")
    methods = members.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" not in methods:
        raise KeysUnavailable(f"{url}: the provider does not support PKCE with S256")
    return ProviderMetadata(
        authorization=_endpoint(members, "authorization_endpoint", url),
        token=_endpoint(members, "token_endpoint", url),
        userinfo=_endpoint(members, "userinfo_endpoint", url, may_lack=True),
        end_session=_endpoint(members, "end_session_endpoint", url, may_lack=True),
        names_issuer=members.get("authorization_response_iss_parameter_supported") is True,
        takes_basic=_takes_basic(members.get("token_endpoint_auth_methods_supported")),
    )


def _endpoint(members: dict[str, Any], name: str, url: str, *, may_lack: bool = False) -> str:
    value = members.get(name)
    if may_lack and value is None:
        return ""
    try:
        return endpoint(value, url)
    except ValueError as error:
        raise KeysUnavailable(f"{url}: {name} {error}") from error


def _takes_basic(methods: object) -> bool:
    """Whether HTTP Basic is among the methods, which it is by default (Discovery 1.0, 3)."""
    return not isinstance(methods, list) or "client_secret_basic" in methods
