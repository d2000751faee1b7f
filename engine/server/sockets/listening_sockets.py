"""The addresses that a gateway listens on, whether they are free, and the sockets of its master:
opened here, or passed by systemd (sd_listen_fds(3))."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from gunicorn import sock, systemd
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.sock import BaseSocket

from engine.config.listen_address import ListenAddress

_CLASSES = {
    socket.AF_INET: sock.TCPSocket,
    socket.AF_INET6: sock.TCP6Socket,
    socket.AF_UNIX: sock.UnixSocket,
}


class PassedSockets:
    """The sockets that systemd passed to this process: their descriptors, by address in the form of
    `getsockname()`."""

    def __init__(self, sockets: Mapping[object, int]) -> None:
        self._sockets = sockets

    @classmethod
    def from_environment(cls) -> PassedSockets:
        """Those of LISTEN_FDS, if LISTEN_PID is this process."""
        first = systemd.SD_LISTEN_FDS_START
        descriptors = range(first, first + systemd.listen_fds())
        return cls({_name(descriptor): descriptor for descriptor in descriptors})

    def find(self, address: str) -> int | None:
        """The descriptor of the socket that is bound to an address of the config."""
        parsed = ListenAddress.parse(address)
        return next((fd for name, fd in self._sockets.items() if parsed.matches(name)), None)

    def exit_if_unused(self, addresses: Mapping[str, str]) -> None:
        """End the process with one line when a socket has none of these addresses, given by their
        keys in the config."""
        used = {self.find(address) for address in addresses.values()}
        for name, descriptor in self._sockets.items():
            if descriptor not in used:
                keys = " and ".join(f"{key} ({address})" for key, address in addresses.items())
                sys.exit(
                    f"modelway: systemd passed a socket on {_text(name)}, and {keys} is another "
                    "address: write the same in the config and in ListenStream= of the unit"
                )


NO_SOCKETS = PassedSockets({})


class ListeningSockets:
    """Opens the sockets of a master, and closes them.

    Those `passed` by systemd are used where their address is listened on.
    """

    def __init__(self, passed: PassedSockets = NO_SOCKETS) -> None:
        self._passed = passed
        self._files: dict[str, tuple[int, int]] = {}

    def open(self, binds: Iterable[str], reused: Iterable[str], log: Logger) -> list[BaseSocket]:
        """A listening socket for each of `binds`, addresses as the config writes them. Those of
        `reused` let others listen there, too (SO_REUSEPORT). Exits if one cannot be opened."""
        return [self._open(bind, bind in reused, log) for bind in binds]

    def _open(self, bind: str, reuse: bool, log: Logger) -> BaseSocket:
        config = Config()
        config.set("bind", [bind])
        (address,) = config.address
        descriptor = self._passed.find(bind)
        if descriptor is None:
            config.set("reuse_port", reuse)
            (listener,) = sock.create_sockets(config, log)
            if isinstance(address, str):
                self._files[address] = _file(address)
            return listener
        with socket.socket(fileno=os.dup(descriptor)) as passed:
            kind = _CLASSES[passed.family]
        return kind(address, config, log, fd=os.dup(descriptor))

    def close(self, listeners: Iterable[BaseSocket]) -> None:
        """Close sockets. The file of a Unix socket remains until `remove_files`."""
        for listener in listeners:
            listener.close()

    def remove_files(self, addresses: Iterable[object]) -> None:
        """Remove the files of Unix sockets that this process has made and no other replaced."""
        for path in [path for path in addresses if path in self._files]:
            with contextlib.suppress(FileNotFoundError):
                if _file(path) == self._files.pop(path):
                    os.unlink(path)


def _file(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _name(descriptor: int) -> object:
    """The address of a passed socket. Exits if it does not listen."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as passed:
            if passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return passed.getsockname()
    except OSError:
        pass
    sys.exit(
        f"modelway: systemd passed descriptor {descriptor}, which is not a listening stream "
        "socket: the unit of the socket needs ListenStream= and no Accept=yes"
    )


def _text(name: Any) -> str:
    if not isinstance(name, tuple):
        return f"unix:{os.fsdecode(name)}"
    host, port = name[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_MAX_PATH = 100
"""The most bytes in the path of a Unix socket: the limit of macOS (104) and Linux (108), rounded
down."""


def listen_addresses(listen: str, telemetry: str) -> dict[str, str]:
    """The addresses of `server.listen` and `telemetry.listen` ("": none), by their keys."""
    return {"server.listen": listen} | ({"telemetry.listen": telemetry} if telemetry else {})


def why_unavailable(
    addresses: Mapping[str, str], in_use: Collection[str] = (), reuse_port: bool = False
) -> str | None:
    """Why one of these addresses, by their keys, cannot be listened on, or None.

    The gateway itself listens on those `in_use`; with `reuse_port` it shares that of the API.
    """
    for key, address in addresses.items():
        shared = reuse_port and key == "server.listen"
        if address not in in_use and (reason := _bind_error(address, shared)) is not None:
            return f"cannot listen on {address} ({key}): {reason}"
    return None


def exit_if_unavailable(
    addresses: Mapping[str, str], passed: PassedSockets = NO_SOCKETS, reuse_port: bool = False
) -> None:
    """End the process with one line when one of these addresses cannot be listened on, or a passed
    socket has none of them."""
    passed.exit_if_unused(addresses)
    in_use = [address for address in addresses.values() if passed.find(address) is not None]
    if (error := why_unavailable(addresses, in_use, reuse_port)) is not None:
        sys.exit(f"modelway: {error}; choose another address, or stop the process that uses it")


def _bind_error(listen: str, shared: bool) -> str | None:
    """Why an address cannot be bound, or None."""
    address = ListenAddress.parse(listen)
    if address.path:
        return _path_error(address.path)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            probe.bind((address.host, address.port))
        except UnicodeError:  # a label of more than 63 characters
            return f"'{address.host}' is not a valid host name"
        except OSError as error:
            return error.strerror or str(error)
    return None


def _path_error(path: str) -> str | None:
    """As `_bind_error`, for a socket in the file system."""
    folder = os.path.dirname(os.path.abspath(path))
    if len(os.fsencode(path)) > _MAX_PATH:
        return f"the path is longer than {_MAX_PATH} bytes"
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        return f"this user cannot write in the folder {folder}"
    if os.path.lexists(path) and not Path(path).is_socket():
        return "a file that is not a socket is at this path"
    return None
