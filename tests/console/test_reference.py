"""The document as it is served: for the address that was asked, merged once."""

from engine.console import reference
from engine.console.merged_document import merged
from tests.support.exchanges import new_exchange


def ask(handler, host):
    environ = {"wsgi.url_scheme": "http", "HTTP_HOST": host}
    return handler(new_exchange("GET", "/openapi.json", "", environ))


def test_the_server_is_the_address_that_was_asked(client):
    found = client.simulate_get("/openapi.json", host="models.example.com").json
    assert found["servers"] == [{"url": "http://models.example.com"}]
    assert "the-address-of" not in str(found)


def test_strange_hosts_do_not_make_it_be_merged_again(shipped, monkeypatch):
    times = []

    def counted(*arguments):
        times.append(arguments)
        return merged(*arguments)

    monkeypatch.setattr(reference, "merged", counted)
    handler = reference.document(shipped)
    answers = {ask(handler, f"host-{n}").body for n in range(20)}
    assert len(answers) == 20
    assert len(times) == 1


def test_numbers_of_more_than_64_bits_are_served(shipped, monkeypatch):
    monkeypatch.setattr(reference, "merged", lambda plan, base: {"maximum": 2**70, "url": base})
    handler = reference.document(shipped)
    assert str(2**70).encode() in ask(handler, "host").body
