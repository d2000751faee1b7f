"""haproxy in front of the gateways: callers know its address only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trials.fleet.network import Network
from trials.fleet.processes import Processes
from trials.fleet.servers.gateway import Gateway
from trials.fleet.waiting import accepts, until

INSTANCE = "x-instance"
"""The response header that names the gateway that answered."""
_CONFIG = """
global
    maxconn 4000
    nbthread 1
defaults
    mode http
    timeout connect 1s
    timeout client 120s
    timeout server 120s
    timeout http-keep-alive 120s
    # By default a check ends with its interval, so that on a busy machine no gateway counts as up.
    timeout check 3s
    retries 3
    # A request that no gateway has got may go to another one; no other is sent twice.
    retry-on conn-failure
    option redispatch 1
    {option}
frontend callers
    bind {address}:{port}
    default_backend gateways
backend gateways
    balance roundrobin
    option httpchk GET /readyz
    http-response set-header x-instance %s
    default-server check inter 300ms fall 1 rise 1
{servers}
"""


class Front:
    """The load balancer on a node of its own. Unless it is to `reuse` connections to gateways, each
    request has its own: one that is kept may belong to a gateway that was killed, and haproxy
    neither sends a request again that such a connection took, nor answers it."""

    def __init__(
        self,
        network: Network,
        processes: Processes,
        folder: Path,
        gateways: Sequence[Gateway],
        reuse: bool,
    ) -> None:
        folder.mkdir()
        self.node = network.node("front")
        self.port = network.port(self.node, 8080)
        servers = "\n".join(
            f"    server {g.node.name} {g.node.address}:{g.port} port {g.telemetry}"
            for g in gateways
        )
        file = folder / "haproxy.cfg"
        option = "option http-keep-alive" if reuse else "option http-server-close"
        address = {"address": self.node.address, "port": self.port}
        file.write_text(_CONFIG.format(**address, servers=servers, option=option))
        words = [*self.node.prefix, "haproxy", "-f", str(file), "-db"]
        self.process = processes.start(words, folder, folder / "log")
        until(lambda: accepts(self.node.address, self.port), "haproxy accepts")
