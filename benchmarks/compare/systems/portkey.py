"""Portkey's gateway from npm, as its README starts it, on one thread of Node.js.

It has no config: each request says in its head which provider it is for, and where that is. No
authentication, no limits, no validation, no database. It listens on all addresses.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.compare.environment import installed_from_npm, output
from benchmarks.compare.system import LeftOut, System, Upstream
from tests.support.ports import free_port

NAME = "Portkey"
_PACKAGE, _VERSION = "@portkey-ai/gateway", "1.15.2"
_OVERRIDES = {"@hono/node-server": "1.13.8"}
"""With 1.14.4 or newer it answers every stream with 500 (`TypeError: immutable`)."""


def prepare(folder: Path, upstream: Upstream) -> System:
    """Raises LeftOut where it cannot be installed."""
    home = installed_from_npm("portkey", {_PACKAGE: _VERSION}, _OVERRIDES)
    node = shutil.which("node")
    if node is None:
        raise LeftOut("node is not installed (Debian: apt-get install nodejs)")
    port = free_port()
    program = home / "node_modules" / _PACKAGE / "build" / "start-server.js"
    command = [node, str(program), "--headless", f"--port={port}"]
    headers = ("x-portkey-provider: openai", f"x-portkey-custom-host: {upstream.origin}/v1")
    environ = {"NODE_EXTRA_CA_CERTS": str(upstream.ca)} if upstream.ca else {}
    name = f"Portkey {_VERSION} (Node.js {output([node, '--version'])})"
    return System(NAME, name, command, folder, port, environ=environ, headers=headers, peer=True)
