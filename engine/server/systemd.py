"""Tells systemd that the gateway is ready, what it serves and that it stops (sd_notify(3))."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from engine.values.units import format_count

_VARIABLE = "NOTIFY_SOCKET"


class ServiceManager:
    """The service manager that started this process: systemd, or any program that listens on the
    datagram socket in NOTIFY_SOCKET; without it nothing is sent.

    The variable is removed: gunicorn would report itself ready before its workers are.
    """

    def __init__(self) -> None:
        name = os.environ.pop(_VARIABLE, "")
        self._address = f"\0{name[1:]}" if name.startswith("@") else name
        self._is_ready = False
        self._status = ""

    def serving(self, config: str, workers: int) -> None:
        """So many workers serve a config, and no more are awaited. The first call reports that the
        service is ready."""
        status = f"STATUS=Config {config} is served by {format_count(workers, 'worker')}"
        if not self._is_ready:
            self._send("READY=1", status)
        elif status != self._status:
            self._send(status)
        self._is_ready, self._status = True, status

    def stopping(self, seconds: float) -> None:
        """The gateway stops, and may take that long: systemd waits for it, even where its own
        timeout is shorter."""
        limit = f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}"
        self._send("STOPPING=1", "STATUS=Ends its requests", limit)
        self._address = ""  # nothing may follow that

    def _send(self, *lines: str) -> None:
        """A service manager that does not listen must not end the gateway."""
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.connect(self._address)
                sock.send("\n".join(lines).encode())
