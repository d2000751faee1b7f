"""What one request through engine.upstream costs: `python benchmarks/client.py [requests]`.

The upstream is a raw-socket server in another process, so only this process' CPU is counted.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.upstream.client.client import Client

REQUEST_BODY = b'{"model":"gpt-4o","messages":[{"role":"user","content":"Hello, who are you?"}]}'
ANSWER_BODY = b'{"id":"chatcmpl-1","object":"chat.completion","choices":[]}' * 5
ANSWER = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 01 Jan 2024 00:00:00 GMT\r\nserver: bench\r\n"
    b"content-type: application/json\r\nx-request-id: 0123456789abcdef\r\n"
    b"openai-processing-ms: 12\r\nvary: Origin\r\ncontent-length: %d\r\n\r\n%s"
    % (len(ANSWER_BODY), ANSWER_BODY)
)
HEADERS = [
    ("accept", "application/json"),
    ("accept-encoding", "gzip, deflate"),
    ("authorization", "Bearer sk-0123456789abcdef0123456789abcdef"),
    ("content-type", "application/json"),
    ("user-agent", "modelway/0.1"),
    ("x-request-id", "0123456789abcdef"),
]


def serve(listener: socket.socket) -> None:
    """Answer every request of one connection at a time; a request ends with REQUEST_BODY."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
            if data.endswith(REQUEST_BODY):
                connection.sendall(ANSWER)
                data = b""


def ask(client: Client) -> None:
    answer = client.send("POST", "/v1/chat/completions", HEADERS, REQUEST_BODY)
    while answer.read():
        pass
    answer.close()


def floor(port: int) -> Callable[[], None]:
    """The same bytes over a plain blocking socket: what the kernel alone costs."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in HEADERS)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n{lines}\r\n"
    request = head.encode() + REQUEST_BODY
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask_once() -> None:
        connection.sendall(request)
        missing = len(ANSWER)
        while missing:
            missing -= len(connection.recv(65536))

    return ask_once


def measure(name: str, ask_once: Callable[[], None], requests: int) -> None:
    for _ in range(200):
        ask_once()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(requests):
        ask_once()
    cpu = (time.process_time() - cpu) / requests * 1e6
    wall = (time.perf_counter() - wall) / requests * 1e6
    print(f"{name:24} {cpu:6.1f} us CPU {wall:6.1f} us wall per request, {requests} requests")


def main(requests: int = 5000) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    children = []
    for _ in range(2):  # one connection each: this client's, the floor's
        children.append(os.fork())
        if children[-1] == 0:
            serve(listener)
    try:
        client = Client(f"http://127.0.0.1:{port}")
        measure("engine.upstream", lambda: ask(client), requests)
        measure("a bare blocking socket", floor(port), requests)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
