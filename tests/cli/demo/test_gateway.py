"""The gateway of the demo does not start without its mock upstream."""

import sys

from tests.support.commands import modelway
from tests.support.masters import start_in_process


def test_a_mock_that_does_not_start_is_an_error(monkeypatch):
    masters = start_in_process(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    result = modelway("demo", "--port", "9124")
    assert (result.exit_code, masters) == (1, [])
    assert "the mock upstream did not start" in result.output
