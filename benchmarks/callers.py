"""What a caller costs: one with a JSON Web Token, whom the worker knows or sees for the first time,
and three limits in memory, of a token or of its team, beside a token without. CPU of the worker.

They ask one gateway, which has nothing else on, in turns, see `turns.py`. What it takes to verify
the signatures of new tokens alone, in a loop, is measured in the same turns. Linux only.

    python -m benchmarks.callers [requests a turn]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
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
from engine.callers.jwt.form import parse
from engine.callers.jwt.key_set import KeySet
from engine.values.caller import digest
from tests.support.ports import free_port
from tests.support.signed_tokens import (
    AUDIENCE,
    ISSUER,
    claims,
    ec_key,
    ed_key,
    jwk,
    rsa_key,
    token,
)

TURNS = 15
ALGORITHMS: dict[str, Callable[[], Any]] = {"RS256": rsa_key, "ES256": ec_key, "EdDSA": ed_key}
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


def secrets(kind: str, keys: Path) -> Iterator[str]:
    """The tokens of a kind of caller, without end."""
    algorithm, _, age = kind.partition(" ")
    if algorithm not in ALGORITHMS:
        while True:
            yield kind
    signer: Any = load_pem_private_key((keys / algorithm).read_bytes(), None)
    known = token(key=signer, algorithm=algorithm, kid=algorithm)
    while True:
        yield known if not age else token(claims(sub=uuid4().hex), signer, algorithm, algorithm)


def ask(port: int, count: int, kind: str, keys: Path) -> None:
    """Send `count` requests over some connections at once. Tokens are signed before: a worker that
    waits for them would take more for each request, as it does for any that come one by one."""
    tokens = iter([*islice(secrets(kind, keys), count)])

    def caller() -> None:
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            for _ in range(count // CONNECTIONS):
                sock.sendall(request("Hello!").replace(TOKEN.encode(), next(tokens).encode()))
                read_answer(sock)

    gevent.joinall([gevent.spawn(caller) for _ in range(CONNECTIONS)], raise_error=True)


def asking(port: int, count: int, kind: str, keys: Path) -> Callable[[], object]:
    """What lets a process of its own ask."""
    command = [sys.executable, "-m", "benchmarks.callers", "ask", port, count, kind, keys]
    return partial(subprocess.run, [*map(str, command)], check=True)


def verifying(algorithm: str, count: int) -> Callable[[], float]:
    """What takes the CPU microseconds of a signature, verified alone."""
    private = ALGORITHMS[algorithm]()
    keys = KeySet(ISSUER, lambda: [jwk(private, algorithm)])
    public = keys.find(algorithm, algorithm)
    assert public is not None
    tokens = [parse(token(claims(sub=str(n)), private, algorithm)) for n in range(count)]

    def verify() -> float:
        start = time.process_time()
        for each in tokens:
            if not public.Algorithm.verify(each.signed, public.key, each.signature):
                raise SystemExit("a signature is wrong")
        return (time.process_time() - start) / count * 1e6

    return verify


def write_keys(folder: Path) -> Path:
    """The private keys of the issuer, in the folder; the file of its public ones."""
    for algorithm, private in ALGORITHMS.items():
        pem = private().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / algorithm).write_bytes(pem)
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [jwk(key(), kid) for kid, key in ALGORITHMS.items()]}))
    return keys


def main(requests: int) -> None:
    upstream = free_port()
    serving = start_process("serve_upstream", upstream)
    with ExitStack() as stack:
        stack.callback(serving.kill)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keys = write_keys(folder)
        (folder / "gateway").mkdir()
        more = TEAM + ALONE + JWT.replace("{}", str(keys))
        port, pid = stack.enter_context(gateway(f"{folder}/gateway", upstream, more))
        kinds = {"a token": TOKEN, "a JWT": "ES256"}
        kinds |= {f"a new JWT, {algorithm}": f"{algorithm} new" for algorithm in ALGORITHMS}
        kinds |= {"3 limits": LIMITED, "a team's 3 limits": MEMBER}
        works = {name: (pid, asking(port, requests, kind, folder)) for name, kind in kinds.items()}
        loops = {f"{each}'s signature": verifying(each, 200) for each in ALGORITHMS}
        compare(works, TURNS, requests, loops)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
