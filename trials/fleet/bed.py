"""The bed: the parts of a fleet, each started when a fault needs it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.values.caller import digest
from trials.fleet.load import Result, Target
from trials.fleet.network import Loopback, Namespaces, Network, NotOnLoopback
from trials.fleet.processes import Processes
from trials.fleet.report import Report
from trials.fleet.servers import replicas
from trials.fleet.servers.front import Front
from trials.fleet.servers.gateway import ROOT, Gateway
from trials.fleet.servers.names import Names
from trials.fleet.servers.postgres import Pair, Postgres, url
from trials.fleet.servers.redis import Cluster, Redis, Sentinels
from trials.fleet.servers.replicas import Replica
from trials.fleet.waiting import until

_PERIODS = ("hour", "day", "32 days")
"""Of the sums that `modelway usage` reads."""


class Bed:
    """A fleet in `folder`. `resolver` is the resolv.conf of its nodes, None on loopback.

    `close` ends all of its processes.
    """

    def __init__(self, folder: Path, resolver: Path | None) -> None:
        self.folder, self._resolver = folder, resolver
        self.network: Network = Loopback() if resolver is None else Namespaces(folder)
        self.processes = Processes()
        self.gateways: list[Gateway] = []
        self.replicas: list[Replica] = []

    def close(self) -> None:
        self.processes.close()

    def start_replicas(self, count: int = 8) -> list[Replica]:
        self.replicas = replicas.start(
            self.network, self.processes, self.folder / "replicas", count
        )
        return self.replicas

    def start_redis(self, keeps: bool = False) -> Redis:
        node = self.network.node("redis")
        return Redis(self.network, node, self.processes, self.folder / "redis", keeps=keeps)

    def start_sentinels(self) -> Sentinels:
        return Sentinels(self.network, self.processes, self.folder / "sentinels")

    def start_cluster(self) -> Cluster:
        return Cluster(self.network, self.processes, self.folder / "cluster")

    def start_postgres(self) -> Postgres:
        server = Postgres(
            self.network, self.network.node("pg1"), self.processes, self.folder / "pg1"
        )
        server.create()
        server.start()
        return server

    def start_pair(self) -> Pair:
        return Pair(self.network, self.processes, self.folder / "postgres")

    def start_names(self, system: bool = False) -> Names:
        """A name server, which the `system` of the nodes asks too. Raises NotOnLoopback."""
        if system and self._resolver is None:
            raise NotOnLoopback("the system asks name servers at port 53 only")
        return Names(self.network, self.processes, self.folder / "names", self._resolver)

    def start_gateways(self, config: Mapping[str, Any], count: int = 3) -> list[Gateway]:
        """So many instances with one config, ready."""
        for number in range(1, count + 1):
            node = self.network.node(f"gateway{number}")
            place = self.folder / node.name
            gateway = Gateway(self.network, node, self.processes, place, config)
            gateway.start(wait=number == 1)  # the first one makes the tables
            self.gateways.append(gateway)
        for gateway in self.gateways:
            gateway.wait()
        return self.gateways

    def start_front(self, reuse: bool = True) -> Front:
        place = self.folder / "front"
        return Front(self.network, self.processes, place, self.gateways, reuse)

    def config(
        self,
        stores: Mapping[str, Any] | None = None,
        *,
        upstreams: Mapping[str, Any] | None = None,
        upstream: Mapping[str, Any] | None = None,
        model: Mapping[str, Any] | None = None,
        tokens: Mapping[str, Mapping[str, Any]] | None = None,
        server: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """gateway.yaml of every instance: an upstream for each replica, or `upstreams`, with the
        keys of `upstream`, and the model `chat` that all of them serve, with those of `model`.
        The token `free` has no limits; `tokens` has more, by name, with theirs."""
        upstream_urls = upstreams or {
            replica.name: {"url": _url(replica)} for replica in self.replicas
        }
        base = {"provider": "vllm", **(upstream or {})}
        return {
            "version": 1,
            "server": {"workers": 2, **(server or {})},
            "stores": {"machines": 3, **(stores or {})},
            "specs": {"openai": {"document": f"{ROOT}/openapi/openai.yaml", "dialect": "openai"}},
            "upstreams": {name: {**base, **value} for name, value in upstream_urls.items()},
            "models": {
                "chat": {"to": [{"upstream": name} for name in upstream_urls], **(model or {})}
            },
            "routes": [
                {"operation": "openai.createChatCompletion", "model": "$request.body#/model"}
            ],
            "tokens": [
                {"name": name, "sha256": digest(secret(name)), **limits}
                for name, limits in {"free": {}, **(tokens or {})}.items()
            ],
        }


def through(front: Front | Gateway, token: str = "free", **options: Any) -> Target:
    """Callers of the load balancer, or of one instance, with a token's secret."""
    return Target(front.node.address, front.port, secret(token), **options)


def secret(token: str) -> str:
    """The secret of the token with that name."""
    return f"mw-{hashlib.sha256(token.encode()).hexdigest()}"


def records(servers: Sequence[Postgres]) -> str:
    """`stores.records` for a server, or for a primary and its standby."""
    return url(servers)


def check_ledger(report: Report, server: Postgres, results: Sequence[Result]) -> None:
    """Every finished request must be in the ledger once, 30 seconds after healing at the latest."""
    finished = {result.request_id for result in results if result.finished}

    def rows() -> Counter[object]:
        return Counter(row[0] for row in server.run("SELECT id FROM ledger"))

    try:
        seconds = until(lambda: finished <= rows().keys(), "every row is there")
    except TimeoutError:
        seconds = 30.0
    ledger = rows()
    missing = len(finished - ledger.keys())
    twice = sum(count > 1 for count in ledger.values())
    count = sum(ledger.values())
    text = f"{count:,} rows for {len(finished):,} finished requests: "
    text += f"{missing} missing, {twice} twice; complete {seconds:.1f} s after healing"
    report.law(missing == 0 and twice == 0, "ledger", text)
    sums = server.run("SELECT sum(requests)::bigint FROM ledger_totals GROUP BY period")
    totals = sorted(int(str(row[0])) for row in sums)
    text = f"{', '.join(f'{total:,}' for total in totals)} requests by hour, day and 32 days"
    report.law(totals == [count] * len(_PERIODS), "sums", text)


def _url(replica: Replica) -> str:
    return replica.node.url(replica.port, "/v1")
