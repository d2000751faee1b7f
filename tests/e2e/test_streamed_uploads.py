"""Large uploads reach their vendor as they arrive, through a real gateway."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.values.caller import digest
from tests.support.paths import ROOT
from tests.support.recording import MULTIPART, HttpAnswer, Wire, request
from tests.support.running import Running, gateway
from tests.support.thorough import scale
from tests.support.waiting import until

SECRET = "mw-" + "a" * 64
LARGE = 3_000_000
FILE = {"id": "file-1", "object": "file", "filename": "x", "purpose": "user_data"}
CONFIG = f"""
version: 1
server: {{listen: "{{listen}}", workers: 1, heavy: {{processes: 1}}, max_body: 2GB}}
objects: {{key: "{"0123456789abcdef" * 4}"}}
specs: {{files: {{document: files.yaml, dialect: openai}}}}
upstreams:
  vendor: {{url: "${{UPSTREAM}}/v1", dialect: openai, proxy: "", credential: {{bearer: key}}}}
routes: [{{operations: ["files.*"], to: [{{upstream: vendor}}]}}]
tokens: [{{name: ann, sha256: {digest(SECRET)}}}]
"""


@dataclass
class Sink:
    """A vendor that takes in files. `size` are the bytes of the last body so far, of which `begin`
    has the first and `end` the last; `refuses` it answers before it has read a body."""

    port: int = 0
    size: int = 0
    length: int = 0
    connections: int = 0
    ended: bool = False
    refuses: bool = False
    begin: bytes = b""
    end: bytes = b""
    heads: list[bytes] = field(default_factory=list)

    def serve(self, sock: socket.socket) -> None:
        self.connections += 1
        with sock, contextlib.suppress(OSError):
            while self._request(sock):
                pass
        self.ended = True

    def _request(self, sock: socket.socket) -> bool:
        data = b""
        while b"\r\n\r\n" not in data:
            if not (piece := sock.recv(65_536)):
                return False
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        self.heads.append(head)
        (length,) = re.findall(rb"(?i)content-length: (\d+)", head)
        self.length, self.begin, self.end, self.size = int(length), b"", b"", 0
        if self.refuses:
            sock.sendall(b"HTTP/1.1 413 Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            return False
        while True:
            self.size += len(body)
            self.begin = (self.begin + body)[:1_000]
            self.end = (self.end + body)[-1_000:]
            if self.size >= self.length:
                break
            if not (body := sock.recv(1 << 20)):
                return False
        text = json.dumps(FILE).encode()
        kind = b"Content-Type: application/json\r\n"
        sock.sendall(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (kind, len(text)) + text)
        return True


@pytest.fixture(scope="module")
def vendor() -> Iterator[Sink]:
    sink = Sink()
    sockets: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        sink.port = server.getsockname()[1]

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    sock, _ = server.accept()
                    sockets.append(sock)
                    threading.Thread(target=sink.serve, args=(sock,), daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield sink
        server.shutdown(socket.SHUT_RDWR)
        accepting.join()
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, vendor: Sink) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("uploads")
    shutil.copy(ROOT / "openapi/openai-files.yaml", folder / "files.yaml")
    with gateway(folder, CONFIG.replace("${UPSTREAM}", f"http://127.0.0.1:{vendor.port}")) as each:
        yield each


@pytest.fixture(autouse=True)
def fresh(vendor: Sink) -> None:
    vendor.ended = vendor.refuses = False
    vendor.size = vendor.length = 0
    vendor.begin = vendor.end = b""


def field_of(name: str, value: str) -> bytes:
    return f'----edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def file_of(size: int, name: str = "file") -> tuple[bytes, bytes]:
    """The head of a file, and its content with its end."""
    head = f'----edge\r\nContent-Disposition: form-data; name="{name}"; filename="a.bin"\r\n\r\n'
    return head.encode(), b"x" * size + b"\r\n"


END = b"----edge--\r\n"


def head_of(size: int, target: str = "/v1/files") -> bytes:
    lines = [f"Content-Length: {size}", f"Content-Type: {MULTIPART}"]
    return request(target, method="POST", token=SECRET, headers=lines)


def upload(running: Running, *pieces: bytes, target: str = "/v1/files") -> HttpAnswer:
    body = b"".join(pieces)
    with Wire(running.port) as wire:
        wire.send(head_of(len(body), target) + body)
        return wire.answer("POST")


def test_a_file_reaches_its_vendor_while_it_arrives(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    body = field_of("purpose", "user_data") + head + content + END
    with Wire(running.port) as wire:
        wire.send(head_of(len(body)) + body[: LARGE // 2])
        until(lambda: vendor.size > LARGE // 3, "the first half of the file")
        wire.send(body[LARGE // 2 :])
        answer = wire.answer("POST")
    assert answer.status == 200
    assert str(answer.json()["id"]).startswith("file-mw")
    assert re.search(rb'filename="mwo-[a-z2-7]{16}-a.bin"', vendor.begin)
    assert vendor.size == vendor.length > len(body)
    assert vendor.end.endswith(b"xx\r\n----edge--\r\n")


def test_a_batch_is_judged_before_its_vendor_gets_it(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    answer = upload(running, field_of("purpose", "Batch"), head, content, END)
    assert answer.status == 400
    assert "batch was not accepted" in answer.json()["error"]["message"]
    assert vendor.size == 0


def test_fields_may_stand_behind_the_file(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    purpose, more = field_of("purpose", "user_data"), field_of("expires_after[seconds]", "9")
    assert upload(running, head, content, purpose, END).status == 200
    assert vendor.size == vendor.length
    assert upload(running, purpose, head, content, more, END).status == 200
    assert b"expires_after[seconds]" in vendor.end


def test_what_decides_about_a_file_cannot_follow_it(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    purpose, late = field_of("purpose", "user_data"), field_of("purpose", "batch")
    answer = upload(running, purpose, head, content, late, END)
    assert (answer.status, answer.json()["error"]["param"]) == (400, "purpose")
    answer = upload(running, purpose, head, content, head, content[:9] + b"\r\n", END)
    assert answer.status == 400
    answer = upload(running, purpose, head, content[:-2], b"\n----edge--\r\n")
    assert (answer.status, answer.json()["error"]["code"]) == (400, "invalid_multipart")
    until(lambda: vendor.ended, "the end of the connection to the vendor")
    assert vendor.size < vendor.length


def test_an_upload_that_breaks_off_is_none(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    body = field_of("purpose", "user_data") + head + content + END
    with Wire(running.port) as wire:
        wire.send(head_of(len(body)) + body[:-9])
        until(lambda: vendor.size > LARGE - 100_000, "most of the file")
    until(lambda: vendor.ended, "the end of the connection to the vendor")
    assert vendor.size < vendor.length


def test_a_vendor_may_refuse_a_file_that_has_not_arrived(running: Running, vendor: Sink) -> None:
    vendor.refuses = True
    head, content = file_of(LARGE)
    assert upload(running, field_of("purpose", "user_data"), head, content, END).status == 413
    vendor.refuses = False
    assert upload(running, field_of("purpose", "user_data"), head, content, END).status == 200


def test_an_upload_uses_no_connection_that_may_have_ended(running: Running, vendor: Sink) -> None:
    head, content = file_of(LARGE)
    before = vendor.connections
    for _ in range(2):
        assert upload(running, field_of("purpose", "vision"), head, content, END).status == 200
    assert vendor.connections == before + 2


def memory_of(pid: int, name: str = "VmHWM") -> int:
    """Kilobytes."""
    (size,) = re.findall(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(size)


def test_a_large_file_needs_no_memory(running: Running, vendor: Sink) -> None:
    """A gigabyte adds at most 4 MB to any process."""
    head, content = file_of(LARGE)
    assert upload(running, field_of("purpose", "vision"), head, content, END).status == 200
    workers = [*running.workers(), *running.workers(heavy=True)]
    before = [memory_of(pid) for pid in workers]
    size, piece = scale(100, 1_000) * 1_000_000, b"x" * 1_000_000
    head = field_of("purpose", "vision") + head
    with Wire(running.port) as wire:
        wire.send(head_of(len(head) + size + 2 + len(END)) + head)
        for _ in range(size // len(piece)):
            wire.send(piece)
        wire.send(b"\r\n" + END)
        assert wire.answer("POST").status == 200
    assert vendor.size == vendor.length > size
    growth = [memory_of(pid) - old for pid, old in zip(workers, before, strict=True)]
    assert max(growth) < 4_000, growth
