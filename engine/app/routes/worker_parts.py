"""The parts that all routes of a worker share: upstreams, the catalog of models, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from engine.app.routes.guard_calls import HttpGuardCalls
from engine.app.routes.stage_cache import StageCache
from engine.app.routes.upstreams import upstreams_of
from engine.app.services.plan_needs import is_guarded, is_metered
from engine.config.config import Config
from engine.config.console import PLAYGROUND
from engine.config.listed_models import ListedModels
from engine.config.models import Choice, Model, TargetConfig
from engine.credentials.interface.credential import OpenCredential
from engine.edge.answers.visible_models import VisibleModels
from engine.edge.cors import Cors
from engine.edge.falcon_responder import Responders
from engine.edge.inside_call import InsideCalls
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.origin import SameOrigin
from engine.exchange.disconnect_watcher import DisconnectWatcher
from engine.exchange.exchange import Stage
from engine.exchange.stage_services import NoGuardCalls, Services
from engine.guardrails.guard import verdict_collector
from engine.objects.batches.batch_records import BatchRecords
from engine.objects.batches.batch_uploads import BatchUploads
from engine.objects.file_copies import FileCopies
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import RECORDS, Sealer
from engine.objects.stored_responses import StoredResponses
from engine.objects.summaries import Summaries
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.relay.websocket.open_sessions import Sessions
from engine.sockets.upgrade import ResponsesSockets
from engine.upstream import choose
from engine.upstream.attempts.mirror import Mirrors
from engine.upstream.client.client import Client
from engine.upstream.health.monitor import HealthMonitor
from engine.upstream.models.build_catalog import build_catalog
from engine.upstream.models.model_catalog import Catalog, ModelsByOperation
from engine.upstream.models.token_counter import CountTokens, token_counter
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.requests.translated_request import TranslationTables
from engine.upstream.targets.target import Upstream
from engine.upstream.websockets.responses_socket import RefusedUpgrades, UpstreamSockets

MAX_MADE = 1_000
"""Routes, and models, that a trial makes. Of more, it makes those for which it plays requests: each
kind of route."""

WrapStages = Callable[[Route, Sequence[Stage]], Sequence[Stage]]
"""Returns the stages to use for a route, given those of the plan. A rehearsal adds its own."""


def identity(route: Route, stages: Sequence[Stage]) -> Sequence[Stage]:
    """The stages unchanged."""
    return stages


class Parts(Struct, frozen=True):
    """The parts that all routes of a worker share."""

    plan: Plan
    services: Services
    upstreams: Mapping[str, Upstream]
    health: HealthMonitor
    catalog: Catalog
    models_with_transform: Sequence[Model]
    headers: RouteHeaders
    models: ModelsByOperation
    translations: TranslationTables
    visible_models: VisibleModels
    watcher: DisconnectWatcher
    wrap_stages: WrapStages
    sessions: Sessions
    sockets: ResponsesSockets
    metered: bool
    mirrors: Mirrors
    shared: StageCache
    cors: Cors
    lifecycle: RequestLifecycle
    responders: Responders
    opener: IdOpener | None
    responses: StoredResponses | None
    batches: BatchRecords | None
    uploads: BatchUploads | None
    summaries: Summaries | None
    copies: FileCopies | None
    inside: InsideCalls


def is_observed(targets: Sequence[TargetConfig], choice: Choice, config: Config) -> bool:
    """Whether metrics or `/readyz` show the targets of a model or route before its first request:
    if requests in flight or answer times are compared, or health is probed, or addresses are
    looked up."""
    upstreams = [config.upstreams[target.upstream] for target in targets]
    return (
        choice.strategy != Choice().strategy
        or any(target.max_in_flight is not None for target in targets)
        or any(u.health is not None or u.resolve is not None for u in upstreams)
    )


def _token_counters(plan: Plan) -> Mapping[str, CountTokens]:
    """What counts tokens by the tokenizer of a model, by the models' names."""
    return {
        model.name: token_counter(plan.tokenizers[model.tokenizer])
        for model in plan.config.models.values()
        if model.tokenizer
    }


