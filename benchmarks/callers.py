"""What a caller costs: one with a JSON Web Token, whom the worker knows or sees for the first time,
and three limits in memory, of a token or of its team, beside a token without. CPU of the worker.

They ask one gateway, which has nothing else on, in turns, see `turns.py`. Linux only.

    python -m benchmarks.callers [requests a turn]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from uuid import uuid4

import gevent
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from benchmarks.turns import CONNECTIONS, compare
from benchmarks.upstream_leg import ALONE, gateway, read_answer, request, start_process
from engine.values.caller import digest
from tests.support.ports import free_port
from tests.support.signed_tokens import AUDIENCE, ISSUER, claims, ec_key, jwk, token

TURNS = 25
TOKEN, LIMITED, MEMBER = "mw-bench-one", "mw-bench-limited", "mw-bench-member"
"""The token of `benchmarks.serving`, one with limits of its own, and one of a team."""
JWT = f"""\
callers:
  jwt: [{{issuer: "{ISSUER}", audience: {AUDIENCE}, jwks_file: {{}}}}]
"""
LIMITS = "rate: 100000000/1m, token_budget: 100000000000/1d, budget: 1000000 USD/month"
TEAM = f"""\
  - {{name: limited, {LIMITS}, sha256: {digest(LIMITED)}}}
  - {{name: member, team: search, sha256: {digest(MEMBER)}}}
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
teams:
  search: {{{LIMITS}}}
"""


def secrets(kind: str, key: Path) -> Iterator[str]:
    """The tokens of a kind of caller, without end."""
    signer = load_pem_private_key(key.read_bytes(), None)
    known = token(key=signer)
    while True:
        if kind == "new":
            yield token(claims(sub=uuid4().hex), key=signer)
        else:
            yield known if kind == "jwt" else kind


def ask(port: int, count: int, kind: str, key: Path) -> None:
    """Send `count` requests over some connections at once."""
    tokens = secrets(kind, key)

    def caller() -> None:
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            for _ in range(count // CONNECTIONS):
                sock.sendall(request("Hello!").replace(TOKEN.encode(), next(tokens).encode()))
                read_answer(sock)

    gevent.joinall([gevent.spawn(caller) for _ in range(CONNECTIONS)], raise_error=True)


def asking(port: int, count: int, kind: str, key: Path) -> Callable[[], object]:
    """What lets a process of its own ask."""
    command = [sys.executable, "-m", "benchmarks.callers", "ask", port, count, kind, key]
    return partial(subprocess.run, [*map(str, command)], check=True)


def main(requests: int) -> None:
    upstream = free_port()
    serving = start_process("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        key, keys = folder / "key.pem", folder / "keys.json"
        pem = ec_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        key.write_bytes(pem)
        keys.write_text(json.dumps({"keys": [jwk(ec_key(), "ec")]}))
        (folder / "gateway").mkdir()
        more = TEAM + ALONE + JWT.replace("{}", str(keys))
        port, pid = stack.enter_context(gateway(f"{folder}/gateway", upstream, more))
        kinds = {
            "a token": TOKEN,
            "a JWT": "jwt",
            "a new JWT": "new",
            "3 limits": LIMITED,
            "a team's 3 limits": MEMBER,
        }
        works = {name: (pid, asking(port, requests, kind, key)) for name, kind in kinds.items()}
        compare(works, TURNS, requests)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
