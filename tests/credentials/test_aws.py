"""`aws:` of a config, and the requests that it signs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.credentials.access_tokens.source import TokenSource
from engine.credentials.access_tokens.token import Token
from engine.credentials.aws import FetchedKeys, FixedKeys
from engine.credentials.signatures.sigv4 import Keys
from engine.values.upstream_request import UpstreamRequest
from tests.support.credentials import problems_of, read
from tests.support.signing import KEYS, NOW, by_botocore

URL = "https://bedrock-runtime.us-west-2.amazonaws.com"
STATIC = {"access_key": KEYS.access_key, "secret_key": KEYS.secret_key}


def request() -> UpstreamRequest:
    host = "bedrock-runtime.us-west-2.amazonaws.com"
    headers = [("content-type", "application/json")]
    return UpstreamRequest("POST", host, "/model/m/converse", "", headers, b"{}")


def test_keys_of_the_config_sign_without_a_library() -> None:
    keys = FixedKeys(KEYS, "us-west-2", "bedrock", NOW.timestamp)
    expected = by_botocore(request(), KEYS, "us-west-2", "bedrock")
    keys.apply(upstream_request := request(), 9.0)
    assert dict(upstream_request.headers)["authorization"] == expected["authorization"]
    assert (keys.renew(), keys.secrets) == (False, ())


def test_fetched_keys_are_renewed_and_each_request_is_signed_with_the_current_ones() -> None:
    pairs = [Keys("id-1", "secret-1", "session-1"), Keys("id-2", "secret-2", "session-2")]
    following = iter(pairs)

    def fetch(rejected_token: Token | None) -> Token:
        keys = next(following)
        names = ("access_key", "secret_key", "session_token")
        return Token({name: getattr(keys, name) for name in names}, NOW.timestamp())

    source = TokenSource("a role", fetch, lambda: None, clock=NOW.timestamp)
    keys = FetchedKeys(source, "us-west-2", "bedrock", NOW.timestamp)
    for current in pairs:
        expected = by_botocore(request(), current, "us-west-2", "bedrock")
        keys.apply(upstream_request := request(), 9.0)
        assert {name: dict(upstream_request.headers)[name] for name in expected} == expected
        keys.renew()
    assert keys.secrets == ["secret-1", "session-1", "secret-2", "session-2"]


def test_a_retry_is_signed_again() -> None:
    moments = iter([NOW.timestamp(), NOW.timestamp() + 60])
    keys = FixedKeys(KEYS, "us-west-2", "bedrock", lambda: next(moments))
    keys.apply(upstream_request := request(), 9.0)
    first = dict(upstream_request.headers)
    keys.apply(upstream_request, 9.0)
    second = dict(upstream_request.headers)
    assert len(upstream_request.headers) == len(second)
    assert first["authorization"] != second["authorization"]
    assert (first["x-amz-date"], second["x-amz-date"]) == ("20150830T123600Z", "20150830T123700Z")


@pytest.mark.parametrize(
    ("url", "region"),
    [
        (URL, "us-west-2"),
        ("https://vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com/a", "eu-central-1"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
    ],
)
def test_the_region_is_that_of_the_host(url: str, region: str) -> None:
    assert read({"aws": STATIC}, url=url).region == region  # type: ignore[attr-defined]


def test_the_region_of_the_config_comes_first() -> None:
    credential = read({"aws": {**STATIC, "region": "us-east-1"}}, url=URL)
    assert credential.region == "us-east-1"  # type: ignore[attr-defined]


def test_the_variable_of_the_upstream_comes_before_its_host() -> None:
    credential = read({"aws": STATIC}, url=URL, variables={"region": "eu-west-1"})
    assert credential.region == "eu-west-1"  # type: ignore[attr-defined]


def test_a_region_that_is_not_known_is_a_problem() -> None:
    [(at, message, hint, _)] = problems_of({"aws": STATIC}, url="https://bedrock.test")
    assert (at, message) == (("aws",), "the region is not known")
    assert "region: us-east-1" in hint


def test_a_credential_of_the_config_shows_none_of_its_keys() -> None:
    credential = read({"aws": {**STATIC, "session_token": "t0k3n"}}, url=URL)
    assert credential.label == "aws keys of the config"
    assert credential.secrets == (KEYS.access_key, KEYS.secret_key, "t0k3n")
    assert KEYS.secret_key not in repr(credential)
    assert credential.header == "authorization"


def test_keys_are_looked_up_in_a_profile_or_the_environment() -> None:
    assert read({"aws": {}}, url=URL).label == "aws keys of the environment"
    assert read({"aws": {"profile": "work"}}, url=URL).label == "aws profile work"
    live = read({"aws": {}}, url=URL).open(None, lambda: None)
    assert isinstance(live, FetchedKeys)
    assert list(live.secrets) == []


def test_a_profile_and_keys_are_too_much() -> None:
    [(at, message, hint, _)] = problems_of({"aws": {**STATIC, "profile": "work"}}, url=URL)
    assert (at, message, hint) == (
        ("aws", "profile"),
        "'profile' and 'access_key' together",
        "keep one",
    )


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.credentials.interface.credential.find_spec", lambda name: None)
    [(at, message, hint, code)] = problems_of({"aws": {}}, url=URL)
    assert (at, hint, code) == (("aws",), "pip install 'modelway[aws]'", "MW108")
    assert "the extra aws" in message
    assert problems_of({"aws": STATIC}, Path(), url=URL) == []  # it needs no library


def test_a_rehearsal_shows_no_signature_that_changes() -> None:
    live = read({"aws": STATIC}, url=URL).placeholder()
    live.apply(upstream_request := request(), 9.0)
    assert dict(upstream_request.headers)["authorization"].startswith("AWS4-HMAC-SHA256 ")
