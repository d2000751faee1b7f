"""`server:` of gateway.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from engine.config import hints, keys
from engine.config.keys import default
from engine.source.problem import Findings, Path, Source
from engine.source.reader import SourceDocument
from engine.values.client_address import Network, networks
from engine.values.trees import Section

_HOST = re.compile(r"[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\]")


class Server(Struct, frozen=True):
    """The listener of the API, its limits and timeouts. During shutdown the gateway accepts
    connections for `delay` more seconds, then lets requests continue for `grace` seconds."""

    listen: str = default("server.listen")
    workers: int = default("server.workers")
    connections: int = default("server.connections")
    max_body: int = default("server.max_body")
    body_timeout: float = default("server.body_timeout")
    keepalive: float = default("server.keepalive")
    delay: float = field(default=default("server.drain.delay"), name="drain.delay")
    grace: float = field(default=default("server.drain.grace"), name="drain.grace")
    reuse_port: bool = default("server.reuse_port")
    debug_headers: bool = default("server.debug_headers")
    trusted_proxies: tuple[Network, ...] = ()
    watch: bool = default("server.watch")
    base_url: str = ""
    request_timeout: float = default("server.request_timeout")
    stuck_after: float = default("server.stuck_after")
    heavy_processes: int = field(default=default("server.heavy.processes"), name="heavy.processes")
    heavy_above: int = field(default=default("server.heavy.above"), name="heavy.above")
    heavy_queue: int = field(default=default("server.heavy.queue"), name="heavy.queue")


def read_server(section: Section, source: SourceDocument, findings: Findings) -> Server:
    """`server:`; the problems of its values go to the findings."""
    values = dict(section)
    if "base_url" in values:
        values["base_url"] = values["base_url"].rstrip("/")
    if "trusted_proxies" in values:
        at = ("server", "trusted_proxies")
        values["trusted_proxies"] = read_networks(values["trusted_proxies"], at, source, findings)
    _check_listen(values.get("listen", ""), source, findings)
    drain = values.pop("drain", {})
    if "grace" in drain and "grace" in values:
        message = "'server.grace' and 'server.drain.grace' are the same key"
        findings.error(
            source, ("server", "grace"), "MW398", message, "remove one of them", key=True
        )
    heavy = {f"heavy_{name}": value for name, value in values.pop("heavy", {}).items()}
    server = Server(**values | drain | heavy)
    if server.reuse_port and server.listen.startswith("unix:"):
        message = "a Unix socket in 'listen' cannot be shared by 'reuse_port'"
        hint = "remove it: a gateway that starts takes over the path of the socket"
        findings.error(source, ("server", "reuse_port"), "MW399", message, hint, key=True)
    return server


def _check_listen(address: str, source: SourceDocument, findings: Findings) -> None:
    host = address.rpartition(":")[0]
    if address.startswith("unix:/") or _HOST.fullmatch(host):
        return
    message = "'listen' has no valid host before its port"
    at, schema = ("server", "listen"), keys.find("server.listen").schema
    hint = hints.hint("listen", address, schema, ["string"])
    if source.reference(at):
        hint = hints.example(schema, ["string"])
    findings.error(source, at, "MW104", message, hint)


def read_networks(
    texts: Iterable[str], at: Path, source: Source, findings: Findings
) -> tuple[Network, ...]:
    """The valid networks of the list at `at`; invalid ones go to the findings."""
    valid: list[Network] = []
    for index, text in enumerate(texts):
        try:
            valid += networks([text])
        except ValueError as error:
            findings.error(source, (*at, index), "MW104", str(error))
    return tuple(valid)
