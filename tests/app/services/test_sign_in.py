"""How the sign-in of a worker asks its provider."""

import pytest

from engine.app.services.sign_in import send
from engine.callers.sign_in.refusal import ProviderUnavailable
from tests.support.page_sign_in import Browser, config
from tests.support.recording import answer, recorder


def test_a_provider_is_asked_over_http_and_a_redirect_is_not_followed():
    with recorder() as server:
        server.speak = answer(b"", ["Location: http://127.0.0.1:9/"], status=302)
        headers = [("content-type", "application/x-www-form-urlencoded")]
        assert send("POST", f"{server.url}/token", headers, b"code=c") == (302, b"")
        assert server.last.body == b"code=c"


def test_a_provider_that_is_not_there_is_unavailable():
    with pytest.raises(ProviderUnavailable, match="no connection"):
        send("GET", "http://127.0.0.1:9/", [], b"")


def test_the_metadata_are_where_the_entry_says():
    entry = "audience: modelway"
    other = "discovery: https://meta.example.com/a\n      audience: modelway"
    browser = Browser(text=config().replace(entry, other))
    browser.provider.answers["a"] = ProviderUnavailable("asked")
    with pytest.raises(ProviderUnavailable):
        browser.begin()
    assert browser.provider.requests[0][1] == "https://meta.example.com/a"
