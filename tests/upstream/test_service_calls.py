"""Posting to one address: every outcome is an PostResult."""

import pytest

from engine.upstream.service_calls import (
    FetchFailed,
    PostClient,
    exchange_documents,
    fetch_document,
)
from tests.support.peer import CLOSE, OK, READ, STALL, answering, scripted, serving
from tests.support.recording import answer, recorder

TOO_MANY_REQUESTS = b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nlate"


def posted(handle, **more):
    with serving(handle) as peer:
        post = PostClient(f"{peer.url}/v1/traces", {"x-team": "a"}, **more)
        try:
            return post(b"body"), peer
        finally:
            post.close()


def test_a_body_is_posted_with_its_headers_to_its_path():
    result, peer = posted(answering(OK))
    assert result.status == 200
    request = peer.requests[0]
    assert request.startswith(b"POST /v1/traces HTTP/1.1\r\n")
    assert b"x-team: a\r\n" in request
    assert request.endswith(b"body")


def test_a_response_is_read_to_its_end_with_its_retry_after():
    result, _ = posted(answering(TOO_MANY_REQUESTS))
    assert (result.status, result.retry_after, result.body) == (429, 7.0, b"late")


def test_a_refused_connection_has_no_status():
    post = PostClient("http://127.0.0.1:9/v1/traces", {})
    assert post(b"body").status == 0
    assert post(b"body").error == "no connection to the server"


def test_a_silent_server_is_a_timeout():
    result, _ = posted(scripted([READ, STALL]), seconds=0.05)
    assert result.status == 0
    assert "in the time one request may take" in result.error


def test_a_truncated_response_has_no_status():
    broken = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
    result, _ = posted(scripted([READ, broken, CLOSE]))
    assert result.status == 0


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
