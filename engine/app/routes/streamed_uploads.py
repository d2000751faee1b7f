"""Which routes send large uploads on as they arrive, and which receive them first."""

from __future__ import annotations

from functools import partial

from engine import credentials
from engine.app.routes.worker_parts import Parts
from engine.exchange.exchange import Stage
from engine.plan.route import Route
from engine.stages.stream_body import StreamedFile, stream_body
from engine.stages.validate import Checks


def streaming_stages(route: Route, checks: Checks, parts: Parts) -> list[Stage]:
    """Sends the file of an upload on as it arrives, on routes where nothing needs it before."""
    file = _streamed_file(route)
    if file is None or checks.bodies is None or checks.edits or not _sends_once(route, parts):
        return []
    if parts.opener is not None:
        from engine.app.routes.batch_stages import upload_rules

        if (rules := upload_rules(route, parts)) is not None:
            return [stream_body(file, checks, rules.keeps)]
    settings = file, checks.bodies, checks.mode
    return [parts.shared.once("stream", settings, partial(stream_body, file, checks))]


def _streamed_file(route: Route) -> StreamedFile | None:
    """The file of the route's requests, None if bodies are received first."""
    facts, form = route.objects, route.dialects[-1].batches
    if facts is None or facts.streams is None:
        return None
    places = [place for place in facts.names if place.location == "body"]
    marked = [mark.at for mark in facts.marks if mark.at is not None]
    first = {place.steps[0] for place in (*places, *marked)} - {facts.streams}
    if "requests" not in facts.batch or form is None:
        return StreamedFile(facts.streams, frozenset(first))
    purpose, words = form.purpose, frozenset(form.purposes)
    return StreamedFile(facts.streams, frozenset(first | {purpose}), purpose, words)


def _sends_once(route: Route, parts: Parts) -> bool:
    """Whether a body is read once, from its beginning to its end: by one attempt at one target,
    with a credential that signs nothing. An object in the path chooses these alone."""
    if route.model is not None or route.hedge is not None or route.guards.written:
        return False
    upstreams = [parts.plan.config.upstreams[to.upstream] for to in route.to]
    names = () if route.objects is None else route.objects.names
    in_path = any(place.location == "path" for place in names)
    is_alone = len(route.to) == 1 and len(upstreams[0].credentials) < 2
    edits = any(to.transform for to in route.to) or any(each.transform for each in upstreams)
    signs = any(
        credentials.KINDS.get(credential.kind).reads_body
        for each in upstreams
        for credential in each.credentials
    )
    return (is_alone or in_path) and not edits and not signs
