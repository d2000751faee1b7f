"""Forwarding: CPU per request and per SSE event, added latency, memory per open stream.

One gateway worker with authentication, validation and the upstream client, without log, metrics,
limits and ledger (see `benchmarks.telemetry`, `benchmarks.limits`); a raw socket upstream and the
callers in processes of their own; and, in the same run, the floor: gunicorn with gevent and Falcon
with a static response. CPU is that of the worker, from /proc. Linux only.

    python -m benchmarks.upstream_leg [main OPEN_STREAMS]
"""

from __future__ import annotations

import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gevent
from gevent.server import StreamServer

from benchmarks.serving import cpu_seconds, resident, start, workers, write_project
from tests.support.ports import free_port

ANSWER = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hello there, caller!"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}}'
)
EVENT = (
    b'data: {"id":"c","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
)
JSON_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ALONE = "telemetry: {access_log: {format: 'off'}, metrics: false}\n"
FLOOR = """
import falcon
class Static:
    def on_post(self, req, resp):
        resp.media_type = "application/json"
        resp.data = %r
app = falcon.App()
app.add_route("/v1/chat/completions", Static())
"""


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def serve_upstream(port: int) -> None:
    """Answer with static JSON, or with a stream: its content is PAUSE EVENTS BURST."""

    def handle(sock: socket.socket, _: object) -> None:
        while request := sock.recv(65536):
            if b'"stream":true' not in request:
                sock.sendall(JSON_RESPONSE % (len(ANSWER), ANSWER))
                continue
            kind = request.rpartition(b'"content":"')[2].split(b'"')[0].split(b" ")
            pause, events, at_once = float(kind[0]), int(kind[1]), int(kind[2])
            sock.sendall(HEAD)
            for _ in range(0, events, at_once):
                sock.sendall(chunk(EVENT * at_once))
                if pause:
                    gevent.sleep(pause)
            sock.sendall(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    StreamServer(("127.0.0.1", port), handle, backlog=4096).serve_forever()


def request(content: str, stream: bool = False) -> bytes:
    body = b'{"model":"gpt-4o",%s"messages":[{"role":"user","content":"%s"}]}'
    body %= (b'"stream":true,' if stream else b"", content.encode())
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mw-bench-one\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    )


def read_answer(sock: socket.socket) -> None:
    data = sock.recv(65536)
    if not data.startswith(b"HTTP/1.1 200"):
        raise SystemExit(data[:300])
    while ANSWER not in data:
        data += sock.recv(65536)


