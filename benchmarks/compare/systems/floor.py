"""The floor: gunicorn, gevent and Falcon with a static reply. It asks nobody."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.compare.system import LeftOut, System, Upstream
from tests.support.ports import free_port

NAME = "floor"
_APP = """
import falcon

class Static:
    def on_post(self, req, resp):
        req.bounded_stream.read()
        resp.content_type = "application/json"
        resp.data = b'{"id":"chatcmpl-1","object":"chat.completion","choices":[]}'

app = falcon.App()
app.add_route("/v1/chat/completions", Static())
"""


def prepare(folder: Path, upstream: Upstream) -> System:
    """Raises LeftOut for an upstream over TLS: it asks none."""
    if upstream.ca:
        raise LeftOut("it asks no upstream")
    (folder / "floor.py").write_text(_APP)
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-k", "gevent", "-w", "1", "--keep-alive", "75"]
    command += ["-b", f"127.0.0.1:{port}", "--log-level", "error", "floor:app"]
    versions = " ".join(f"{name} {version(name)}" for name in ("gunicorn", "gevent", "falcon"))
    caches = ("PYTHONPYCACHEPREFIX",)
    return System(NAME, versions, command, folder, port, streams=False, caches=caches)
