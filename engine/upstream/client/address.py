"""The address of an upstream and of the proxy in front of it, parsed at start-up."""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443, "http+unix": 0}


class Origin(NamedTuple):
    """The address of an upstream. `host_header` is the value of Host."""

    tls: bool
    host: str
    port: int
    host_header: str
    base_path: str
    unix_path: str = ""


class Proxy(NamedTuple):
    """An HTTP proxy; `authorization` is the value of Proxy-Authorization, or empty."""

    host: str
    port: int
    authorization: str = ""


def origin_of(url: str) -> Origin:
    """Parse an upstream's URL. Raises ValueError if it is invalid; the message does not show the
    URL, which may contain a password.

    http://host:port/base, https://..., http+unix:///path/to.sock and, with a base path,
    http+unix://%2Fpath%2Fto.sock/base.
    """
    parts = _split(url)
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError("the URL of an upstream begins with http://, https:// or http+unix://")
    for sign, part in (("@", "user"), ("?", "query"), ("#", "fragment")):
        if sign in (parts.netloc if part == "user" else url):
            raise ValueError(f"the URL of an upstream may not have a {part}")
    base = parts.path.rstrip("/")
    if parts.scheme == "http+unix" and not parts.netloc:
        base = ""  # the path is the socket
    if not base.isascii() or not base.isprintable() or " " in base:
        raise ValueError("the path of the URL has a character that must be percent-encoded")
    if parts.scheme == "http+unix":
        path = unquote(parts.netloc) or unquote(parts.path)
        if not path.startswith("/") or "\0" in path:
            raise ValueError("the path of a unix socket must be absolute")
        return Origin(False, "localhost", 0, "localhost", base, path)
    host, port = _host_and_port(parts)
    host_header = f"[{host}]" if ":" in host else host
    if port != _DEFAULT_PORTS[parts.scheme]:
        host_header = f"{host_header}:{port}"
    return Origin(parts.scheme == "https", host, port, host_header, base)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError("the URL has no valid host and port") from None
    return parts


def _host_and_port(parts: SplitResult) -> tuple[str, int]:
    host = parts.hostname or ""
    try:
        # Also for an ASCII name, so that a label that is too long is refused at start-up.
        host = host if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError:
        host = ""
    if not re.fullmatch(r"[0-9a-z._~-]+|[0-9a-f:.]*:[0-9a-f:.]*", host):
        raise ValueError("the URL has no valid host")
    return host, parts.port or _DEFAULT_PORTS.get(parts.scheme, 80)


def proxy_of(origin: Origin, proxy: str | None, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy to use: `proxy` if given ("" for none), else the one of the environment. Raises
    ValueError for an invalid URL.

    The environment has HTTPS_PROXY or HTTP_PROXY by the scheme, the lower-case name first, and
    NO_PROXY. Its proxy is never used for a loopback host or a unix socket.
    """
    if origin.unix_path:
        return None
    if proxy is None:
        proxy = _variable(environ, "https_proxy" if origin.tls else "http_proxy")
        if _loopback(origin.host) or is_excluded(
            _variable(environ, "no_proxy"), origin.host, origin.port
        ):
            return None
    if not proxy:
        return None
    parts = _split(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http":
        raise ValueError("the URL of a proxy begins with http://")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + b64encode(pair.encode()).decode("ascii")
    return Proxy(*_host_and_port(parts), authorization)


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def is_excluded(no_proxy: str, host: str, port: int) -> bool:
    """Whether NO_PROXY names a host. Its entries, between commas or spaces: `*`, a name (it and all
    names under it), an address, a network (10.0.0.0/8); a name or an address may have a port."""
    host = host.lower().rstrip(".")
    for entry in re.split(r"[,\s]+", no_proxy.lower()):
        name, entry_port = _entry(entry)
        if entry_port not in ("", str(port)):
            continue
        if name == "*" or host == name or host.endswith(f".{name}") or _within(host, name):
            return True
    return False


def _entry(entry: str) -> tuple[str, str]:
    bracketed = re.fullmatch(r"\[(.+)\](?::(\d+))?", entry)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    name, port = (entry, "") if entry.count(":") != 1 else entry.split(":")
    return name.removeprefix("*").strip(".") or name, port


def _within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _within(host, "127.0.0.0/8") or _within(host, "::1")
