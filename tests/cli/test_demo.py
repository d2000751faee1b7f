"""`modelway demo`: a gateway on a free port with a mock upstream of its own."""

import re
import socket
import subprocess
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


def test_a_port_in_use_is_found_before_anything_starts(monkeypatch):
    masters = start_in_process(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/bin/false")  # no mock can start
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        result = modelway("demo", "--port", str(port))
    assert (result.exit_code, masters) == (1, [])
    assert f"cannot listen on 127.0.0.1:{port} (--port)" in str(result.exception)


def test_a_port_that_no_socket_has_is_refused():
    assert "not from 0 to 65535" in str(modelway("demo", "--port", "70000").exception)


def test_the_first_line_comes_before_the_gateway_is_imported():
    program = (
        "import sys, click\n"
        "import engine.cli.demo as demo\n"
        "def echo(text, err): sys.exit('engine.app.build' in sys.modules)\n"
        "click.echo = echo\n"
        "demo.command(['--port', '0'])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
