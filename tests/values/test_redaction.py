"""Secrets are taken out of text by value, by token shape and by name."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from engine.values.redaction import (
    MARKER,
    Redaction,
    is_secret_name,
    redact_keys,
    redact_query,
    redact_tokens,
)

SECRET = "sk-proj/AbC+9 \"x\\y&z<='q"
BEARER = Redaction([f"Bearer {SECRET}"])
PAIR = base64.b64encode(f"user:{SECRET}".encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"Bearer {SECRET}",
        f"key={quote(SECRET, safe='')}",
        f"key={quote(SECRET)}",
        f"key={quote_plus(SECRET)}",
        f"key={quote(SECRET, safe='').lower().replace('sk-proj%2fabc%2b', 'sk-proj%2fAbC%2b')}",
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        json.dumps({"key": SECRET}),
        json.dumps(json.dumps({"key": SECRET})),
        json.dumps(SECRET).replace("/", "\\/"),
        "".join(f"\\u{ord(char):04X}" for char in SECRET),
        html.escape(SECRET),
        "".join(f"&#{ord(char)};" for char in SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        *(base64.b64encode(b"a" * n + SECRET.encode() + b"zz").decode() for n in range(6)),
        PAIR,
    ],
)
def test_every_form_of_a_credential_is_cut(text: str) -> None:
    cut = BEARER.redact(f"before {text} after".encode())
    assert cut.startswith(b"before ")
    assert cut.endswith(b" after")
    assert MARKER.encode() in cut
    core = SECRET[8:11]
    assert core.encode() not in cut


def test_basic_credentials_are_cut_whole_and_in_parts() -> None:
    redaction = Redaction([f"Basic {PAIR}"])
    for text in (PAIR, f"user:{SECRET}", SECRET, f"Basic {PAIR}"):
        assert redaction.redact(f"<{text}>".encode()).endswith(MARKER.encode() + b">")


@pytest.mark.parametrize(
    "text", [b"", b"nothing % of & that \\ sort", b"Incorrect API key: sk-p***'q", b"Bearer "]
)
def test_bytes_without_a_secret_are_returned_as_the_same_object(text: bytes) -> None:
    assert BEARER.redact(text) is text
    assert Redaction([]).redact(text) is text


def test_secrets_of_under_four_characters_are_not_redacted() -> None:
    assert Redaction(["Bearer no", "abc"]).redact(b"no abc") == b"no abc"


def test_headers_that_hold_one_are_left_out() -> None:
    headers = [("location", f"https://x/?k={quote(SECRET, safe='')}"), ("etag", "1")]
    assert BEARER.filter_headers(headers) == [("etag", "1")]
    assert BEARER.filter_headers(headers[1:]) == headers[1:]


def test_text_is_redacted_with_another_marker() -> None:
    redaction = Redaction(["Bearer sk/literal"], "***")
    assert redaction.redact_text("é \ud800 sk/literal, sk%2Fliteral") == "é \ud800 ***, ***"


@pytest.mark.parametrize(
    ("header", "secret"),
    [("authorization", True), ("X-API-Key", True), ("set-cookie", True), ("x-region", False)],
)
def test_header_names_suggest_secrets(header: str, secret: bool) -> None:
    assert is_secret_name(header) is secret


@pytest.mark.parametrize(
    ("query", "redacted"),
    [
        ("", ""),
        ("alt=sse", "alt=sse"),
        ("alt=sse&key=AIza123", "alt=sse&key=[redacted]"),
        ("api_key=1&x=2", "api_key=[redacted]&x=2"),
        ("access_token=1", "access_token=[redacted]"),
        ("a=mw-secret", "a=[redacted]"),
        ("a=" + "Az09" * 8, "a=[redacted]"),
        ("k%65y=1", "k%65y=[redacted]"),
        ("limit=20&after=file_1", "limit=20&after=file_1"),
        ("flag", "flag"),
    ],
)
def test_query_values_that_may_be_secrets_are_redacted(query: str, redacted: str) -> None:
    assert redact_query(query, every_value=False) == redacted


def test_every_query_value_is_redacted_on_request() -> None:
    assert redact_query("a=1&b=2&c", every_value=True) == "a=[redacted]&b=[redacted]&[redacted]"


def test_gateway_tokens_in_a_path_are_redacted() -> None:
    token = "mw-" + "a1" * 32
    assert redact_tokens(f"/v1/{token}/x") == "/v1/mw-***/x"
    assert redact_tokens("/v1/mw-small/x") == "/v1/mw-small/x"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("sk-proj-T3BlbkFJabcdef", "sk-***"),
        ("key=sk-ant-api03-AAAAAAAAAAAA.", "key=sk-***"),
        ("ghp_16C7e42F292c6912E7710c838347", "ghp_***"),
        ("github_pat_11ABCDEFG0123456789", "github_pat_***"),
        ("AIzaSyA1234567890abcdefghijk", "AIza***"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA***"),
        ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", "eyJ***"),
        ("mw-" + "a1" * 16 + " hf_abcdefGHIJKL", "mw-*** hf_***"),
        *((text, text) for text in ("sk-bratislava-and-surroundings", "task-ABCDEFGHIJKLMN")),
        *((text, text) for text in ("sk-team-7", "eyJ", "Zoë sk-", "")),
    ],
)
def test_keys_of_vendors_are_hidden(text: str, left: str) -> None:
    assert redact_keys(text) == left


def test_a_client_secret_in_a_path_is_hidden():
    secret = "ek_" + "AbC-_9" * 10
    assert redact_tokens(f"/v1/{secret}/x") == "/v1/ek_***/x"
    assert redact_tokens("/v1/week_of_the_long_holidays") == "/v1/week_of_the_long_holidays"
