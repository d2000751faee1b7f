"""One answer of an upstream on its way to the caller: attempted, relayed and metered."""

from __future__ import annotations

import json
import time
from typing import Any

from engine import dialects
from engine.config.transforms import TransformConfig
from engine.config.upstreams import BreakerConfig
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.exchange import Exchange, Response
from engine.exchange.push_stream import PushStream
from engine.exchange.request_body import Body
from engine.exchange.stage_services import Services
from engine.stages.meter import meter
from engine.translations import language
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import Translation
from engine.upstream.attempts.attempt import attempt
from engine.upstream.requests.build_request import build_request
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.relay_response import relay
from engine.values.errors import AbortConnection
from engine.values.usage import Takes
from tests.support.exchanges import new_exchange
from tests.support.upstreams import WATCHER, Client, FakeResponse, returned_headers, upstream

KEY = "sk-live-0123456789abcdef"
CREDENTIAL = HeaderCredential("header", "authorization", f"Bearer {KEY}")


class Answered:
    """What a caller of `dialect` gets of a response in these pieces, and the records of it.

    `crossing` are the languages of the caller and of the upstream, where they differ; `edits` are
    those of the upstream's transform for responses.
    """

    def __init__(
        self,
        dialect: str,
        headers: Any,
        *pieces: Any,
        body: Any = None,
        path: str = "/v1/chat/completions",
        query: str = "",
        crossing: tuple[str, str] | None = None,
        heartbeat: float | None = None,
        edits: Any = None,
    ) -> None:
        value = {"model": "m", "stream": True} if body is None else body
        data = json.dumps(value).encode()
        self.exchange = exchange = new_exchange(
            *("POST", path, query),
            value=value,
            body=Body(data),
            media_type="application/json",
            model="m",
            dialect=dialects.get(dialect),
        )
        self._crossing, self._data = crossing, data
        client = Client(FakeResponse(200, headers, pieces))
        self._target = upstream(
            client, breaker=BreakerConfig(failures=1), credentials=[CREDENTIAL], heartbeat=heartbeat
        ).target("m", 1, transform=[TransformConfig({"response": edits}, ())] if edits else ())
        self.result: AttemptResult | None = None
        spoken = dialects.get(dialect)
        stage = meter(spoken, Takes(usage_option=spoken.usage_option is not None), Services())
        response = stage(exchange, self._respond)
        self.status, self.headers = response.status, dict(response.headers)
        self.kind = self.headers.get("content-type", "")
        self.pieces: list[bytes] = []
        self.cut = False
        self._receive(response)
        exchange.end()
        self.data = b"".join(self.pieces)
        record = exchange.record
        self.outcome, self.usage, self.is_stream = record.outcome, record.usage, record.stream
        self.opened = self._target.state.breaker.wait(time.monotonic()) > 0

    @property
    def failure(self) -> str:
        """The class of the failure of the attempt."""
        assert self.result is not None
        return self.result.failure

    @property
    def events(self) -> list[Any]:
        """The JSON of the events that the caller got; a text for data that is none."""
        lines = self.data.replace(b"\r\n", b"\n").split(b"\n")
        data = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        return [
            json.loads(each) if each[:1] in b"{[" and each != b"[DONE]" else each for each in data
        ]

    def _respond(self, exchange: Exchange) -> Response:
        dialect: Any = exchange.dialect
        request = build_request(self._target, exchange, self._target.upstream.headers(()), None)
        translated = None
        if self._crossing is not None:
            caller, other = map(language, self._crossing)
            line = RequestLine(model="m", id="r", query=exchange.query, stream=bool(exchange.query))
            translated = Translation(caller, other).request(self._data, line, "m", LossRules())
        result = self.result = attempt(
            self._target, CREDENTIAL, request, exchange, dialect, 9.0, translated
        )
        if result.failure:
            return Response(502, [], b"")
        headers = returned_headers(result, dialect)
        return relay(result, headers, exchange, dialect, WATCHER)

    def _receive(self, response: Response) -> None:
        body = response.body
        if isinstance(body, bytes):
            self.pieces.append(body)
            return
        if isinstance(body, PushStream):
            body.pipeline.try_send = lambda data: self.pieces.append(data) is None
        try:
            self.pieces.extend(body)
        except AbortConnection:
            self.cut = True