def parts_of(
    plan: Plan,
    services: Services,
    client: Callable[..., Client],
    open_credential: OpenCredential,
    wrap_stages: WrapStages,
    inside: InsideCalls,
) -> Parts:
    """The parts for a plan; the arguments are those of `build`. `inside` calls its application."""
    config = plan.config
    upstreams = upstreams_of(config, services, client, open_credential)
    health = HealthMonitor(config.upstreams, upstreams, services.machine)
    listed = ListedModels(config)
    catalog = _catalog(plan, services, upstreams, listed, health)
    services = _with_guard_calls(plan, services, upstreams, client)
    server, origins = config.server, config.origins
    opener = _opener(config)
    operations, sessions, refused = plan.model_operations(), Sessions(), RefusedUpgrades()
    return Parts(
        plan=plan,
        services=services,
        upstreams=upstreams,
        health=health,
        catalog=catalog,
        models_with_transform=[model for model in config.models.values() if model.transform],
        headers=RouteHeaders(upstreams.values()),
        models=ModelsByOperation(operations),
        translations=TranslationTables(operations, config.models),
        visible_models=VisibleModels(config, operations, listed),
        watcher=DisconnectWatcher(),
        wrap_stages=wrap_stages,
        sessions=sessions,
        sockets=ResponsesSockets(inside, services, sessions, partial(UpstreamSockets, refused)),
        metered=is_metered(plan),
        mirrors=Mirrors(),
        shared=StageCache(
            *(services, SameOrigin(origins, server.base_url, server.trusted_proxies)),
            has_playground=config.console.serves(PLAYGROUND),
        ),
        cors=Cors(origins),
        lifecycle=RequestLifecycle(services.observers, services.clock, services.begin),
        responders=Responders(server.max_body, server.body_timeout, server.request_timeout),
        opener=opener,
        responses=_stored_responses(config, services, opener),
        batches=_batches(services, opener),
        uploads=_uploads(services, opener),
        summaries=None if opener is None else Summaries(opener.sealer, config.objects.owner),
        copies=_file_copies(config, services, opener),
        inside=inside,
    )


def _catalog(
    plan: Plan,
    services: Services,
    upstreams: Mapping[str, Upstream],
    listed: Iterable[str],
    health: HealthMonitor,
) -> Catalog:
    """The catalog of models; those that a trial plays, and that metrics show, are made at once."""
    config, strategy = plan.config, partial(choose.build, services)
    catalog = build_catalog(
        *(config.models, upstreams, strategy, listed, health.watch, _token_counters(plan)),
        services.clock,
    )
    for number, model in enumerate(config.models.values()):
        is_trial = not services.background and number < MAX_MADE
        if is_trial or any(is_observed(each.to, each.choose, config) for each in model.branches):
            catalog.model(model.name)
    return catalog


def _with_guard_calls(
    plan: Plan,
    services: Services,
    upstreams: Mapping[str, Upstream],
    client: Callable[..., Client],
) -> Services:
    """The services with the webhooks of guards, where some have any; a rehearsal has its own."""
    if not is_guarded(plan) or not isinstance(services.guard_calls, NoGuardCalls):
        return services
    calls = HttpGuardCalls(plan.config.upstreams, upstreams, client)
    services.collectors.append(verdict_collector(calls.verdicts))
    services.closing.append(calls.close)
    return replace(services, guard_calls=calls)


def _opener(config: Config) -> IdOpener | None:
    """Opens and seals ids of objects; None without a key."""
    objects = config.objects
    if not objects.ring:
        return None
    keeps = (RECORDS,) if objects.responses.store == "records" else ()
    sealer = Sealer(objects.ring, [*config.upstreams, *keeps])
    return IdOpener(sealer, everybody=objects.owner == "all", passes=objects.legacy == "pass")


def _file_copies(config: Config, services: Services, opener: IdOpener | None) -> FileCopies | None:
    """Copies of files at other upstreams; None if none are made."""
    rules = config.objects.files
    if opener is None or not rules.copy:
        return None
    return FileCopies(services.responses, opener.sealer, rules.timeout, services.clock)


def _batches(services: Services, opener: IdOpener | None) -> BatchRecords | None:
    """What the records know of batches; None without them."""
    store = services.batches
    return None if opener is None or store is None else BatchRecords(store)


def _uploads(services: Services, opener: IdOpener | None) -> BatchUploads | None:
    """What the records keep of uploads; None without them."""
    store = services.responses
    if opener is None or store is None:
        return None
    return BatchUploads(store, opener.sealer, services.clock)


def _stored_responses(
    config: Config, services: Services, opener: IdOpener | None
) -> StoredResponses | None:
    """Responses in the records; None if they are not kept there."""
    settings, store = config.objects.responses, services.responses
    if opener is None or store is None or settings.store != "records":
        return None
    return StoredResponses(store, opener.sealer, settings.retention, services.clock)
