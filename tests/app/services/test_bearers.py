import json

import pytest

from engine.app.services.bearers import load_keys
from engine.callers.jwt.refusal import KeysUnavailable
from engine.upstream.service_calls import FetchFailed
from tests.support.signed_tokens import issuers, key_set

KEYS = json.dumps({"keys": key_set()})
METADATA = "https://a.example/.well-known/openid-configuration"
OWN = "https://a.example/keys"


def issuer(more: str = ""):
    (entry,) = issuers(f"{{issuer: 'https://a.example', audience: x{more}}}")
    return entry


def web(**documents: str):
    def fetch(url: str) -> bytes:
        try:
            return documents[url].encode()
        except KeyError:
            raise FetchFailed(f"{url} answered with status 404") from None

    return fetch


def metadata(**changes: object) -> str:
    return json.dumps({"issuer": "https://a.example", "jwks_uri": OWN} | changes)


def test_keys_are_found_by_discovery():
    assert load_keys(issuer(), web(**{METADATA: metadata(), OWN: KEYS})) == key_set()


def test_keys_come_from_their_url():
    url = "https://k.example/jwks?v=1"
    assert load_keys(issuer(f", jwks: '{url}'"), web(**{url: KEYS})) == key_set()


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ({}, "status 404"),
        ({METADATA: metadata(issuer="https://b.example")}, "metadata of 'https://b.example'"),
        ({METADATA: metadata(jwks_uri=None)}, "(jwks_uri)"),
        ({METADATA: metadata(jwks_uri="file:///etc/passwd")}, "(jwks_uri)"),
        ({METADATA: metadata(jwks_uri="http://a.example/keys")}, "not behind TLS"),
        ({METADATA: "<html>"}, "is not JSON"),
        ({METADATA: "[]"}, "is not a JSON object"),
        ({METADATA: metadata(), OWN: "{}"}, "has no list of keys"),
        ({METADATA: metadata(), OWN: '{"keys": []}'}, "has no list of keys"),
    ],
)
def test_why_keys_cannot_be_had(documents, reason):
    with pytest.raises(KeysUnavailable, match=reason):
        load_keys(issuer(), web(**documents))
