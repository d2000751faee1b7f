"""An upstream that records the bytes of its requests, and a client that sends raw bytes.

Both parse just enough HTTP to find the end of a message, without a library that normalises it.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.waiting import PATIENCE

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as it was received."""

    line: str
    headers: Headers
    body: bytes

    @property
    def target(self) -> str:
        return self.line.split(" ")[1]

    def values(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for header, value in self.headers if header == name]

    def names(self) -> list[str]:
        return [name for name, _ in self.headers]


Speak = Callable[[ReceivedRequest, socket.socket], None]
"""Answers a request on its socket."""


ANSWER = b'{"choices":[{}],"content":[],"output":[],"data":[{}],"candidates":[{}]}'
"""An answer of any operation that says nothing."""


def answer(
    body: bytes = ANSWER,
    headers: Sequence[str] = ("Content-Type: application/json",),
    status: int = 200,
) -> Speak:
    """An answer with a Content-Length."""
    lines = [f"HTTP/1.1 {status} Fine", *headers, f"Content-Length: {len(body)}", "", ""]
    data = "\r\n".join(lines).encode("latin-1") + body
    return lambda received, sock: sock.sendall(data)


@dataclass
class Recorder:
    """The upstream: `requests` are those that reached it, `speak` is how it answers the next."""

    port: int = 0
    scheme: str = "http"
    connections: int = 0
    requests: list[ReceivedRequest] = field(default_factory=list)
    speak: Speak = field(default_factory=answer)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def last(self) -> ReceivedRequest:
        return self.requests[-1]

    def reset(self) -> None:
        self.requests.clear()
        self.connections = 0
        self.speak = answer()

    def serve(self, sock: socket.socket) -> None:
        self.connections += 1
        with sock, contextlib.suppress(OSError), sock.makefile("rb") as stream:
            while (received := _read(stream)) is not None:
                self.requests.append(received)
                self.speak(received, sock)


