"""The addresses that a gateway listens on, and whether they are free."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from engine.config.listen_address import ListenAddress
from engine.server.listening_sockets import NO_SOCKETS, PassedSockets

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
