"""Lists of objects: a caller sees its own. The pages of all accounts are read for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.exchange.exchange import Exchange, Response
from engine.exchange.opened_ids import Holder
from engine.upstream.forward import Forward
from engine.upstream.objects.list_walk import ListWalk
from engine.upstream.objects.object_forward import (
    ObjectForward,
    with_credential,
)
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.targets.target import Target


class ListForward(ObjectForward):
    """The last handler of a list. Its pages are those of vendors without what is not the caller's,
    filled up from MAX_PAGES of them. Raises GatewayError 503 if the caller has nothing in so many,
    as no cursor could go on from there."""

    def __call__(self, exchange: Exchange) -> Response:
        opened, lists = exchange.objects, self.objects.facts.lists
        if opened is None or lists is None:
            return super().__call__(exchange)
        query = exchange.query
        targets = _by_holder(self.all_targets(exchange))
        walk = ListWalk(self.objects, lists, exchange, opened, targets, self._fetch)
        try:
            return walk.run()
        finally:
            exchange.query = query

    def _fetch(self, exchange: Exchange) -> Response:
        """A page of the vendor as it is."""
        return Forward.__call__(self, exchange)

    def _respond(self, last: AttemptResult, exchange: Exchange, deadline: float) -> Response:
        opened = exchange.objects
        assert opened is not None
        opened.sealer = self.response_sealer(last, exchange, opened, looks=False)
        return Forward._respond(self, last, exchange, deadline)


def _by_holder(targets: Iterable[Target]) -> dict[Holder, list[Target]]:
    """The targets of each account. Accounts are in the same order for each request, because a
    walk goes on from a cursor."""
    by_holder: dict[Holder, list[Target]] = {}
    for target in targets:
        for index in range(max(len(target.upstream.credentials), 1)):
            by_holder.setdefault(Holder(target.upstream.name, index), []).append(target)
    return {
        holder: [_at(target, holder.credential) for target in of_upstream]
        for holder, of_upstream in sorted(by_holder.items(), key=lambda item: item[0])
    }


def _at(target: Target, credential: int) -> Target:
    upstream = with_credential(target.upstream, credential)
    return target if upstream is target.upstream else replace(target, upstream=upstream)
