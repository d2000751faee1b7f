"""The failures of a request: their kinds, messages and references."""

from __future__ import annotations

import gc
import weakref

import pytest

from engine.upstream.client.failures import ConnectFailed, ProtocolFailure, UpstreamFailure

KINDS = UpstreamFailure.__subclasses__()


def test_each_failure_has_its_own_kind_and_words() -> None:
    assert len(KINDS) >= 10
    assert len({kind.kind for kind in KINDS}) == len(KINDS)
    assert len({kind.words for kind in KINDS}) == len(KINDS)


def test_a_message_adds_the_detail_to_the_words() -> None:
    assert str(ConnectFailed()) == "no connection to the upstream"
    failure = ProtocolFailure("it has two lengths")
    assert failure.message == str(failure)
    assert failure.message == "the upstream's answer is not valid HTTP/1.1: it has two lengths"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.kind))
def test_a_new_failure_has_sent_and_received_nothing(kind: type[UpstreamFailure]) -> None:
    assert (kind().request_sent, kind().response_started) == (False, False)


class Request:
    """Stands for an object of the frames that raise a failure."""


def fail() -> tuple[UpstreamFailure, weakref.ref[Request]]:
    request = Request()
    try:
        try:
            raise OSError("cause")
        except OSError as error:
            raise ConnectFailed from error
    except UpstreamFailure as failure:
        return failure, weakref.ref(request)


def test_a_failure_without_traceback_releases_its_frames() -> None:
    gc.disable()
    try:
        failure, request = fail()
        assert request() is not None
        assert failure.without_traceback() is failure
        assert request() is None
        assert failure.__cause__ is failure.__context__ is None
    finally:
        gc.enable()
