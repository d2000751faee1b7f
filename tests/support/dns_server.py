"""A DNS server for tests with scripted records, over UDP and TCP, in threads of its own."""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset


class DnsServer:
    """The records by name (without a final dot) and kind: `records["a.test", "A"] = ["10.0.0.1"]`.

    A name without any record is unknown (NXDOMAIN). `ttl` (seconds) is that of all answers. With
    `truncates` an answer over UDP has the flag TC and no records; questions for `silent` kinds get
    no answer; an `rcode` other than NOERROR replaces all answers. Records of `additional` kinds, of
    all names, are sent along. `questions` counts them by name, kind and transport.
    """

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], Sequence[str]] = {}
        self.ttl = 300
        self.truncates = False
        self.silent: frozenset[str] = frozenset()
        self.rcode = dns.rcode.NOERROR
        self.additional: frozenset[str] = frozenset()
        self.questions: Counter[tuple[str, str, str]] = Counter()
        self.port = 0

    @property
    def address(self) -> str:
        """The address as `resolve.server` takes it."""
        return f"127.0.0.1:{self.port}"

    def question_count(self, name: str, kind: str = "A") -> int:
        """How often a question came, over UDP and TCP."""
        return self.questions[name, kind, "udp"] + self.questions[name, kind, "tcp"]

    def answer(self, data: bytes, transport: str) -> bytes:
        """The response to a query, b"" for none."""
        query = dns.message.from_wire(data)
        question = query.question[0]
        name, kind = (
            question.name.to_text(omit_final_dot=True),
            dns.rdatatype.to_text(question.rdtype),
        )
        self.questions[name.lower(), kind, transport] += 1
        if kind in self.silent:
            return b""
        response = dns.message.make_response(query)
        response.set_rcode(self.rcode)
        if self.rcode != dns.rcode.NOERROR:
            return response.to_wire()
        if self.truncates and transport == "udp":
            response.flags |= dns.flags.TC
            return response.to_wire()
        if not any(owner == name.lower() for owner, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
            return response.to_wire()
        alias = self.records.get((name.lower(), "CNAME"))
        if alias:
            response.answer.append(dns.rrset.from_text(name + ".", self.ttl, "IN", "CNAME", *alias))
            name = alias[0].rstrip(".")
        records = self.records.get((name.lower(), kind))
        if records:
            response.answer.append(dns.rrset.from_text(name + ".", self.ttl, "IN", kind, *records))
        for (owner_name, more), values in self.records.items():
            if more in self.additional:
                rrset = dns.rrset.from_text(owner_name + ".", self.ttl, "IN", more, *values)
                response.additional.append(rrset)
        return response.to_wire(max_size=65_535)


@contextmanager
def dns_server() -> Iterator[DnsServer]:
    """A server on a free port of 127.0.0.1, for UDP and TCP."""
    server = DnsServer()
    with (
        socket.socket(type=socket.SOCK_STREAM) as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
    ):
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        server.port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", server.port))
        threads = [
            threading.Thread(target=serve, args=(server, sock), daemon=True)
            for serve, sock in ((_serve_udp, udp), (_serve_tcp, tcp))
        ]
        for thread in threads:
            thread.start()
        try:
            yield server
        finally:
            for sock in (tcp, udp):
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in it
            with socket.socket(type=socket.SOCK_DGRAM) as waker:
                waker.sendto(b"", ("127.0.0.1", server.port))
            for thread in threads:
                thread.join(10)


def _serve_udp(server: DnsServer, sock: socket.socket) -> None:
    while True:
        try:
            data, address = sock.recvfrom(65_535)
        except OSError:
            return
        if not data:
            return
        if response := server.answer(data, "udp"):
            sock.sendto(response, address)


def _serve_tcp(server: DnsServer, sock: socket.socket) -> None:
    while True:
        try:
            connection, _ = sock.accept()
        except OSError:
            return
        with connection, suppress(OSError, struct.error):
            (length,) = struct.unpack("!H", connection.recv(2, socket.MSG_WAITALL))
            data = connection.recv(length, socket.MSG_WAITALL)
            response = server.answer(data, "tcp")
            connection.sendall(struct.pack("!H", len(response)) + response)