def ask(port: int, connections: int, requests: int) -> list[float]:
    """Send requests over some connections at once; the seconds that each took."""
    durations: list[float] = []

    def caller() -> None:
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            data = request("Hello there, gateway!")
            for _ in range(requests // connections):
                start_time = time.perf_counter()
                sock.sendall(data)
                read_answer(sock)
                durations.append(time.perf_counter() - start_time)

    gevent.joinall([gevent.spawn(caller) for _ in range(connections)], raise_error=True)
    return durations


def stream(port: int, count: int, kind: str) -> float:
    """Read `count` streams at once to their ends; the longest silence of any, in seconds."""
    longest = 0.0

    def caller() -> None:
        nonlocal longest
        with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(request(kind, stream=True))
            sock.recv(65536)
            tail, last = b"", time.perf_counter()
            while b"[DONE]" not in tail:
                data = sock.recv(262_144)
                if not data:
                    raise SystemExit("a stream was cut")
                now = time.perf_counter()
                longest = max(longest, now - last)
                tail, last = (tail + data)[-64:], now

    gevent.joinall([gevent.spawn(caller) for _ in range(count)], raise_error=True)
    return longest


def cpu_per_unit(pid: int, work: Callable[[], object], units: int) -> float:
    """CPU microseconds of a process per unit of work."""
    before = cpu_seconds(pid)
    work()
    return (cpu_seconds(pid) - before) / units * 1e6


def run_in_process(work: str, *arguments: object) -> Any:
    """The result of `ask` or `stream`, run in a process of its own."""
    process = start_process(work, *arguments)
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{work} failed")
    return json.loads(output)


def start_process(work: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.upstream_leg", work, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


@contextmanager
def gateway(folder: str, upstream: int, more: str = "") -> Iterator[tuple[int, int]]:
    """Port and worker of a gateway in front of the upstream; `more` ends its config."""
    port = free_port()
    config = write_project(folder, port, "public", more)
    environ = {"OPENAI_UPSTREAM": f"http://127.0.0.1:{upstream}/v1", "OPENAI_API_KEY": "x"}
    process = start("serve", "--config", str(config), environ=environ)
    try:
        yield port, ready(port, process.pid)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def floor(folder: str) -> Iterator[tuple[int, int]]:
    """Port and worker of gunicorn and Falcon with a static reply."""
    port = free_port()
    Path(folder, "floor.py").write_text(FLOOR % ANSWER)
    bind = ["-b", f"127.0.0.1:{port}", "-k", "gevent", "--keep-alive", "75"]
    command = [sys.executable, "-m", "gunicorn", *bind, "floor:app"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        yield port, ready(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def ready(port: int, master: int) -> int:
    for _ in range(500):
        try:
            with socket.create_connection(("127.0.0.1", port)) as sock:
                sock.sendall(request("Hello there, gateway!"))
                read_answer(sock)
            return workers(master)[0]
        except OSError:
            time.sleep(0.02)
    raise SystemExit("the server did not start")


def main(streams: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * streams)), hard))
    upstream = free_port()
    process = start_process("serve_upstream", upstream)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            gateway(folder, upstream, ALONE) as (port, pid),
            floor(folder) as (floor_port, floor_pid),
        ):
            measure(port, pid, upstream, floor_port, floor_pid, streams)
    finally:
        process.kill()


def measure(
    port: int, pid: int, upstream: int, floor_port: int, floor_pid: int, streams: int
) -> None:
    for _ in range(3):
        ours = cpu_per_unit(pid, lambda: run_in_process("ask", port, 16, 8000), 8000)
        bottom = cpu_per_unit(floor_pid, lambda: run_in_process("ask", floor_port, 16, 8000), 8000)
        print(
            f"CPU per request   {ours:4.0f} us; floor {bottom:4.0f} us; {ours / bottom:.2f} times"
        )
    through, direct = run_in_process("ask", port, 1, 2000), run_in_process("ask", upstream, 1, 2000)
    for name, at in (("median", 49), ("p99", 98)):
        added = statistics.quantiles(through, n=100)[at] - statistics.quantiles(direct, n=100)[at]
        print(f"added latency     {added * 1e6:4.0f} us at the {name}, one connection")
    paced = cpu_per_unit(pid, lambda: run_in_process("stream", port, 50, "0.01 300 1"), 50 * 300)
    burst = cpu_per_unit(pid, lambda: run_in_process("stream", port, 10, "0 20000 100"), 10 * 20000)
    print(f"CPU per event     {paced:4.1f} us at 10 ms between events, {burst:.1f} us in bursts")
    before = resident(pid)
    waiting = start_process("stream", port, streams, "1.0 12 1")
    time.sleep(8)
    size = (resident(pid) - before) * 1024 / streams
    late = json.loads(waiting.communicate()[0]) - 1.0
    print(f"open streams      {streams}: {size:.0f} KB each; at most {late * 1e3:.0f} ms late")


if __name__ == "__main__":
    work, *arguments = sys.argv[1:] or ["main", "2000"]
    if work == "stream":
        print(stream(int(arguments[0]), int(arguments[1]), arguments[2]))
    elif work in ("ask", "serve_upstream", "main"):
        durations = globals()[work](*map(int, arguments))
        if work == "ask":
            print(json.dumps(durations))
