"""Checks of URLs, proxies, TLS files and secrets of webhooks, with the parsers that are used to
connect and to sign. No connection is opened, and a store that the config does not use is not
imported.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from os.path import isfile
from pathlib import Path as FilePath

from engine.config.config import Config
from engine.config.stores import RedisTls, Stores
from engine.config.upstreams import Resolve, Tls, UpstreamConfig
from engine.process.child_process import run_in_child
from engine.source.files import is_file
from engine.source.problem import Findings, Path, place_of
from engine.stores.webhooks.signature import key_of
from engine.upstream.addresses.source import dns_server
from engine.upstream.client.address import Origin, origin_of, proxy_of
from engine.upstream.client.tls import tls_context
from engine.upstream.service_calls import split_query

_TLS_FILES = {
    "ca": "it has no certificate in PEM format",
    "certificate": "it is not a certificate in PEM format with its key, or the key is encrypted",
}
_NOT_READ = frozenset({os.strerror(errno.EACCES), os.strerror(errno.EISDIR)})
_HINTS = {
    "query": "a fixed parameter goes to credential: {query: api-version, value: ...}, and the key "
    "to headers: {set: {api-key: ...}}",
    "user": "write credential: {header: authorization, value: Basic ...}",
}
"""What to write instead of a part that the URL of an upstream must not have."""
_HINT = "`echo whsec_$(openssl rand -base64 32)` makes one; write it into a variable"


def check_connections(config: Config, findings: Findings) -> None:
    """Note every invalid address of an upstream, of a collector, and of a store."""
    for upstream in config.upstreams.values():
        _check_upstream(upstream, config, findings)
    _check_collectors(config, findings)
    _check_stores(config, findings)


def _error(config: Config, at: Path, message: str, findings: Findings, hint: str = "") -> None:
    findings.error(config.source, at, "MW104", message, hint)


def _check_upstream(upstream: UpstreamConfig, config: Config, findings: Findings) -> None:
    """Check the URL, the proxy, the TLS files and `resolve`."""
    try:
        origin = origin_of(upstream.url)
    except ValueError as error:
        message = str(error)
        hint = next((_HINTS[part] for part in _HINTS if message.endswith(f"have a {part}")), "")
        _error(config, (*upstream.at, "url"), message, findings, hint)
        return
    if origin.tls:
        _check_tls(upstream.tls, (*upstream.at, "tls"), config, findings)
    try:
        proxy_of(origin, upstream.proxy, {})
    except ValueError as error:
        _error(config, (*upstream.at, "proxy"), str(error), findings)
    if upstream.resolve is not None:
        for key, code, message, hint in _resolve_problems(upstream.resolve, upstream.proxy, origin):
            at = (*upstream.at, "resolve", *([key] if key else []))
            findings.error(config.source, at, code, message, hint, key=not key)


def _resolve_problems(
    resolve: Resolve, proxy: str | None, origin: Origin
) -> Iterator[tuple[str, str, str, str]]:
    """The key below `resolve` ("" for itself), code, message and hint of each problem."""
    if origin.unix_path:
        yield "", "MW391", "a Unix socket has no addresses to resolve", "remove 'resolve'"
    elif proxy:
        message = "'resolve' has no effect with a proxy: the proxy resolves the name"
        yield "", "MW391", message, "remove 'resolve' or 'proxy'"
    elif not (resolve.srv or resolve.file) and _is_ip_address(origin.host):
        message = f"{origin.host} is an address, not a name to resolve"
        yield "", "MW391", message, "write a name in 'url', or name a 'file' or 'srv'"
    if resolve.srv and resolve.file:
        yield "srv", "MW392", "'srv' and 'file' are both set", "keep one of them"
    if resolve.server and resolve.file:
        message = "'server' has no effect: the addresses are in a file"
        yield "server", "MW392", message, "remove 'server' or 'file'"
    elif resolve.server:
        try:
            dns_server(resolve.server)
        except ValueError:
            message = f"'{resolve.server}' is not the address of a DNS server"
            yield "server", "MW393", message, "write 127.0.0.1:8600, or [::1]:8600"


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _check_tls(tls: Tls | RedisTls, at: Path, config: Config, findings: Findings) -> None:
    """Check the files of the section `tls` at a path."""
    pair = (tls.certificate, tls.key or tls.certificate) if tls.certificate else None
    for key, ca, cert in (("ca", tls.ca, None), ("certificate", None, pair)):
        files = [file for file in (ca, *(cert or ())) if file is not None]
        if not files or not all(is_file(FilePath(file)) for file in files):
            continue  # missing files are already noted
        try:
            tls_context(ca, cert, verify=ca is not None)
        except OSError as error:
            reason = error.strerror if error.strerror in _NOT_READ else _TLS_FILES[key]
            _error(config, (*at, key), f"'{key}' cannot be used: {reason}", findings)


def _check_collectors(config: Config, findings: Findings) -> None:
    telemetry = config.telemetry
    for name, collector in (("traces", telemetry.traces), ("otlp_metrics", telemetry.otlp_metrics)):
        try:
            if collector is not None:
                origin_of(collector.url)
        except ValueError as error:
            message = str(error).replace("an upstream", "a collector")
            _error(config, ("telemetry", name, "endpoint"), message, findings)


def _check_stores(config: Config, findings: Findings) -> None:
    if config.invalid.has("stores", "*"):
        return
    _check_tls(config.stores.redis.tls, ("stores", "redis", "tls"), config, findings)
    places = {(p.file, p.line, p.column) for p in findings.unsorted}
    for at, message in _store_problems(config.stores):
        if place_of(config.source, at) not in places:
            _error(config, at, message, findings)


def _store_problems(stores: Stores) -> list[tuple[Path, str]]:
    """The problems and their paths. Messages never have the URL, which may have a password."""
    problems: list[tuple[Path, str]] = []
    if stores.records is not None and (message := _records_problem(stores.records)):
        problems.append((("stores", "records"), message))
    if stores.counters != "memory" and (message := _counters_problem(stores.counters)):
        problems.append((("stores", "counters"), message))
    if stores.records is not None and isfile(stores.journal):
        problems.append((("stores", "journal"), "'journal' must be a folder, not a file"))
    return problems


@lru_cache(maxsize=8)
def _records_problem(url: str) -> str:
    """In a child process: the master, from which workers are forked, needs no SQLAlchemy."""
    is_imported = "sqlalchemy" in sys.modules
    return _url_problem(url) if is_imported else run_in_child(_url_problem, url)


def _url_problem(url: str) -> str:
    from engine.stores.database.failures import BadUrl
    from engine.stores.database.open_database import open_database

    try:
        open_database(url).close()
    except BadUrl as error:
        return str(error)
    return ""


def _counters_problem(url: str) -> str:
    from engine.stores.counters.redis.address import DEFAULTS, parse

    try:
        parse(url, DEFAULTS)
    except ValueError as error:
        return str(error)
    return ""


def check_webhooks(config: Config, findings: Findings) -> None:
    """Note webhooks that cannot be called, or whose events could not be signed. No message shows a
    secret or a URL."""
    for webhook in config.webhooks.values():
        try:
            split_query(webhook.url)
        except ValueError as error:
            message = str(error).replace("an upstream", "a webhook")
            findings.error(config.source, (*webhook.at, "url"), "MW513", message)
        for secret in webhook.secrets:
            try:
                key_of(secret)
            except ValueError as error:
                findings.error(config.source, (*webhook.at, "secret"), "MW514", str(error), _HINT)
