"""The bearers of other issuers' tokens: where the keys of an issuer come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from engine.app.plan_needs import carried_claims
from engine.callers.jwt.bearers import Bearers
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import KeysUnavailable
from engine.config.callers import JwtIssuer
from engine.plan.route import Plan
from engine.upstream.fetch_document import FetchFailed, fetch_document
from engine.values.trees import Json

FETCH_SECONDS = 5.0
MAX_DOCUMENT = 512 * 1024
_SCHEMES = ("https://", "http://")

Fetch = Callable[[str], bytes]
"""The document at a URL. Raises FetchFailed."""

_fetch = partial(fetch_document, seconds=FETCH_SECONDS, max_size=MAX_DOCUMENT)


def bearers_of(plan: Plan, clock: Callable[[], float]) -> Bearers | None:
    """The bearers in one worker, None if the config accepts no other issuer."""
    config = plan.config
    if not config.jwt:
        return None
    key_sets: dict[tuple[object, ...], KeySet] = {}
    for issuer in config.jwt:
        source = (issuer.issuer, issuer.discovery, issuer.jwks, issuer.jwks_file)
        if source not in key_sets:
            key_sets[source] = KeySet(issuer.issuer, partial(load_keys, issuer))
    sets = [key_sets[i.issuer, i.discovery, i.jwks, i.jwks_file] for i in config.jwt]
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
    metadata = _object(fetch(issuer.discovery), issuer.discovery)
    if metadata.get("issuer") != issuer.issuer:
        name = str(metadata.get("issuer"))[:200]
        raise KeysUnavailable(f"{issuer.discovery} is the metadata of '{name}'")
    url = metadata.get("jwks_uri")
    if not isinstance(url, str) or not url.startswith(_SCHEMES):
        raise KeysUnavailable(f"{issuer.discovery} names no address of keys (jwks_uri)")
    if url.startswith("http://") and not issuer.discovery.startswith("http://"):
        raise KeysUnavailable(f"{issuer.discovery} names keys that are not behind TLS: {url}")
    return url


def _keys(document: bytes, name: str) -> list[Mapping[str, Any]]:
    keys = _object(document, name).get("keys")
    if not isinstance(keys, list) or not keys:
        raise KeysUnavailable(f"{name} has no list of keys (RFC 7517 5)")
    return [key for key in keys if isinstance(key, dict)]


def _object(document: bytes, name: str) -> Json:
    try:
        value = orjson.loads(document)
    except ValueError as error:
        raise KeysUnavailable(f"{name} is not JSON") from error
    if not isinstance(value, dict):
        raise KeysUnavailable(f"{name} is not a JSON object")
    return value
