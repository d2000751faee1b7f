"""The webhooks that guards ask, by their URLs or by the names of upstreams."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

from engine.config.upstreams import UpstreamConfig
from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.exchange.stage_services import GuardFailed
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import read_whole
from engine.upstream.targets.target import Upstream
from engine.values.upstream_request import UpstreamRequest

MAX_ANSWER = 2_000_000
"""Bytes of the answer of a webhook."""

_HEADERS = [("content-type", "application/json"), ("accept", "application/json")]
_POOL = 16


class HttpGuardCalls:
    """The webhooks of the guards of one worker. `verdicts` counts what they answered."""

    def __init__(
        self,
        configs: Mapping[str, UpstreamConfig],
        upstreams: Mapping[str, Upstream],
        client: Callable[..., Client],
    ) -> None:
        self.verdicts: Counter[tuple[str, str, str]] = Counter()
        self._upstreams = upstreams
        self._headers = {name: config.headers.set for name, config in configs.items()}
        self._new_client = client
        self._clients: dict[str, Client] = {}

    def note(self, webhook: str, stage: str, verdict: str) -> None:
        """Count a verdict."""
        self.verdicts[webhook, stage, verdict] += 1

    def post(self, webhook: str, body: bytes, timeout: float) -> bytes | None:
        """The body of the answer to a question. Raises GuardFailed."""
        start = time.monotonic()
        upstream = self._upstreams.get(webhook)
        client = self._client(webhook) if upstream is None else upstream.client
        extra_headers = self._headers.get(webhook, {})
        headers = [*_HEADERS, *((name.lower(), value) for name, value in extra_headers.items())]
        request = UpstreamRequest("POST", client.host, client.base_path or "/", "", headers, body)
        credential = None if upstream is None else upstream.credentials.take(start)
        try:
            if credential is not None:
                credential.apply(request, timeout)
            seconds = timeout - (time.monotonic() - start)
            return _answer(client, request, seconds)
        except CredentialUnavailable as missing:
            raise GuardFailed(missing.words) from missing
        except UpstreamFailure as failure:
            words = failure.without_traceback().words.replace("upstream", "webhook")
            raise GuardFailed(words) from None

    def _client(self, url: str) -> Client:
        if url not in self._clients:
            self._clients[url] = self._new_client(url, timeouts=Timeouts(), pool_size=_POOL)
        return self._clients[url]

    def close(self) -> None:
        """Close the connections to URLs."""
        for client in self._clients.values():
            client.close()


def _answer(client: Client, request: UpstreamRequest, timeout: float) -> bytes:
    """Raises UpstreamFailure and GuardFailed."""
    response = client.send(
        request.method, request.target, request.headers, request.body, max(timeout, 0.001)
    )
    body = read_whole(response, MAX_ANSWER)
    if body is None:
        raise GuardFailed(f"its answer has over {MAX_ANSWER} bytes")
    if response.status != 200:
        raise GuardFailed(f"it answered with status {response.status}")
    return body
