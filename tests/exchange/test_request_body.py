"""A body in memory, and one that is read again."""

import pytest

from engine.exchange.request_body import Body, ReceivedBody, too_large
from engine.values.errors import GatewayError


def test_a_refusal_names_the_limit():
    assert "100 bytes" in too_large(100).message


def test_an_edited_body_in_memory_has_all_other_bytes():
    body = Body(b"abcdef")
    assert body.with_edits((4, 5, b""), (0, 1, b"xy")).in_memory == b"xybcdf"
    assert body.in_memory == b"abcdef"


def test_a_received_body_is_read_again_up_to_the_limit_by_its_size_as_received():
    body = Body(b"abcdef")
    reader = ReceivedBody(body, max_size=6)
    assert reader.receive() is body
    assert reader.stream(1) is None
    for other in (lambda: reader.receive(5), ReceivedBody(body, max_size=6, size=7).receive):
        with pytest.raises(GatewayError) as raised:
            other()
        assert raised.value.status == 413
