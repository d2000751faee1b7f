"""AWS Signature Version 4, held against botocore's signatures and the vendor's published cases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.credentials.signatures.sigv4 import Keys, sign
from engine.values.upstream_request import UpstreamRequest
from tests.support.signing import KEYS, NOW, Chunks, by_botocore

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_SIGNATURES") or _CACHE / "modelway" / "signatures")
"""Where `.ci/run` puts the vendor's published cases, from botocore's source distribution."""

VENDOR_CASES = sorted(FOLDER.rglob("*.req"))
_NOT_FOR_US = {
    "get-vanilla-with-session-token": "its request lacks the token",
    "post-sts-header-after": "the token is added behind the signature",
    "get-header-value-multiline": "a header value is one line (RFC 9110 5.5)",
}

TEXT = st.text("aZ09-._~ /:+=&%äሴ", max_size=8)
CODED = TEXT.map(lambda text: "".join(f"%{byte:02X}" for byte in text.encode()))
SEGMENT = st.sampled_from(
    ["model", "anthropic.claude-v1%3A0", "a%2Fb", "", "x y".replace(" ", "%20")]
)
PATHS = st.lists(SEGMENT, min_size=1, max_size=4).map(lambda segments: "/" + "/".join(segments))
QUERIES = st.lists(st.tuples(CODED, CODED), max_size=4)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["content-type", "accept", "x-amzn-a", "x-b", "user-agent", "traceparent"]),
        st.text("ab ,;=/", max_size=8),
    ),
    max_size=6,
)
BODIES = st.one_of(st.none(), st.binary(max_size=40))


def request(
    path: str = "/model/m/converse",
    query: str = "",
    headers: list[tuple[str, str]] | None = None,
    body: bytes | Chunks | None = b"{}",
) -> UpstreamRequest:
    host = "bedrock-runtime.us-east-1.amazonaws.com"
    return UpstreamRequest("POST", host, path, query, headers or [], body)


def header(request: UpstreamRequest, name: str) -> str | None:
    [*values] = (value for field, value in request.headers if field == name)
    assert len(values) < 2
    return values[0] if values else None


def signed(request: UpstreamRequest, keys: Keys = KEYS) -> str:
    sign(request, keys, "us-east-1", "bedrock", NOW.timestamp())
    value = header(request, "authorization")
    assert value is not None
    return value


@given(PATHS, QUERIES, HEADERS, BODIES, st.sampled_from(["", "token/+="]))
def test_signatures_are_those_of_botocore(
    path: str,
    query: list[tuple[str, str]],
    headers: list[tuple[str, str]],
    body: bytes | None,
    session_token: str,
) -> None:
    keys = Keys(KEYS.access_key, KEYS.secret_key, session_token)
    # botocore sorts the pairs as they are written: these are written in the canonical form.
    text = "&".join(f"{name}={value}" for name, value in query if name)
    ours = request(path, _canonical(text), [*headers], body)
    expected = by_botocore(ours, keys, "us-east-1", "bedrock")
    signed(ours, keys)
    assert {name: header(ours, name) for name in expected} == expected


def _canonical(query: str) -> str:
    """The query with unreserved characters as they are, as most clients write it."""
    for char in "aZ09-._~":
        query = query.replace(f"%{ord(char):02X}", char)
    return query


def test_the_vendors_example() -> None:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/signing-elements.html (ListUsers)
    content_type = "application/x-www-form-urlencoded; charset=utf-8"
    ours = UpstreamRequest(
        *("GET", "iam.amazonaws.com", "/", "Action=ListUsers&Version=2010-05-08"),
        [("content-type", content_type)],
        None,
    )
    sign(ours, KEYS, "us-east-1", "iam", NOW.timestamp())
    assert header(ours, "authorization") == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    )
    assert header(ours, "x-amz-date") == "20150830T123600Z"


def test_a_spooled_body_has_the_signature_of_its_bytes() -> None:
    assert signed(request(body=Chunks([b'{"a"', b":1}"]))) == signed(request(body=b'{"a":1}'))


def test_a_large_body_leaves_others_their_turn() -> None:
    pauses: list[int] = []
    large = request(body=Chunks([b"x" * 500_000] * 7))
    sign(large, KEYS, "us-east-1", "bedrock", NOW.timestamp(), lambda: pauses.append(1))
    assert len(pauses) == 3


def test_another_signature_replaces_the_first() -> None:
    keys = Keys(KEYS.access_key, KEYS.secret_key, "old")
    again = request(headers=[("x-a", "b")])
    signed(again, keys)
    assert signed(again) == signed(request(headers=[("x-a", "b")]))
    assert header(again, "x-amz-security-token") is None


@pytest.mark.parametrize(
    ("change", "value"),
    [
        *(("method", "PUT"), ("host", "b"), ("path", "/b"), ("query", "b"), ("body", b"b")),
        ("headers", [("accept", "b")]),
    ],
)
def test_every_part_of_a_request_is_signed(change: str, value: object) -> None:
    changed = request()
    setattr(changed, change, value)
    assert signed(changed) != signed(request())


@pytest.mark.parametrize("name", ["content-length", "connection", "traceparent", "user-agent"])
def test_headers_that_a_connection_or_proxy_may_change_are_not_signed(name: str) -> None:
    assert signed(request(headers=[(name, "a")])) == signed(request())


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("b=2&a=1", "a=1&b=2"),
        ("a=x:y", "a=x%3Ay"),
        ("a=%c3%a9", "a=%C3%A9"),
        ("a", "a="),
        ("a&", "a"),
    ],
)
def test_a_query_has_one_form_in_the_signature(query: str, canonical: str) -> None:
    assert signed(request(query=query)) == signed(request(query=canonical))


def test_keys_do_not_show_their_secrets() -> None:
    assert repr(Keys("id", "secret-1", "secret-2")) == "Keys(access_key='id')"


@pytest.mark.skipif(not VENDOR_CASES, reason="run .ci/run, which downloads the vendor's cases")
def test_the_vendors_published_cases() -> None:
    assert len(VENDOR_CASES) > 20
    for case in VENDOR_CASES:
        if case.stem not in _NOT_FOR_US:
            ours, keys = _case(case)
            sign(ours, keys, "us-east-1", "service", NOW.timestamp())
            expected = case.with_suffix(".authz").read_text("utf-8").strip()
            assert header(ours, "authorization") == expected, case.stem


def _case(case: Path) -> tuple[UpstreamRequest, Keys]:
    """The request of a case, its query in the form of WSGI, and the keys."""
    head, _, body = case.read_bytes().decode().partition("\n\n")
    line, *fields = head.rstrip("\n").split("\n")
    method, target = line.removesuffix(" HTTP/1.1").split(" ", 1)
    path, _, query = target.partition("?")
    headers = [(n.lower(), v) for n, _, v in (field.partition(":") for field in fields)]
    host = dict(headers)["host"]
    token = dict(headers).get("x-amz-security-token", "")
    headers_to_send = [pair for pair in headers if pair[0] != "host"]
    query = query.encode().decode("latin-1")
    ours = UpstreamRequest(method, host, path, query, headers_to_send, body.encode())
    return ours, Keys(KEYS.access_key, KEYS.secret_key, token)
