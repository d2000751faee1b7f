"""Which metadata of a provider are used. Endpoints that lead elsewhere: test_page_sign_in.py."""

import orjson
import pytest

from engine.callers.jwt.refusal import KeysUnavailable
from engine.callers.sign_in.metadata import read_metadata
from tests.support.each import each
from tests.support.page_sign_in import METADATA
from tests.support.signed_tokens import ISSUER

URL = f"{ISSUER}.well-known/openid-configuration"


def metadata(**changes):
    members = {key: value for key, value in {**METADATA, **changes}.items() if value is not None}
    return read_metadata(orjson.dumps(members), ISSUER, URL)


def test_endpoints_may_be_at_other_hosts_and_some_may_be_missing():
    found = metadata(token_endpoint="https://oauth2.example.org/token", end_session_endpoint=None)
    assert found.token == "https://oauth2.example.org/token"
    assert (found.end_session, found.userinfo) == ("", "")


@each(
    ("changes", "names_issuer", "takes_basic"),
    [
        ({}, True, True),
        ({"authorization_response_iss_parameter_supported": None}, False, True),
        ({"token_endpoint_auth_methods_supported": ["client_secret_post"]}, True, False),
        ({"token_endpoint_auth_methods_supported": ["client_secret_basic", "x"]}, True, True),
    ],
)
def test_what_a_provider_supports(changes, names_issuer, takes_basic):
    found = metadata(**changes)
    assert (found.names_issuer, found.takes_basic) == (names_issuer, takes_basic)


@pytest.mark.parametrize("document", [b"", b"[]", b"<html>", b'{"issuer": "https://other/"}'])
def test_what_is_no_metadata_of_the_issuer_is_refused(document):
    with pytest.raises(KeysUnavailable):
        read_metadata(document, ISSUER, URL)


def test_a_provider_on_this_machine_needs_no_tls():
    url = "http://127.0.0.1:80/.well-known/openid-configuration"
    names = ("authorization_endpoint", "token_endpoint", "end_session_endpoint")
    members = {**METADATA, **dict.fromkeys(names, "http://127.0.0.1:80/x")}
    assert read_metadata(orjson.dumps(members), ISSUER, url).token == "http://127.0.0.1:80/x"
