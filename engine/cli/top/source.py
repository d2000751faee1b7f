"""Asking a gateway for its metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from prometheus_client.parser import text_string_to_metric_families

from engine.cli.top.change import Look, Samples
from engine.upstream.client.client import Client, Timeouts
from engine.upstream.client.failures import UpstreamFailure

_PATIENCE = 5.0
_PREFIX = "modelway_"


class Refused(Exception):
    """There are no metrics to be had; `str` says why and what to do."""


class Source:
    """The metrics at a URL. Raises Refused for a URL that is none."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.url = url
        self._clock = clock
        try:
            # Asked directly: a proxy of the environment is for what is far away.
            self._client = Client(
                url, timeouts=Timeouts(*[_PATIENCE] * 4), pool_size=1, proxy="", environ={}
            )
        except ValueError as error:
            raise Refused(f"{url}: {error}".replace("an upstream", "a gateway")) from error
        self._target = self._client.base_path or "/metrics"

    def look(self) -> Look:
        """What the metrics say now. Raises Refused."""
        try:
            answer = self._client.send("GET", self._target, [("accept", "text/plain")], None)
            body = b""
            try:
                while data := answer.read():
                    body += data
            finally:
                answer.close()
        except UpstreamFailure as failure:
            why = failure.message.replace("the upstream", "it")
            raise Refused(f"cannot reach {self.url}; is the gateway running? ({why})") from failure
        if answer.status == 403:
            raise Refused(
                f"{self.url} refuses its metrics to this machine (403): "
                "add its address to telemetry.allow_ips of the gateway"
            )
        if answer.status != 200:
            raise Refused(
                f"there are no metrics at {self.url} ({answer.status}): it is no Modelway, "
                "or they stand at another address (telemetry.listen) or path (telemetry.metrics)"
            )
        try:
            samples = samples_of(body.decode("utf-8", "replace"))
        except ValueError:
            samples = {}
        if not samples:
            raise Refused(f"{self.url} has no metrics of Modelway: it is another program")
        return Look(self._clock(), samples)


def samples_of(text: str) -> Samples:
    """Modelway's samples in Prometheus's text format. ValueError for any other text."""
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith(_PREFIX):
                found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def url_of(listen: str, path: str) -> str:
    """The address of the metrics of a gateway on this machine, by the address it listens on."""
    if listen.startswith("unix:"):
        socket = listen.removeprefix("unix:").replace("/", "%2F")
        return f"http+unix://{socket}{path}"
    host, _, port = listen.rpartition(":")
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]", "*": "127.0.0.1"}.get(  # noqa: S104
        host, host
    )
    return f"http://{host}:{port}{path}"
