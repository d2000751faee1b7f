"""Forward requests for objects: only to where they live, with ids that are sealed again in the
response."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from msgspec import Struct

from engine.config.server import Server
from engine.dialects import Dialect
from engine.edge.origin import base_of
from engine.exchange.exchange import Exchange, Response
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.exchange.requested_model import RequestedModel
from engine.objects.batches.batch_results import ResultCounter, ResultLines
from engine.objects.batches.batch_route import BatchRoute
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener, holder_name, not_found, vendor_ids
from engine.objects.response_ids import ResponseSealer, SealedLines, SealedPlaces, with_names
from engine.objects.session_ids import SessionIds, has_messages
from engine.relay.response_headers import STALE_HEADERS
from engine.transforms.edited_body import edit_response
from engine.upstream.forward import Forward
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.target import Target, Upstream
from engine.upstream.targets.upstream_url import UpstreamUrl
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from engine.values.media_types import is_json


class ObjectRoute(Struct, frozen=True):
    """What a route with objects needs: the facts of its operation, what opens ids, whose objects
    are (`objects.owner`), the server whose addresses responses have, and what it does with batches,
    None for nothing."""

    facts: ObjectFacts
    opener: IdOpener
    owner: str
    server: Server
    batches: BatchRoute | None = None


class ObjectForward(Forward):
    """The last handler of a route whose requests or responses have ids of objects. A request that
    names some is sent to their upstream alone, with their credential. Raises GatewayError 400 if
    that is no target of the route or model."""

    def __init__(self, *arguments: Any, objects: ObjectRoute, dialect: Dialect, **options: Any):
        super().__init__(*arguments, dialect=dialect, **options)
        # For requests that neither name nor make objects.
        self._plain = Forward(*arguments, dialect=dialect, **options)
        self._hedging = self._plain._hedging  # the answer times of all requests
        self.objects = objects
        self._places = SealedPlaces(objects.facts, dialect.json_name)
        otherwise = objects.facts.otherwise
        self._makes_others = bool(otherwise.creates)
        self._other_places = SealedPlaces(otherwise, dialect.json_name)

    def __call__(self, exchange: Exchange) -> Response:
        opened = exchange.objects
        if opened is None:
            return self._plain(exchange)
        if opened.holder is not None:
            set_targets(exchange, self.targets_at(opened.holder, opened.kind, exchange))
        elif opened.batch is not None:
            names = opened.batch.upstreams
            set_targets(
                exchange, [t for t in self.all_targets(exchange) if t.upstream.name in names]
            )
        return super().__call__(exchange)

    def all_targets(self, exchange: Exchange) -> Sequence[Target]:
        """The targets of a request, wherever its objects are."""
        return cast(Sequence[Target], exchange.model.targets) or self._fixed.order(exchange)

    def targets_at(self, holder: Holder, kind: str, exchange: Exchange) -> list[Target]:
        """The targets of a request at a holder, with its credential alone. Raises GatewayError 400
        without one, 404 if the credential was removed."""
        targets = [t for t in self.all_targets(exchange) if t.upstream.name == holder.upstream]
        if not targets:
            raise elsewhere(holder, kind, exchange)
        upstream = with_credential(targets[0].upstream, holder.credential)
        return [replace(t, upstream=upstream) if upstream is not t.upstream else t for t in targets]

    def _respond(self, last: AttemptResult, exchange: Exchange, deadline: float) -> Response:
        opened = exchange.objects
        assert opened is not None
        try:
            response = super()._respond(last, exchange, deadline)
        except GatewayError as error:
            error.message = with_names(error.message.encode(), [*vendor_ids(opened)]).decode()
            raise
        if response.status >= 400:
            _hide_vendor_ids(response, opened)
        elif exchange.upgrade is not None:
            opened.sealer = sealer = self.response_sealer(last, exchange, opened)
            response.headers = sealer.headers(response.headers)
        elif opened.creates or self._makes_others:
            self.seal(response, exchange, self.response_sealer(last, exchange, opened))
        return response

    def session_edits(self, exchange: Exchange) -> SessionIds | None:
        """The ids in the messages of a session that has begun; None where they have none."""
        opened, objects = exchange.objects, self.objects
        if opened is None or opened.sealer is None or not has_messages(objects.facts):
            return None
        sealer: ResponseSealer = opened.sealer
        json_name = self._dialect.json_name
        return SessionIds(
            *(objects.facts, objects.opener, sealer, opened.owner, sealer.holder), json_name
        )

    def response_sealer(
        self, result: AttemptResult, exchange: Exchange, opened: OpenedIds, *, looks: bool = True
    ) -> ResponseSealer:
        """What seals the ids of a response for the caller of its request, and looks at it for
        batches."""
        upstream, holder = result.target.upstream, self.holder_of(result, opened, exchange)
        batches = self.objects.batches
        return ResponseSealer(
            self._places if opened.creates else self._other_places,
            self.objects.opener.sealer,
            opened.owner,
            holder,
            partial(_gateway_address, upstream.url, result.path, exchange, self.objects.server),
            exchange.variable,
            None if batches is None or not looks else batches.look(exchange, opened, holder),
        )

    def holder_of(self, result: AttemptResult, opened: OpenedIds, exchange: Exchange) -> Holder:
        """Where the objects of a response live."""
        upstream = result.target.upstream
        return opened.holder or Holder(upstream.name, credential_index(upstream, result.credential))

    def seal(self, response: Response, exchange: Exchange, sealer: ResponseSealer) -> None:
        """Seal the ids of a response, whatever form its body has."""
        kind = next((value for name, value in response.headers if name == "content-type"), "")
        if exchange.method != "HEAD" and 200 <= response.status < 300 and response.status != 204:
            counter = self._counter(exchange, sealer.holder, kind)
            is_lines = counter is not None or sealer.edits_lines(kind)
            if response.status == 206 and (is_lines or sealer.edits_body("GET", 200, kind)):
                raise _part()
            if is_lines:
                if counter is not None:
                    _refuse_coding(response)
                response.headers = sealer.headers(_without_length(response.headers))
                edit = sealer.line if counter is None else ResultLines(sealer, counter)
                pieces = [response.body] if isinstance(response.body, bytes) else response.body
                response.body = _begun(_pieces(pieces, SealedLines(edit), counter))
                return
        edit_response(exchange, response, sealer)

    def _counter(self, exchange: Exchange, holder: Holder, kind: str) -> ResultCounter | None:
        """What counts the results of batches in a response of this Content-Type, None if it has
        none."""
        opened, batches = exchange.objects, self.objects.batches
        if opened is None or batches is None:
            return None
        if batches.is_in_body(opened) and not is_json(kind):
            message = "The upstream's results cannot be read: they are not the JSON of a batch."
            raise GatewayError(502, "upstream_error", message)
        return batches.line_counter(exchange, opened, holder)


def set_targets(exchange: Exchange, targets: Sequence[Target]) -> None:
    """Let a request have these targets only."""
    if exchange.model.name:
        exchange.model.targets = targets
    else:
        exchange.model = RequestedModel(targets=targets)


def with_credential(upstream: Upstream, index: int) -> Upstream:
    """The upstream with one of its credentials; itself if it has no other. Raises GatewayError 404
    for one that was removed."""
    credentials = [*upstream.credentials]
    if index >= max(len(credentials), 1):
        raise not_found()
    if len(credentials) < 2:
        return upstream
    alone = copy.copy(upstream)
    alone.credentials = Credentials([credentials[index]])
    return alone


def credential_index(upstream: Upstream, credential: object) -> int:
    """The index of a credential at its upstream, 0 without any."""
    indexes = (index for index, each in enumerate(upstream.credentials) if each is credential)
    return next(indexes, 0)


def elsewhere(holder: Holder, kind: str, exchange: Exchange) -> GatewayError:
    """400: the objects of a request live where it is not served."""
    model, place = exchange.model.name, holder_name(holder)
    if model:
        message = f"The {kind} of this request lives at {place}, where '{model}' is not served."
    else:
        message = f"The {kind} of this request lives at {place}, which does not serve this."
    return GatewayError(400, "object_of_another_upstream", message)


def _gateway_address(
    upstream: str, path: str, exchange: Exchange, server: Server, url: str
) -> str | None:
    """A URL of an upstream as a URL of this gateway; None if it is not below the upstream's."""
    below = UpstreamUrl(upstream).rewrite(url, path, exchange.mount)
    return None if below is None else base_of(exchange, server) + below


