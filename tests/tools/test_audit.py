"""The audit fails for a known weakness, and asks an index only if it lists them."""

import importlib.util
import json
import os
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.paths import ROOT
from tests.support.peer import Authority
from tools import audit as audit_tool
from tools.audit import has_service

WEAKNESS = {
    "id": "PYSEC-2026-1",
    "aliases": [],
    "details": "An example.",
    "fixed_in": ["99.0"],
    "withdrawn": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"info": {}, "vulnerabilities": []}), True),
        ('{"info": {}}', False),
        ("<p>", False),
    ],
)
def test_an_index_with_weaknesses(tmp_path, text, expected):
    (tmp_path / "json").write_text(text)
    assert has_service((tmp_path / "json").as_uri()) is expected


def test_an_index_that_is_away(tmp_path):
    assert not has_service((tmp_path / "json").as_uri())


@pytest.fixture
def index(tmp_path):
    """Environment variables that lead to an index, and the weaknesses that it lists by project.

    It is a proxy that answers in the place of pypi.org.
    """
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("pypi.org"))
    weaknesses = {}

    class Index(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self):
            self.send_response(200)
            self.end_headers()
            self.connection = context.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", buffering=0)
            self.close_connection = False

        def do_GET(self):
            name = self.path.split("/")[2]
            body = json.dumps({"vulnerabilities": weaknesses.get(name, [])}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        variables = {
            "HTTPS_PROXY": f"http://127.0.0.1:{server.server_port}",
            "SSL_CERT_FILE": authority.path,
            "REQUESTS_CA_BUNDLE": authority.path,
            "HOME": str(tmp_path),
        }
        yield variables, weaknesses
        server.shutdown()
        thread.join()


def test_an_audit_that_was_killed_fails(monkeypatch):
    results = iter([-9, 0])
    monkeypatch.setattr(audit_tool, "has_service", lambda _: True)
    monkeypatch.setattr(
        subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], next(results))
    )
    assert audit_tool.main() == 1


def audit(variables):
    return subprocess.run(
        [sys.executable, "-m", "tools.audit"],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(
    importlib.util.find_spec("pip_audit") is None, reason="the extra `lint` is not installed"
)
def test_a_known_weakness_fails(index):
    variables, weaknesses = index
    weaknesses["falcon"] = [WEAKNESS]
    weak = audit(variables)
    assert weak.returncode == 1
    assert weak.stdout.count("PYSEC-2026-1") == 2, "as installed, and as locked for the image"
