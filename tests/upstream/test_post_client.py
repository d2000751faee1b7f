"""Posting to one address: every outcome is an PostResult."""

from engine.upstream.post_client import PostClient
from tests.support.peer import CLOSE, OK, READ, STALL, answering, scripted, serving

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
