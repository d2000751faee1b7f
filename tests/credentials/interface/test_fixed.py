"""How fixed credentials are put on a request."""

from __future__ import annotations

import pytest

from engine.credentials.interface.fixed import HeaderCredential, QueryCredential
from engine.values.upstream_request import UpstreamRequest


def apply(
    credential: HeaderCredential | QueryCredential,
    query: str = "",
    headers: list[tuple[str, str]] | None = None,
) -> UpstreamRequest:
    request = UpstreamRequest("GET", "host", "/x", query, headers or [], None)
    credential.apply(request, 9.0)
    return request


@pytest.mark.parametrize(
    ("credential", "raw", "query"),
    [
        (HeaderCredential("header", "x-key", "s"), "a=b", "a=b"),
        (QueryCredential("query", "key", "s"), "", "key=s"),
        (QueryCredential("query", "key", "s"), "a=%20b&c", "a=%20b&c&key=s"),
        (QueryCredential("query", "k y", "s&=/ é"), "", "k%20y=s%26%3D%2F%20%C3%A9"),
    ],
)
def test_a_credential_may_be_a_query_parameter(
    credential: HeaderCredential | QueryCredential, raw: str, query: str
) -> None:
    assert apply(credential, raw).query == query


@pytest.mark.parametrize("raw", ["k=mine", "a=b&k=mine", "k=mine&k=more"])
def test_a_query_parameter_of_the_caller_does_not_replace_the_credential(raw: str) -> None:
    query = apply(QueryCredential("query", "k", "secret-1"), raw).query
    assert query.count("k=") == 1
    assert query.endswith("k=secret-1")


def test_a_credential_in_a_header_replaces_the_headers_of_its_name() -> None:
    headers = [("x-key", "old"), ("a", "b"), ("x-key", "older")]
    request = apply(HeaderCredential("header", "x-key", "new"), headers=headers)
    assert request.headers == [("a", "b"), ("x-key", "new")]


@pytest.mark.parametrize("name", ["k+y", "%6B%20y", "k%20y"])
def test_an_encoded_name_of_the_parameter_is_the_same_name(name: str) -> None:
    assert apply(QueryCredential("query", "k y", "s"), f"{name}=mine&b").query == "b&k%20y=s"


@pytest.mark.parametrize("kind", [HeaderCredential, QueryCredential])
def test_a_fixed_credential_is_itself_in_a_worker_and_never_renewed(
    kind: type[HeaderCredential | QueryCredential],
) -> None:
    credential = kind("kind", "name", "secret-1")
    assert credential.open(None, lambda: None) is credential.placeholder() is credential
    assert not credential.renew()
    assert (credential.secrets, "secret-1" in repr(credential)) == (("secret-1",), False)


def test_a_credential_names_what_it_sets() -> None:
    header, query = HeaderCredential("bearer", "a", "s"), QueryCredential("query", "b", "s")
    assert (header.header, header.parameter, header.label) == ("a", "", "header a")
    assert (query.header, query.parameter, query.label) == ("", "b", "query b")
