"""What a caller costs: one with a JSON Web Token that the worker knows, one whose token is new, and
a new caller; and three limits in memory, of a token or of its team, beside a token without.

They ask one gateway, which has nothing else on, by turns of four requests over one connection. The
worker's CPU of a turn is read when it sleeps again, to the nanosecond, so that other work of the
machine counts only where it takes the caches. The cost of a kind is the median of what its turns
take more than that of the first kind in the same round; beside it stand the lowest and highest of
the medians of ten parts of the rounds. What it takes to verify the signatures of new tokens alone,
in a loop, is measured at the end. Linux only.

    python -m benchmarks.callers [rounds]
"""

from __future__ import annotations

import json
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from benchmarks.serving import cpu_seconds
from benchmarks.upstream_leg import ALONE, gateway, read_answer, request, start_process
from engine.callers.jwt.compact_form import parse
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

ROUNDS, TURN, PARTS = 500, 4, 10
"""Rounds by default, requests of a turn, and the parts of the rounds whose medians are compared."""
_NEW, _RENEWED = "new", "renewed"
"""Tokens of callers whom the worker sees for the first time; new tokens of one whom it knows."""
_PAUSE = 0.001
"""Seconds without work after which a worker sleeps."""
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
        changes = {"jti": uuid4().hex} if age == _RENEWED else {"sub": uuid4().hex}
        yield token(claims(**changes), signer, algorithm, algorithm) if age else known


def turn(sock: socket.socket, pid: int, tokens: Iterator[str]) -> float:
    """The CPU microseconds that the worker takes for each request of a turn. Its tokens are signed
    before: a worker that waits for them would take more."""
    requests = [
        request("Hello!").replace(TOKEN.encode(), each.encode()) for each in islice(tokens, TURN)
    ]
    before = idle_seconds(pid)
    for each in requests:
        sock.sendall(each)
        read_answer(sock)
    return (idle_seconds(pid) - before) / TURN * 1e6


def idle_seconds(pid: int) -> float:
    """The CPU seconds of a process, when it has no more work."""
    seconds = cpu_seconds(pid)
    while True:
        time.sleep(_PAUSE)
        before, seconds = seconds, cpu_seconds(pid)
        if seconds == before:
            return seconds


def costs(
    port: int, pid: int, kinds: Mapping[str, Iterator[str]], rounds: int
) -> dict[str, list[float]]:
    """The microseconds of each kind's turns, one in each round, in an order of its own."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    with socket.create_connection(("127.0.0.1", port)) as sock:
        for tokens in kinds.values():
            turn(sock, pid, tokens)
        for _ in range(rounds):
            for name in random.sample([*kinds], len(kinds)):
                times[name].append(turn(sock, pid, kinds[name]))
    return times


def added(times: Sequence[float], bare: Sequence[float]) -> tuple[float, float, float]:
    """The median of the differences, and the lowest and highest median of their parts."""
    differences = [more - less for more, less in zip(times, bare, strict=True)]
    parts = [statistics.median(differences[at::PARTS]) for at in range(PARTS)]
    return statistics.median(differences), min(parts), max(parts)


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


def main(rounds: int) -> None:
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
        kinds |= {f"a renewed JWT, {name}": f"{name} {_RENEWED}" for name in ALGORITHMS}
        kinds |= {f"a new JWT, {name}": f"{name} {_NEW}" for name in ALGORITHMS}
        kinds |= {"3 limits": LIMITED, "a team's 3 limits": MEMBER}
        times = costs(port, pid, {n: secrets(kind, folder) for n, kind in kinds.items()}, rounds)
    bare, *others = kinds
    print(f"{bare:<22} {statistics.median(times[bare]):6.1f} us of CPU per request")
    for name in others:
        middle, least, most = added(times[name], times[bare])
        print(f"{name:<22} adds {middle:6.1f} us ({least:.1f} to {most:.1f})")
    for algorithm in ALGORITHMS:
        loop = verifying(algorithm, 200)
        alone = statistics.median(loop() for _ in range(9))
        print(f"{algorithm}'s signature{alone:18.1f} us alone")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
