"""Many concurrent callers on keep-alive connections, without pauses."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tests.support.waiting import PATIENCE, under_load

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ID = re.compile(rb"\r\nx-request-id: *(\S+)", re.IGNORECASE)


def crowd(ports: Sequence[int], data: bytes, requests: int, callers: int = 16) -> Counter[int]:
    """Send a request so many times, from callers spread over the ports; how often each status came.

    Every answer has to have a Content-Length.
    """
    statuses: Counter[int] = Counter()
    failures: list[BaseException] = []

    def call(number: int, share: int) -> None:
        try:
            with socket.create_connection(("127.0.0.1", ports[number % len(ports)]), 5) as sock:
                statuses.update(_ask(sock, data)[0] for _ in range(share))
        except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
            failures.append(error)

    shares = [requests // callers + (n < requests % callers) for n in range(callers)]
    threads = [
        threading.Thread(target=call, args=number_and_share)
        for number_and_share in enumerate(shares)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return statuses


class Traffic:
    """The results of callers that never stop: `ids` are the request ids by status, `broken` counts
    connections that ended and were opened again; `lost` counts those that ended on their first
    request or in the middle of a response, where a client would not retry."""

    def __init__(self) -> None:
        self.ids: dict[int, list[str]] = {}
        self.broken = 0
        self.lost = 0

    def count(self, status: int) -> int:
        return len(self.ids.get(status, ()))


@contextmanager
def traffic(port: int, data: bytes, callers: int = 4, *, pause: float = 0.02) -> Iterator[Traffic]:
    """Callers that send requests until the block ends, each `pause` seconds after a response.

    Without a pause they take all processors for as long as the test waits for something else.
    """
    counts, ending = Traffic(), threading.Event()

    def call() -> None:
        while not ending.is_set():
            responses = 0
            try:
                with socket.create_connection(("127.0.0.1", port), under_load(PATIENCE)) as sock:
                    while not ending.is_set():
                        status, name = _ask(sock, data)
                        counts.ids.setdefault(status, []).append(name)
                        responses += 1
                        time.sleep(pause)
            except (OSError, EOFError) as error:
                counts.broken += 1
                counts.lost += responses == 0 or "middle" in str(error)

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        ending.set()
        for thread in threads:
            thread.join(under_load(PATIENCE))


def _ask(sock: socket.socket, data: bytes) -> tuple[int, str]:
    """The status and the request id of one answer, read to its end. EOFError when it is cut."""
    sock.settimeout(under_load(PATIENCE))
    with suppress(BrokenPipeError):
        sock.sendall(data)
    answer = b""
    while (end := answer.find(b"\r\n\r\n")) < 0:
        answer += _more(sock, "in the middle of an answer" if answer else "before it began")
    length = _LENGTH.search(answer, 0, end + 2)
    assert length is not None, answer
    size = end + 4 + int(length[1])
    while len(answer) < size:
        answer += _more(sock, "in the middle of an answer")
    name = _ID.search(answer, 0, end + 2)
    return int(answer[9:12]), name[1].decode() if name else ""


def _more(sock: socket.socket, where: str) -> bytes:
    data = sock.recv(65536)
    if not data:
        raise EOFError(f"the answer was cut {where}")
    return data
