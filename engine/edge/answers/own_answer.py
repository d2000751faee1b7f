"""The interface of the gateway's own answers: `OwnAnswer`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from engine.dialects import Dialect
from engine.edge.answers.visible_models import VisibleModels
from engine.exchange.exchange import Handler
from engine.exchange.stage_services import ClientSecretKeys
from engine.stores.usage_query import UsageQuery
from engine.values.caller import Caller


class SessionRoute(NamedTuple):
    """A route whose sessions client secrets open: its operation, and the model of a request that
    names none, "" for no such model."""

    operation: str
    default_model: str


class UsageOf(Protocol):
    """The usage of callers, as JSON. Both raise GatewayError."""

    def sums(self, caller: Caller, query: UsageQuery, /) -> Mapping[str, Any]:
        """The limits of a caller, and the sums of the query."""
        ...

    def requests(self, caller: Caller, after: str, limit: int, /) -> Mapping[str, Any]:
        """The last requests of a caller, those after the one with that id."""
        ...


class AnswerSources(Struct, frozen=True):
    """What the handler of an own answer is made from: the models of the worker's lists, the
    dialects of the route, its operation's own last, and the first variable of its path, "" without
    one.

    `client_secrets` seals client secrets, None without keys in the config; they open the sessions
    of `session_routes`. `clock` gives Unix seconds. `socket` is the handler of a WebSocket whose
    messages are requests, None for any other operation. `usage` says what a caller has used."""

    visible_models: VisibleModels
    dialects: Sequence[Dialect]
    variable: str = ""
    client_secrets: ClientSecretKeys | None = None
    clock: Callable[[], float] = time.time
    session_routes: Sequence[SessionRoute] = ()
    socket: Handler | None = None
    usage: UsageOf | None = None


class OwnAnswer(Struct, frozen=True):
    """An answer of the gateway's own: operators write `answer: NAME` at a route.

    `summary` completes "The gateway answers itself" in the schema and in the reference of keys.
    `handler` makes the handler; routes with the same dialects and variable share it.

    `in_every_dialect`: callers ask for it in each dialect, so operations of several documents may
    have one path. `has_slash_variables`: the variables of its paths may contain slashes.
    `is_websocket`: its operation is a WebSocket, whose messages are requests of the POST of the
    same path. `is_free`: its requests take from no limit, none refuses them, and they have no entry
    in the ledger. `is_for_pages`: a page of the console asks for it, also with a session in place
    of a token.
    """

    name: str
    summary: str
    handler: Callable[[AnswerSources], Handler]
    in_every_dialect: bool = False
    has_slash_variables: bool = False
    is_websocket: bool = False
    is_free: bool = False
    is_for_pages: bool = False
