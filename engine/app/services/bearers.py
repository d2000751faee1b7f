"""The bearers of other issuers' tokens: where the keys of an issuer come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from engine.app.services.plan_needs import carried_claims
from engine.callers.jwt.bearers import Bearers
from engine.callers.jwt.endpoint import endpoint, object_of
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import KeysUnavailable
from engine.config.callers import JwtIssuer
from engine.plan.plan import Plan
from engine.upstream.service_calls import FetchFailed, fetch_document

FETCH_SECONDS = 5.0
MAX_DOCUMENT = 512 * 1024

Fetch = Callable[[str], bytes]
"""The document at a URL. Raises FetchFailed."""

_fetch = partial(fetch_document, seconds=FETCH_SECONDS, max_size=MAX_DOCUMENT)


Source = tuple[object, ...]


def key_sets_of(issuers: Iterable[JwtIssuer]) -> Mapping[Source, KeySet]:
    """The keys in one worker, by where they come from: entries of one issuer share them."""
    key_sets: dict[Source, KeySet] = {}
    for issuer in issuers:
        if (source := source_of(issuer)) not in key_sets:
            key_sets[source] = KeySet(issuer.issuer, partial(load_keys, issuer))
    return key_sets


def source_of(issuer: JwtIssuer) -> Source:
    """Where the keys of an issuer come from."""
    return issuer.issuer, issuer.discovery, issuer.jwks, issuer.jwks_file


def bearers_of(
    plan: Plan, key_sets: Mapping[Source, KeySet], clock: Callable[[], float]
) -> Bearers:
    """The bearers in one worker."""
    config = plan.config
    sets = [key_sets[source_of(issuer)] for issuer in config.jwt]
    claims = carried_claims(plan)
    return Bearers(config.jwt, sets, config.currency, clock, teams=config.teams, claims=claims)


def load_keys(issuer: JwtIssuer, fetch: Fetch = _fetch) -> Sequence[Mapping[str, Any]]:
    """The keys of an issuer, from its file, its URL, or by discovery. Raises KeysUnavailable."""
    if issuer.jwks_file is not None:
        try:
            return _keys(issuer.jwks_file.read_bytes(), issuer.jwks_file.name)
        except OSError as error:
            raise KeysUnavailable(f"{issuer.jwks_file.name}: {error.strerror}") from error
    try:
        url = issuer.jwks or _discovered(issuer, fetch)
        return _keys(fetch(url), url)
    except FetchFailed as error:
        raise KeysUnavailable(str(error)) from error


def _discovered(issuer: JwtIssuer, fetch: Fetch) -> str:
    """The URL of the keys in the issuer's metadata, which must be the issuer's own (OpenID Connect
    Discovery 1.0, 4.3)."""
    metadata = object_of(fetch(issuer.discovery), issuer.discovery)
    if metadata.get("issuer") != issuer.issuer:
        name = str(metadata.get("issuer"))[:200]
        raise KeysUnavailable(f"{issuer.discovery} is the metadata of '{name}'")
    try:
        return endpoint(metadata.get("jwks_uri"), issuer.discovery)
    except ValueError as error:
        message = f"{issuer.discovery}: the address of the keys (jwks_uri) {error}"
        raise KeysUnavailable(message) from error


def _keys(document: bytes, name: str) -> list[Mapping[str, Any]]:
    keys = object_of(document, name).get("keys")
    if not isinstance(keys, list) or not keys:
        raise KeysUnavailable(f"{name} has no list of keys (RFC 7517 5)")
    return [key for key in keys if isinstance(key, dict)]
