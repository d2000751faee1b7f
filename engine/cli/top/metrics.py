"""The metrics of a running gateway, read from its `/metrics`."""

from __future__ import annotations

import time

from engine.config.listen_address import ListenAddress
from engine.console.activity.metrics_change import Snapshot, parse_samples
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure

_TIMEOUT = 5.0


class MetricsUnavailable(Exception):
    """The metrics cannot be read; `str` says why, and what to do."""


class MetricsSource:
    """The metrics at a URL. Raises MetricsUnavailable for an invalid URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            # The proxy of the environment is not used: it is for remote hosts.
            self._client = Client(
                url, timeouts=Timeouts(*[_TIMEOUT] * 4), pool_size=1, proxy="", environ={}
            )
        except ValueError as error:
            message = f"{url}: {error}".replace("an upstream", "a gateway")
            raise MetricsUnavailable(message) from error
        self._path = self._client.base_path or "/metrics"

    def read(self) -> Snapshot:
        """The metrics now. Raises MetricsUnavailable."""
        status, body = self._get()
        if status == 403:
            raise MetricsUnavailable(
                f"{self.url} refuses its metrics to this machine (403): "
                "add its address to telemetry.allow_ips of the gateway"
            )
        if status != 200:
            raise MetricsUnavailable(
                f"there are no metrics at {self.url} ({status}): it is not Modelway, or its "
                "metrics have another address (telemetry.listen) or path (telemetry.metrics)"
            )
        try:
            samples = parse_samples(body.decode("utf-8", "replace"))
        except ValueError:
            samples = {}
        if not samples:
            raise MetricsUnavailable(
                f"{self.url} has no metrics of Modelway: it is another program"
            )
        return Snapshot(time.monotonic(), samples)

    def _get(self) -> tuple[int, bytes]:
        try:
            response = self._client.send("GET", self._path, [("accept", "text/plain")], None)
            body = b""
            try:
                while data := response.read():
                    body += data
            finally:
                response.close()
        except UpstreamFailure as failure:
            reason = failure.message.replace("the upstream", "it")
            raise MetricsUnavailable(
                f"cannot reach {self.url}; is the gateway running? ({reason})"
            ) from failure
        return response.status, body


def metrics_url(listen: str, path: str) -> str:
    """The URL of the metrics of a gateway on this machine that listens on this address."""
    if listen.startswith("unix:"):
        socket = listen.removeprefix("unix:").replace("/", "%2F")
        return f"http+unix://{socket}{path}"
    return f"{ListenAddress.parse(listen).url}{path}"
