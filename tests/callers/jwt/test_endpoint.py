"""Which documents of an issuer, and which addresses in its metadata, are used."""

import pytest

from engine.callers.jwt.endpoint import endpoint, object_of
from engine.callers.jwt.refusal import KeysUnavailable
from tests.support.each import each

TLS, LOCAL = "https://login.example.com/meta", "http://127.0.0.1:8080/meta"
INSIDE = "https://10.0.0.5/meta"


@each(
    ("value", "metadata"),
    [
        ("https://login.example.com/keys", TLS),
        ("https://keys.example.org:8443/a?b=c", TLS),
        ("https://8.8.8.8/keys", TLS),
        ("https://[2606:4700::1111]/keys", TLS),
        ("https://[64:ff9b::808:808]/keys", TLS),
        ("http://127.0.0.1:9090/keys", LOCAL),
        ("https://10.0.0.5/keys", INSIDE),
        ("https://login.internal/keys", TLS),
    ],
)
def test_an_address_that_may_be_used(value, metadata):
    assert endpoint(value, metadata) == value


@each(
    ("value", "metadata", "words"),
    [
        (None, TLS, "is missing"),
        (7, TLS, "is missing"),
        ("", TLS, "is missing"),
        ("login.example.com/keys", TLS, "is not a URL"),
        ("ftp://login.example.com/", TLS, "is not a URL"),
        ("https://", TLS, "is not a URL"),
        ("https://a:b:c/", TLS, "is not a URL"),
        ("https://login.example.com/\r\nx: y", TLS, "is not a URL"),
        ("https://login.example.com/é", TLS, "is not a URL"),
        ("https://login.example.com/" + "a" * 2_000, TLS, "is not a URL"),
        ("https://a@login.example.com/", TLS, "has a user"),
        ("https://login.example.com/#a", TLS, "has a user"),
        ("http://login.example.com/keys", TLS, "is not behind TLS"),
        ("https://127.0.0.1/", TLS, "private network"),
        ("https://169.254.169.254/", TLS, "private network"),
        ("https://10.0.0.6/", INSIDE, "private network"),
        ("https://[fd00::1]/", TLS, "private network"),
        ("https://[::ffff:127.0.0.1]/", TLS, "private network"),
        ("https://[fe80::1%25eth0]/", TLS, "private network"),
        ("https://[::1]/", TLS, "private network"),
        ("https://[::127.0.0.1]/", TLS, "private network"),
        ("https://[::ffff:0:10.0.0.1]/", TLS, "private network"),
        ("https://[64:ff9b::a9fe:a9fe]/", TLS, "private network"),
        ("https://[64:ff9b:1::808:808]/", TLS, "private network"),
        ("https://[2002:7f00:1::]/", TLS, "private network"),
        ("https://224.0.0.1/", TLS, "private network"),
        ("https://LOCALHOST./", TLS, "private network"),
        ("https://a.localhost/", TLS, "private network"),
        ("https://2130706433/", TLS, "private network"),
        ("https://0x7f.0.0.1/", TLS, "private network"),
        ("https://127.1/", TLS, "private network"),
        ("http://169.254.169.254/", LOCAL, "private network"),
    ],
)
def test_an_address_that_may_not_be_used(value, metadata, words):
    with pytest.raises(ValueError, match=words):
        endpoint(value, metadata)


@each("document", [b"{", b"[]", b"\xff", b""])
def test_a_document_is_a_json_object(document):
    assert object_of(b'{"a": 1}', "it") == {"a": 1}
    with pytest.raises(KeysUnavailable, match=r"^it is not"):
        object_of(document, "it")