@contextmanager
def recorder(
    tls: ssl.SSLContext | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> Iterator[Recorder]:
    """A Recorder that listens on a port (0: a free one) of this machine, with or without TLS."""
    recording = Recorder(scheme="https" if tls else "http")
    sockets: list[socket.socket] = []
    with socket.create_server((host, port), backlog=512) as server:
        recording.port = server.getsockname()[1]

        def accept() -> None:
            while True:
                try:
                    sock, _ = server.accept()
                except OSError:
                    return
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if tls is not None:
                    try:
                        sock = tls.wrap_socket(sock, server_side=True)
                    except OSError:  # the client refuses the certificate, or has none
                        sock.close()
                        continue
                sockets.append(sock)
                threading.Thread(target=recording.serve, args=(sock,), daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield recording
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for sock in sockets:
                with contextlib.suppress(OSError):  # closed already
                    sock.shutdown(socket.SHUT_RDWR)


def _head(stream: Any) -> tuple[str, Headers] | None:
    line = stream.readline().decode("latin-1").rstrip("\r\n")
    if not line:
        return None
    headers: Headers = []
    while text := stream.readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = text.partition(":")
        headers.append((name.lower(), value.strip()))
    return line, headers


def _read(stream: Any) -> ReceivedRequest | None:
    head = _head(stream)
    if head is None:
        return None
    line, headers = head
    values = dict(headers)
    if "chunked" in values.get("transfer-encoding", ""):
        return ReceivedRequest(line, headers, b"".join(_chunks(stream)))
    return ReceivedRequest(line, headers, stream.read(int(values.get("content-length", 0))))


def _chunks(stream: Any) -> Iterator[bytes]:
    """The chunks of a body, each as soon as it is complete. EOFError if the body is cut."""
    while True:
        line = stream.readline()
        if not line:
            raise EOFError("the body broke off")
        size = int(line.split(b";")[0], 16)
        if not size:
            break
        data = stream.read(size)
        if len(data) < size:
            raise EOFError("the body broke off")
        yield data
        stream.readline()
    while stream.readline().strip():
        pass


@dataclass(frozen=True)
class HttpAnswer:
    """A response; `closed` is whether it has `Connection: close`."""

    status: int
    headers: Headers
    body: bytes
    closed: bool

    def values(self, name: str) -> list[str]:
        return [value for header, value in self.headers if header == name]

    def value(self, name: str) -> str:
        values = self.values(name)
        assert len(values) == 1, f"{name}: {values} in {self.headers}"
        return values[0]

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """One connection to a server."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self.sock.makefile("rb")

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._stream.close()
        self.sock.close()

    def send(self, data: bytes) -> None:
        """Send data. A server that has responded and closed before the end is no error."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.sock.sendall(data)

    def head(self) -> tuple[int, Headers]:
        """The status and the headers of the next answer."""
        head = _head(self._stream)
        assert head is not None, "the connection was closed without an answer"
        return int(head[0].split(" ")[1]), head[1]

    def pieces(self) -> Iterator[bytes]:
        """The chunks of a chunked body as they arrive."""
        return _chunks(self._stream)

    def body(self, size: int) -> bytes:
        """So many bytes of a body, fewer if the connection ends before."""
        return bytes(self._stream.read(size))

    def answer(self, method: str = "GET") -> HttpAnswer:
        """The next complete response."""
        status, headers = self.head()
        values = dict(headers)
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif values.get("transfer-encoding") == "chunked":
            body = b"".join(self.pieces())
        elif "content-length" in values:
            body = self._stream.read(int(values["content-length"]))
            assert len(body) == int(values["content-length"]), "the body broke off"
        else:
            body = self._stream.read()
        return HttpAnswer(status, headers, body, values.get("connection") == "close")

    def rest(self) -> bytes:
        """All bytes until the server closes. TimeoutError if it does not."""
        try:
            return bytes(self._stream.read())
        except ConnectionResetError:
            return b""


def ask(port: int, data: bytes) -> HttpAnswer:
    """Send raw bytes on a new connection, and read one response."""
    with Wire(port) as wire:
        wire.send(data)
        return wire.answer(data.split(b" ", 1)[0].decode("latin-1"))


def request(
    target: str | bytes,
    body: bytes | None = None,
    *,
    method: str = "",
    headers: Sequence[str | bytes] = (),
    token: str = "",
    media_type: str = "application/json",
) -> bytes:
    """The bytes of a request; a body brings its Content-Length and Content-Type."""
    method = method or ("GET" if body is None else "POST")
    lines: list[str | bytes] = ["Host: gateway"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    if body is not None:
        lines += [f"Content-Type: {media_type}"] if media_type else []
        lines += [f"Content-Length: {len(body)}"]
    raw = [
        line if isinstance(line, bytes) else line.encode("latin-1") for line in (*lines, *headers)
    ]
    place = target if isinstance(target, bytes) else target.encode()
    first = method.encode() + b" " + place + b" HTTP/1.1"
    return b"\r\n".join([first, *raw, b"", b""]) + (body or b"")


def multipart(*parts: tuple[str, bytes], boundary: str = "--edge") -> bytes:
    """A multipart body; a part is what follows `Content-Disposition: form-data; ` and its bytes."""
    parts_bytes = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n"
        for head, data in parts
    )
    return parts_bytes + f"--{boundary}--\r\n".encode()


MULTIPART = "multipart/form-data; boundary=--edge"


def assert_refused(
    response: HttpAnswer, status: int | Sequence[int], code: str = ""
) -> dict[str, Any]:
    """Assert that a response is an error object of the gateway; the error."""
    statuses = [status] if isinstance(status, int) else list(status)
    assert response.status in statuses, (response.status, response.body[:500])
    assert response.value("content-type") == "application/json"
    error = response.json()["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    assert all(isinstance(error[name], str) for name in ("message", "type"))
    assert error["param"] is None or error["param"]
    assert error["message"]
    assert len(error["message"]) < 1000
    if code:
        assert error["code"] == code
    return dict(error)


def assert_error(
    response: HttpAnswer, status: int | Sequence[int], code: str = ""
) -> dict[str, Any]:
    """`assert_refused`, and that the response has a request id; the error."""
    error = assert_refused(response, status, code)
    assert re.fullmatch(r"req_[0-9a-f]{32}", response.value("x-request-id"))
    return error
