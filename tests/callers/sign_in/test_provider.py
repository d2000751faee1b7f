"""A provider is asked seldom, by few at one time. Its answers: test_page_sign_in.py."""

import gevent
import orjson
import pytest

from engine.callers.jwt.refusal import KeysUnavailable
from engine.callers.sign_in.provider import MAX_AT_ONCE, Answer, Provider, read_metadata
from engine.callers.sign_in.refusal import ProviderUnavailable
from tests.support.each import each
from tests.support.page_sign_in import METADATA, config, plan_of
from tests.support.page_sign_in import Provider as Answering
from tests.support.signed_tokens import ISSUER

CONFIG = plan_of(config()).config.console.sign_in
URL = "https://login.example.com/.well-known/openid-configuration"
METADATA_URL = f"{ISSUER}.well-known/openid-configuration"


def provider(send, clock=lambda: 0.0):
    return Provider(CONFIG, URL, "https://models.example.com/back", send, clock)


def test_metadata_are_fetched_once_for_all():
    answering = Answering()
    asked = provider(answering.send)
    for task in [gevent.spawn(asked.metadata) for _ in range(20)]:
        assert task.get().token == "https://login.example.com/token"
    assert len(answering.requests) == 1


def test_a_provider_that_is_away_is_asked_at_most_once_a_second():
    answering, now = Answering(), [0.0]
    answering.answers["openid-configuration"] = Answer(503, b"")
    asked = provider(answering.send, lambda: now[0])
    for _ in range(50):
        with pytest.raises(ProviderUnavailable, match="503"):
            asked.metadata()
    assert len(answering.requests) == 1
    answering.answers.clear()
    now[0] += 1.0
    assert asked.metadata().token


def test_few_wait_for_a_slow_provider_and_the_others_hear_so_at_once():
    answering, answered = Answering(), gevent.event.Event()

    def slow(method, url, headers, body):
        if url.endswith("/token"):
            answered.wait()
        return answering.send(method, url, headers, body)

    asked = provider(slow)
    asked.metadata()
    waiting = [gevent.spawn(asked.tokens, "c", "v") for _ in range(MAX_AT_ONCE)]
    gevent.sleep(0)
    with pytest.raises(ProviderUnavailable, match="8 sign-ins wait"):
        asked.tokens("c", "v")
    answered.set()
    assert all(task.get() for task in waiting)
    assert asked.tokens("c", "v")


def metadata(**changes):
    members = {key: value for key, value in {**METADATA, **changes}.items() if value is not None}
    return read_metadata(orjson.dumps(members), ISSUER, METADATA_URL)


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
        read_metadata(document, ISSUER, METADATA_URL)


def test_a_provider_on_this_machine_needs_no_tls():
    url = "http://127.0.0.1:80/.well-known/openid-configuration"
    names = ("authorization_endpoint", "token_endpoint", "end_session_endpoint")
    members = {**METADATA, **dict.fromkeys(names, "http://127.0.0.1:80/x")}
    assert read_metadata(orjson.dumps(members), ISSUER, url).token == "http://127.0.0.1:80/x"
