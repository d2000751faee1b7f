"""The TLS context of one upstream, reloaded when its certificate files change."""

from __future__ import annotations

import functools
import logging
import os
import ssl

import gevent.ssl

log = logging.getLogger("modelway")

_State = tuple[tuple[int, int, int] | None, ...]
"""The versions of files: inode, modification time and size of each, None for a missing file."""


class TlsFiles:
    """The files of a context: `ca` replaces the system's certificate authorities, `cert` are the
    paths of the client certificate and of its key.

    `context` reads the files again when one of them has changed, so that certificates are renewed
    without a restart. If the changed files are invalid, as in the middle of a renewal, this is
    logged once and the last context stays in use. Raises OSError for invalid files at the start.
    """

    def __init__(self, ca: str | None, cert: tuple[str, str] | None, verify: bool) -> None:
        self._ca = ca
        self._cert = cert
        self._verify = verify
        self._files = tuple(dict.fromkeys(file for file in (ca, *(cert or ())) if file))
        self._state = self._read_state()
        self._context = tls_context(ca, cert, verify) if self._files else _shared_context(verify)

    def context(self) -> ssl.SSLContext:
        """The context for a new connection."""
        if self._files and (state := self._read_state()) != self._state:
            self._state = state
            try:
                self._context = tls_context(self._ca, self._cert, self._verify)
            except OSError as error:
                names = ", ".join(self._files)
                log.warning("the changed TLS files %s cannot be used: %s", names, error)
        return self._context

    def _read_state(self) -> _State:
        return tuple(map(_version, self._files))


def _version(file: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def tls_context(ca: str | None, cert: tuple[str, str] | None, verify: bool) -> ssl.SSLContext:
    """The TLS context of one upstream; `ca` replaces the system's certificate authorities."""
    context = gevent.ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # During a renegotiation a send would have to wait for incoming bytes.
    context.options |= ssl.OP_NO_RENEGOTIATION
    # On by default before CPython 3.11.4: a cut connection would look like a clean end, and a body
    # without a length like a complete one (RFC 8446 6.1).
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    context.set_alpn_protocols(["http/1.1"])
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(ca)
    if cert is not None:
        context.load_cert_chain(*cert, password=_no_password)
    return context


@functools.cache
def _shared_context(verify: bool) -> ssl.SSLContext:
    """The context of all upstreams without files: the system's certificate authorities are read
    once per process."""
    return tls_context(None, None, verify)


def read_authorities() -> None:
    """Read the system's certificate authorities, for this process and those that it forks later.
    They have changed, perhaps, since they were read last."""
    _shared_context.cache_clear()
    _shared_context(True)


def _no_password() -> str:
    """The password callback for an encrypted key; without it OpenSSL prompts on the terminal."""
    raise OSError("the private key is encrypted")
