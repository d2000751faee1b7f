import pytest

from engine.upstream.fetch_document import FetchFailed, exchange_documents, fetch_document
from tests.support.recording import answer, recorder


@pytest.fixture(scope="module")
def server():
    with recorder() as running:
        yield running


def test_a_document_is_fetched(server):
    server.speak = answer(b'{"keys": []}')
    assert fetch_document(f"{server.url}/a?b=c", seconds=60, max_size=100) == b'{"keys": []}'
    assert server.requests[-1].line == "GET /a?b=c HTTP/1.1"


def test_a_status_is_a_failure_and_a_redirect_is_not_followed(server):
    server.speak = answer(b"", ["Location: http://127.0.0.1:9/"], status=302)
    with pytest.raises(FetchFailed, match="answered with status 302"):
        fetch_document(server.url, seconds=60, max_size=100)


def test_the_size_is_bounded(server):
    server.speak = answer(b"x" * 101)
    with pytest.raises(FetchFailed, match="more than 100 bytes"):
        fetch_document(server.url, seconds=60, max_size=100)


def test_a_server_that_is_not_there_is_a_failure():
    with pytest.raises(FetchFailed, match="no connection to the server"):
        fetch_document("http://127.0.0.1:9/", seconds=60, max_size=100)


def test_what_is_no_url_is_a_failure():
    with pytest.raises(FetchFailed):
        fetch_document("ftp://example.com", seconds=60, max_size=100)


def test_a_document_is_sent_and_the_answer_is_there_whatever_its_status(server):
    server.speak = answer(b'{"error": "x"}', status=400)
    headers = [("content-type", "text/plain")]
    sent = ("POST", f"{server.url}/token", headers, b"a=b")
    assert exchange_documents(*sent, seconds=60, max_size=100) == (400, b'{"error": "x"}')
    assert server.requests[-1].body == b"a=b"
    assert dict(server.requests[-1].headers)["content-type"] == "text/plain"
