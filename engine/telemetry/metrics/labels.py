"""The labels of requests, which the groups of metrics share.

Callers cannot add values of labels: `operation` is one of the config ("" for a request that matched
none), `model` a name or wildcard under `models` ("" for none), `upstream` a name under `upstreams`.
Names of OpenTelemetry's semantic conventions for GenAI are written in Prometheus's form:
`gen_ai.client.token.usage` is `gen_ai_client_token_usage`.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Dialect

OTHER = "other"
"""The labels of requests for which there is no room."""

log = logging.getLogger("modelway")


class SeriesLabels(NamedTuple):
    """Label values of requests with the same operation, models and upstream. `combination` are
    operation, requested model and upstream; `gen_ai` are operation, provider and model of
    OpenTelemetry's conventions."""

    combination: tuple[str, str, str]
    served_model: str
    currency: str
    gen_ai: tuple[str, str, str]

    @property
    def operation(self) -> str:
        return self.combination[0]

    @property
    def model(self) -> str:
        """The requested one."""
        return self.combination[1]

    @property
    def upstream(self) -> str:
        return self.combination[2]

    def others(self, dialect: Dialect) -> SeriesLabels:
        """The labels of the series that is shared by all requests of a dialect for which there is
        no room. Names of the conventions stay; the config's are `other`."""
        own_name = self.operation.partition(".")[2] or self.operation
        gen_ai_operation, provider, model = self.gen_ai
        return SeriesLabels(
            combination=(OTHER, self.model and OTHER, self.upstream and OTHER),
            served_model=self.served_model and OTHER,
            currency=self.currency,
            gen_ai=(
                OTHER if gen_ai_operation == own_name else gen_ai_operation,
                provider and dialect.gen_ai_provider(OTHER),
                model and OTHER,
            ),
        )


class SeriesRoom:
    """The room for series: `most` combinations of operation, model and upstream, the first ones
    that are asked for, and as many that reach no upstream, so that refused requests take no room
    from others. `used` are those that the files have already."""

    def __init__(self, most: int, used: Iterable[tuple[str, ...]]) -> None:
        self._most = most
        self._used: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
        self._is_logged = False
        for combination in used:
            self._used[bool(combination[-1])].add(combination)

    def take(self, labels: SeriesLabels) -> bool:
        """Whether there is room for the labels, which they keep."""
        combination = labels.combination
        used = self._used[bool(combination[-1])]
        if combination in used:
            return True
        if len(used) < self._most:
            used.add(combination)
            return True
        if not self._is_logged:
            self._is_logged = True
            log.warning(
                "more than %d combinations of operation, model and upstream were asked for: "
                "until the gateway is started again, metrics count further ones as '%s' "
                "(telemetry.series)",
                self._most,
                OTHER,
            )
        return False


class NameRoom:
    """The room for the names of one kind: the first `most` that are asked for, of which the files
    have the `used` ones already."""

    def __init__(self, most: int, used: Iterable[Hashable]) -> None:
        self._most = most
        self._used = {*used}

    def takes(self, name: Hashable) -> bool:
        """Whether there is room for a name, which it keeps."""
        if name not in self._used:
            if len(self._used) >= self._most:
                return False
            self._used.add(name)
        return True


def labels_of(exchange: Exchange, currency: str) -> SeriesLabels:
    """The labels of the series that an exchange belongs to."""
    record = exchange.record
    model, upstream = record.requested_entry, record.upstream
    provider = exchange.dialect.gen_ai_provider(upstream) if model else ""
    return SeriesLabels(
        combination=(exchange.operation, model, upstream),
        served_model=record.served_entry or model,
        currency=currency,
        gen_ai=(exchange.dialect.gen_ai_operation(exchange.operation), provider, model),
    )
