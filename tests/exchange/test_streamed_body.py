"""A body of which only the head is in memory."""

import pytest

from engine.exchange.streamed_body import Rest, StreamedBody


def body(head=b"head ", end=b"!", rest=(b"a", b"bc")):
    return StreamedBody(head, end, Rest(sum(map(len, rest)), lambda: rest))


def test_stages_see_the_head_with_an_end_and_upstreams_get_the_rest():
    streamed = body()
    assert streamed.buffer == b"head !"
    assert streamed.in_memory is None
    assert streamed.size == 8
    assert b"".join(streamed.chunks()) == b"head abc"


def test_the_rest_is_sent_once():
    streamed = body()
    assert (streamed.is_replayable, streamed.is_spent) == (False, False)
    edited = streamed.with_edits((0, 1, b"H"))
    assert [*edited.chunks()] == [b"Head ", b"a", b"bc"]
    assert streamed.is_spent
    with pytest.raises(ValueError, match="already"):
        [*streamed.chunks()]


def test_edits_of_the_head_add_up():
    streamed = body().rewrite((0, 4, b"longer head")).rewrite((0, 1, b"L"))
    assert streamed.buffer == b"Longer head !"
    assert streamed.size == 15
    assert b"".join(streamed.chunks()) == b"Longer head abc"


def test_the_rest_cannot_be_edited():
    with pytest.raises(ValueError, match="cannot be edited"):
        body().with_edits((4, 6, b""))
