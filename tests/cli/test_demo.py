"""`modelway demo`: a gateway on a free port with a mock upstream of its own."""

import re
import sys

import pytest

from tests.support.commands import modelway
from tests.support.masters import start_in_process


@pytest.fixture(scope="module")
def demo():
    """The output of a demo that ended at once, and its master."""
    with pytest.MonkeyPatch.context() as patch:
        masters = start_in_process(patch)
        output = modelway("demo").output
    (master,) = masters
    return output, master


def test_its_pages_and_snippets_name_the_address_it_listens_on(demo):
    output, master = demo
    assert re.fullmatch(r"127\.0\.0\.1:\d+", master.server.listen)
    assert set(re.findall(r"http://([^/]+)/", output)) == {master.server.listen}


def test_its_snippets_carry_the_token_that_it_prints(demo):
    output, _ = demo
    token = re.search(r"^  token     (mw-\S+)$", output, re.MULTILINE)[1]
    assert f"Authorization: Bearer {token}'" in output
    assert f'api_key="{token}"' in output


def test_a_mock_that_does_not_start_is_an_error(monkeypatch):
    masters = start_in_process(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    result = modelway("demo", "--port", "9124")
    assert (result.exit_code, masters) == (1, [])
    assert "the mock upstream did not start" in result.output
