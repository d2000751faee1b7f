"""The addresses of an upstream from a file that another program writes and this one watches.

The law: a replaced file is read at once; one that is written in place, when it has not changed for
a second. All of its entries are used or none: while the file is empty, missing or invalid, the
addresses before it stay in use.

Each line is `host:port`, or `host` for the port of the URL; `#` begins a comment. A file whose name
ends in `.json`, `.yaml` or `.yml` is a list of such strings, or of mappings with `host`, `port`,
`weight` and `priority`.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.source.reader import read
from engine.upstream.client.dial_order import Address, Answer, Share

_SECONDS = 1.0
_MAX_BYTES = 150_000
"""A bound for the time that parsing takes from a worker's requests: 25 ms for 1,000 mappings."""
_MAX_ENTRIES = 1_000
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_WITH_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?")


class BrokenFile(OSError):
    """The file cannot be used; the text says where and why."""


class Entry(NamedTuple):
    """An entry of the file. A lower `priority` comes first; port 0 is that of the URL."""

    host: str
    port: int = 0
    weight: float = 1.0
    priority: int = 0


class AddressFile:
    """The entries of a file. `names` looks up the hosts that are not IP addresses."""

    def __init__(
        self,
        path: Path,
        names: Callable[[str, int], Answer],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._names = names
        self._clock = clock
        self._version: tuple[int, ...] | None = None  # that was read
        self._changed: tuple[int, ...] | None = None  # written in place, perhaps incomplete
        self._problem: BrokenFile | None = None
        self._entries: list[Entry] = []
        self._answers: dict[str, tuple[float, Answer]] = {}  # by name, with their expiry

    def addresses(self, port: int) -> Answer:
        """The addresses in the file; `port` for entries without one. Raises BrokenFile, also for a
        name that cannot be looked up."""
        self._refresh()
        if self._problem is not None:
            raise self._problem.with_traceback(None)
        shares: dict[Address, Share] = {}
        for entry in self._entries:
            addresses = self._addresses_of(entry._replace(port=entry.port or port))
            for address in addresses:
                shares.setdefault(address, Share(entry.weight / len(addresses), entry.priority))
        return Answer(list(shares), _SECONDS, shares)

    def _refresh(self) -> None:
        """Read the file if it has changed, and is complete."""
        try:
            status = os.stat(self._path)
            version = (status.st_ino, status.st_mtime_ns, status.st_size)
            if version == self._version:
                return
            in_place = self._version is not None and self._version[0] == version[0]
            if in_place and version != self._changed:
                self._changed = version
                return
            self._version = version
            entries = read_entries(self._path)
        except BrokenFile as error:
            self._problem = error
        except OSError as error:
            self._version = None
            self._problem = BrokenFile(f"{self._path.name}: {error.strerror}")
        else:
            self._problem, self._entries = None, entries
            current = {entry.host for entry in entries}
            self._answers = {host: self._answers[host] for host in current & self._answers.keys()}

    def _addresses_of(self, entry: Entry) -> Sequence[Address]:
        if _is_address(entry.host):
            return (Address(entry.host, entry.port),)
        now = self._clock()
        until, answer = self._answers.get(entry.host, (now, None))
        if answer is None or now >= until:
            try:
                answer = self._names(entry.host, entry.port)
            except OSError as error:
                reason = error.strerror or str(error)
                raise BrokenFile(f"{self._path.name}: {entry.host}: {reason}") from error
            self._answers[entry.host] = now + answer.seconds, answer
        return [address._replace(port=entry.port) for address in answer.addresses]


def read_entries(path: Path) -> list[Entry]:
    """The entries of a file, at least one. Raises BrokenFile, and OSError if it cannot be read."""
    data = _beginning(path)
    if len(data) > _MAX_BYTES:
        raise BrokenFile(f"{path.name} is larger than {_MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BrokenFile(f"{path.name} is not UTF-8") from None
    is_list = path.suffix.lower() in (".json", ".yaml", ".yml")
    entries = list(_listed(path.name, text) if is_list else _lines(path.name, text))
    if not entries:
        raise BrokenFile(f"{path.name} has no address")
    if len(entries) > _MAX_ENTRIES:
        raise BrokenFile(f"{path.name} has {len(entries)} addresses, more than {_MAX_ENTRIES}")
    return entries


def _beginning(path: Path) -> bytes:
    """The first _MAX_BYTES and one more. Raises BrokenFile for a pipe or a device, which would
    block all requests of a worker or never end."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BrokenFile(f"{path.name} is not a regular file")
        return file.read(_MAX_BYTES + 1)


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file, or a pipe to which no program writes."""
    return os.open(path, flags | os.O_NONBLOCK)


def _lines(name: str, text: str) -> Iterator[Entry]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if content:
            yield _entry(content, f"{name}, line {number}")


def _listed(name: str, text: str) -> Iterator[Entry]:
    document = read(text, name)
    if document.problems:
        problem = document.problems[0]
        raise BrokenFile(f"{name}, line {problem.line}: {problem.message}")
    items = document.value
    if items is None:
        return
    if not isinstance(items, list):
        raise BrokenFile(f"{name} is not a list")
    for number, item in enumerate(items, 1):
        where = f"{name}, entry {number}"
        yield _mapping(item, where) if isinstance(item, dict) else _entry(item, where)


def _entry(value: object, where: str) -> Entry:
    """An entry written as a string: `host:port`, `[address]:port`, or a host without a port."""
    text = value if isinstance(value, str) else ""
    if _is_address(text):
        return Entry(text)
    match = _WITH_PORT.fullmatch(text)
    if match is not None:
        host, port = match[1].strip("[]"), int(match[2] or 0)
        is_host = _is_address(host) if text.startswith("[") else _is_host(host)
        if is_host and (match[2] is None or 0 < port < 65536):
            return Entry(host, port)
    raise BrokenFile(f"{where}: {_short(value)} is not an address; write 10.0.0.1:8000")


def _mapping(item: dict[Any, Any], where: str) -> Entry:
    unknown = [key for key in item if key not in Entry._fields]
    if unknown:
        keys = ", ".join(Entry._fields)
        raise BrokenFile(f"{where}: unknown key {_short(unknown[0])}; the keys are {keys}")
    if "host" not in item:
        raise BrokenFile(f"{where}: {_short(item)} has no 'host'")
    entry = Entry(**{"port": 0, **item})
    is_whole = type(entry.port) is int and type(entry.priority) is int
    if not isinstance(entry.host, str) or not _is_host(entry.host):
        raise BrokenFile(f"{where}: {_short(entry.host)} is not a host name")
    if not is_whole or not 0 <= entry.port < 65536 or entry.priority < 0:
        raise BrokenFile(
            f"{where}: port {_short(entry.port)}, priority {_short(entry.priority)}: "
            "write whole numbers of 0 or more, a port up to 65535"
        )
    if type(entry.weight) not in (int, float) or not 0 <= entry.weight < math.inf:
        raise BrokenFile(f"{where}: {_short(entry.weight)} is not a weight; write a number")
    return entry


def _is_host(text: str) -> bool:
    return _is_address(text) or _NAME.fullmatch(text) is not None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
