"""Protected resource metadata: its address and its members."""

import json

from engine.mcp.protocol.resource_metadata import challenge, metadata, metadata_path
from tests.support.each import each


@each(
    ("path", "expected"),
    [
        ("/mcp/shop", "/.well-known/oauth-protected-resource/mcp/shop"),
        ("/mcp/", "/.well-known/oauth-protected-resource/mcp"),
    ],
)
def test_the_address_is_that_of_the_path(path, expected):
    assert metadata_path(path) == expected


def test_each_issuer_is_named_once():
    document = json.loads(
        metadata("https://x/mcp", "shop", ["https://a", "https://b", "https://a"])
    )
    assert document["authorization_servers"] == ["https://a", "https://b"]


def test_a_challenge_names_the_metadata():
    assert challenge("https://x/y")[1] == 'Bearer resource_metadata="https://x/y"'
