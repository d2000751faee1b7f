"""A provider is asked seldom, by few at one time. Its answers: test_page_sign_in.py."""

import gevent
import pytest

from engine.callers.sign_in.provider import MAX_AT_ONCE, Answer, Provider, error_code
from engine.callers.sign_in.refusal import ProviderUnavailable
from tests.support.each import each
from tests.support.page_sign_in import Provider as Answering
from tests.support.page_sign_in import config, plan_of

CONFIG = plan_of(config()).config.console.sign_in
URL = "https://login.example.com/.well-known/openid-configuration"


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


@each(
    ("value", "code"),
    [
        ("invalid_grant", "invalid_grant"),
        ("<b>", ""),
        ("a" * 61, ""),
        (None, ""),
        (7, ""),
        ("", ""),
    ],
)
def test_only_a_code_of_the_standard_is_shown(value, code):
    assert error_code(value) == code
