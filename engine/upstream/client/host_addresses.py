"""The addresses of a host, looked up again and again while they are in use.

The law: the system resolves a name as for every program of the machine (/etc/hosts, search domains,
DNS). While connections are open or made, the name is looked up again within 30 seconds, in the
background. A request waits for a lookup only if no answer is known, or, for at most a second, if
the name was not in use before. A lookup that fails changes nothing.
"""

from __future__ import annotations

import functools
import ipaddress
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import gevent
import gevent.socket
from gevent.monkey import get_original
from gevent.threadpool import ThreadPool

from engine.process.log_throttle import LogThrottle
from engine.upstream.client.dial_order import Address, Answer, DialOrder, FixedAddress, LookupStatus

INTERVAL = 25.0
"""Seconds between two lookups of a name in use, at most."""
_MAX_AGE = 30.0
"""Seconds after which a request waits for a new answer, for at most REFRESH_TIMEOUT."""

REFRESH_TIMEOUT = 1.0
"""Seconds for which a request waits for a new answer if an old one is known."""

_RETRY_INTERVAL = 5.0
"""Seconds until the next lookup after a failed one, or those of the last answer if less."""

_MIN_INTERVAL = 1.0
"""Seconds between two lookups, at least, while addresses refuse connections."""

_THREADS = 8
"""Concurrent lookups, in a thread pool of their own: a DNS server that does not answer blocks no
other work."""


Lookup = Callable[[str, int], Answer]
"""Looks up a host name with a port, or the source that a config names instead. Raises OSError."""


@functools.cache
def _threads() -> ThreadPool:
    return ThreadPool(_THREADS)


def system_lookup(host: str, port: int) -> Answer:
    """The addresses of a name in the system's order of preference (RFC 6724). Raises OSError."""
    result = _threads().apply(_getaddrinfo, (host, port))
    if isinstance(result, OSError):
        raise result
    return Answer(result, INTERVAL)


def has_route(address: Address) -> bool:
    """Whether this machine has a route to an address; nothing is sent."""
    try:
        with gevent.socket.socket(address.family, gevent.socket.SOCK_DGRAM) as sock:
            sock.connect(address.sockaddr)
    except OSError:
        return False
    return True


def _getaddrinfo(host: str, port: int) -> list[Address] | OSError:
    """The addresses, or the error: gevent prints exceptions that a thread raises."""
    try:
        rows = get_original("socket", "getaddrinfo")(host, port, type=gevent.socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return error if isinstance(error, OSError) else OSError(str(error))
    scopes = ((row[4], row[4][3] if len(row[4]) > 3 else 0) for row in rows)
    return list(dict.fromkeys(Address(sock[0], sock[1], scope) for sock, scope in scopes))


class HostAddresses:
    """The addresses of a host name. `in_use` says whether connections to them are open; `changed`
    is called when the addresses or their shares have changed."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        in_use: Callable[[], bool],
        changed: Callable[[], None],
        lookup: Lookup = system_lookup,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host = host
        self._port = port
        self._in_use = in_use
        self._changed = changed
        self._lookup = lookup
        self._clock = clock
        # Random, so that workers begin with different addresses.
        self._order = DialOrder(clock, random.randrange(1 << 16))  # noqa: S311
        self._throttle = LogThrottle()
        self._began = -1e300  # when the last lookup began
        self._interval = INTERVAL  # the seconds of the last answer
        self._dialed = False  # a connection was made since the last lookup
        self._running: Any = None  # the greenlet of a lookup
        self._next: Any = None  # the timer until the next lookup
        self._failure: OSError = OSError("its name has no address")
        self.status = LookupStatus()

    def next(self) -> Sequence[Address]:
        """The addresses for a new connection; OSError if none is known."""
        self._dialed = True
        if not self._order.addresses:
            self._start().join()
            if not self._order.addresses:
                raise self._failure.with_traceback(None)
        elif self._running is None and self._clock() - self._began > _MAX_AGE:
            self._start().join(REFRESH_TIMEOUT)
        return self._order.next()

    def refused(self, address: Address) -> None:
        """Try an address last for a while, and look the name up again."""
        self._order.refused(address)
        if self._clock() - self._began > _MIN_INTERVAL:
            self._start()

    def start(self) -> None:
        """Look the name up now, in the background."""
        self._start()

    def follow(self) -> None:
        """Look the name up again if it is in use; `_look_up` schedules the next call. Does not
        wait."""
        self._stop_timer()
        if self._dialed or self._in_use():
            self._dialed = False
            self._start()

    def close(self) -> None:
        """Stop all lookups, until the next new connection."""
        running = self._running
        if running is not None:
            running.kill()
            if self._running is running:  # it had not begun
                self._running = None
        self._stop_timer()  # also that of the lookup that was killed

    def _stop_timer(self) -> None:
        timer, self._next = self._next, None
        if timer is not None:
            timer.close()

    def _start(self) -> Any:
        """The greenlet of the lookup under way, or of a new one."""
        if self._running is None:
            self._began = self._clock()
            self._running = gevent.spawn(self._look_up)
        return self._running

    def _look_up(self) -> None:
        seconds = min(self._interval, _RETRY_INTERVAL)
        try:
            answer = self._lookup(self._host, self._port)
            if not answer.addresses:
                raise OSError("its name has no address")
        except OSError as error:
            self._failed(error.with_traceback(None))
        else:
            seconds = self._interval = answer.seconds
            self._succeeded(answer)
        finally:
            self._running = None
            if self._next is None:
                # Jitter, so that workers do not look up at the same time. A timer, because there
                # may be thousands of names, and a greenlet takes about a kilobyte.
                wait = seconds * random.uniform(0.8, 1.0)  # noqa: S311
                self._next = gevent.get_hub().loop.timer(wait)
                self._next.start(self.follow)

    def _failed(self, error: OSError) -> None:
        self._failure = error
        status = self.status
        status.failures += 1
        status.error = error.strerror or str(error)
        effect = "the last ones stay in use" if status.addresses else "none is known"
        message = "the addresses of %s cannot be looked up, %s: %s"
        self._throttle.log(message, self._host, effect, status.error)

    def _succeeded(self, answer: Answer) -> None:
        addresses, status = tuple(answer.addresses), self.status
        before = set(status.addresses), status.shares
        status.addresses, status.shares = addresses, dict(answer.shares)
        status.error, status.time = "", self._clock()
        self._order.replace(addresses)
        if before != (set(addresses), status.shares):
            self._changed()


def addresses_of(
    host: str,
    port: int,
    *,
    in_use: Callable[[], bool],
    changed: Callable[[], None],
    lookup: Lookup = system_lookup,
    clock: Callable[[], float] = time.monotonic,
) -> FixedAddress | HostAddresses:
    """The addresses of a URL's host: fixed for a literal IP address, unless `lookup` has them from
    elsewhere, and else looked up."""
    if lookup is system_lookup and _is_literal(host):
        return FixedAddress(Address(host, port))
    return HostAddresses(host, port, in_use=in_use, changed=changed, lookup=lookup, clock=clock)


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