def _hide_vendor_ids(response: Response, opened: OpenedIds) -> None:
    """Write the caller's ids in an error of the vendor that repeats its own."""
    names = [*vendor_ids(opened)]
    if names and isinstance(response.body, bytes):
        response.body = with_names(response.body, names)
        response.headers = _without_length(response.headers)


def _without_length(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in headers if pair[0] not in STALE_HEADERS - {"content-encoding"}]


def _part() -> GatewayError:
    """502 for a part of what has ids or results, which cannot be told there."""
    message = "The upstream sent a part of its answer (206), in which ids cannot be sealed."
    return GatewayError(502, "upstream_error", message)


def _refuse_coding(response: Response) -> None:
    """Raises GatewayError 502 for results in a coding for which the gateway has not asked."""
    coding = next((value for name, value in response.headers if name == "content-encoding"), "")
    if coding not in ("", "identity"):
        message = "The upstream's results cannot be read: their Content-Encoding was not asked for."
        raise GatewayError(502, "upstream_error", message)


def _pieces(pieces: Any, lines: SealedLines, counter: ResultCounter | None) -> Iterator[bytes]:
    """The edited pieces of a body. Results are counted before they are passed on."""
    feed: Callable[[bytes], bytes] = lines.feed
    for piece in pieces:
        data = feed(piece)
        if counter is not None:
            counter.flush()
        if data:
            yield data
    data = lines.finish()
    if counter is not None:
        counter.flush()
    if data:
        yield data


def _begun(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, of which the first is made now, so that its error is a response. A later one cuts
    the connection."""
    first = next(pieces, b"")

    def rest() -> Iterator[bytes]:
        yield first
        try:
            yield from pieces
        except GatewayError as error:
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, error.message) from error

    return rest()
