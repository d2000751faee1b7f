"""Upstreams with faults: scripts for a Recorder's `speak`, and raw TCP servers."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.recording import PATIENCE, ReceivedRequest, Speak, answer
from tests.support.small import COMPLETION

# A step of a script is bytes to send, seconds to pause, an event to wait for, or one of these.
CLOSE = "close"  # a clean end
RESET = "reset"  # a TCP reset
STALL = "stall"  # silence until the other side leaves

Step = bytes | float | str | threading.Event


def script(*steps: Step) -> Speak:
    """Answer each request by these steps; then the connection stays open."""

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        for step in steps:
            if isinstance(step, bytes):
                sock.sendall(step)
            elif isinstance(step, float):
                time.sleep(step)
            elif isinstance(step, threading.Event):
                step.wait(PATIENCE)
            elif step == STALL:
                until_it_leaves(sock)
            else:
                hang_up(sock, reset=step == RESET)

    return speak


def stream_or_whole(events: int, pause: float) -> Speak:
    """Answer a streamed chat by so many events with pauses (seconds), any other at once."""
    event = b'data: {"choices":[{"index":0,"delta":{"content":"w "}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    stream = script(head, *[event, pause] * events, b"data: [DONE]\n\n", CLOSE)
    json_response = answer(json.dumps(COMPLETION).encode())

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        (stream if b'"stream": true' in received.body else json_response)(received, sock)

    return speak


def in_turn(*speaks: Speak) -> Speak:
    """Answer the first request by the first, and so on; all later ones by the last."""
    remaining = list(speaks)

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        current = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        current(received, sock)

    return speak


class Leaving:
    """Sends some bytes, then waits, and notes that the other side closes."""

    def __init__(self, *steps: bytes) -> None:
        self._steps = steps
        self.arrived, self._closed = threading.Event(), threading.Event()

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        self.arrived.set()
        for step in self._steps:
            sock.sendall(step)
        until_it_leaves(sock)
        self._closed.set()

    def is_left(self) -> bool:
        """Wait until the other side closes; False if it does not."""
        return self._closed.wait(PATIENCE)


def until_it_leaves(sock: socket.socket) -> None:
    """Read and discard data until the connection ends."""
    sock.settimeout(PATIENCE)
    with contextlib.suppress(ConnectionError):
        while sock.recv(65536):
            pass


def hang_up(sock: socket.socket, *, reset: bool = False) -> None:
    """End the connection at once: cleanly, or with a reset."""
    if reset:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    else:
        sock.shutdown(socket.SHUT_RDWR)
    raise ConnectionError("hung up")  # the Recorder closes the socket


@contextmanager
def accepting(handle: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that passes each connection to `handle`, and then closes it."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:

        def serve(sock: socket.socket) -> None:
            with sock, contextlib.suppress(OSError):
                handle(sock)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    sock, _ = server.accept()
                    threading.Thread(target=serve, args=(sock,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def unreachable() -> Iterator[int]:
    """A port that neither accepts nor refuses connections: its backlog is full."""
    with contextlib.ExitStack() as open_sockets:
        server = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            sock = open_sockets.enter_context(socket.socket())
            sock.setblocking(False)
            sock.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def read_head(sock: socket.socket) -> bytes:
    """The head of a request, and whatever came with it."""
    data = b""
    while b"\r\n\r\n" not in data and (more := sock.recv(65536)):
        data += more
    return data
