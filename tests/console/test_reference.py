"""The merged document as it is served: with the request's base URL, merged once."""

from engine.console import reference
from engine.console.merged_document import merged
from tests.support.exchanges import new_exchange


def ask(handler, host):
    environ = {"wsgi.url_scheme": "http", "HTTP_HOST": host}
    return handler(new_exchange("GET", "/openapi.json", "", environ))


def test_the_server_is_the_base_url_of_the_request(client):
    document = client.simulate_get("/openapi.json", host="models.example.com").json
    assert document["servers"] == [{"url": "http://models.example.com"}]
    assert "the-address-of" not in str(document)


def test_the_document_is_merged_once_for_all_hosts(shipped, monkeypatch):
    calls = []

    def counting(*arguments):
        calls.append(arguments)
        return merged(*arguments)

    monkeypatch.setattr(reference, "merged", counting)
    handler = reference.document(shipped)
    answers = {ask(handler, f"host-{n}").body for n in range(20)}
    assert len(answers) == 20
    assert len(calls) == 1


def test_numbers_of_more_than_64_bits_are_served(shipped, monkeypatch):
    monkeypatch.setattr(reference, "merged", lambda plan, base: {"maximum": 2**70, "url": base})
    handler = reference.document(shipped)
    assert str(2**70).encode() in ask(handler, "host").body
