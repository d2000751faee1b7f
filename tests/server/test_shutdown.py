"""The deadlines of a worker that was told to stop."""

import pytest

from engine.config.server import Server
from engine.server.master import settings
from engine.server.shutdown import deadlines


@pytest.mark.parametrize("grace", [0.0, 0.4, 1.0, 1.5, 4.0, 30.0, 3600.0])
def test_requests_end_before_the_master_kills_their_worker(grace):
    timeout = settings(Server(grace=grace))["graceful_timeout"]
    assert timeout >= grace
    interrupt, cut = deadlines(timeout)
    assert 0 < interrupt < cut < timeout
    assert timeout - interrupt >= 1.0


def test_requests_have_nearly_all_of_a_long_grace():
    assert deadlines(30.0) == (28.0, 29.5)


def test_many_connections_take_longer_to_end():
    assert deadlines(30.0, 3_000) == (25.0, 28.75)
    assert deadlines(30.0, 1_000_000).interrupt == 15.0
