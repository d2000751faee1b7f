"""The targets of a request in the report of a rehearsal: their order and translations, the price at
the first, the regions that leave some out, and the settings of their upstreams."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from engine.config.config import Config
from engine.config.models import Model, RuleConfig, TargetConfig
from engine.config.prices import prices_of
from engine.config.upstreams import UpstreamConfig
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Target
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.rehearsal.target_translations import TargetTranslation
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.models.regional_targets import are_within, region_text
from engine.values.price import Price
from engine.values.price_list import Prices
from engine.values.trees import Json
from engine.values.wildcard import ByName

_ATTO_PER_MILLION = 10**12


def target_reports(route: Route, rehearsal: Rehearsal, config: Config) -> list[Json]:
    """The targets in the order of attempts, if each draw takes the first one and their loads are
    unknown."""
    if route.to:
        choose = route.choose.text
        return [
            {
                "upstream": t.upstream,
                "model": t.model,
                "weight": t.weight,
                "max_in_flight": t.max_in_flight,
                "choose": choose,
            }
            for t in route.to
        ]
    exchange = rehearsal.exchange
    if exchange is None:
        return []
    translations = rehearsal.translations or [None] * len(exchange.model.targets)
    pairs = zip(exchange.model.targets, translations, strict=True)
    return [_model_target(target, each, exchange, config) for target, each in pairs]


def _model_target(
    target: Target, translation: TargetTranslation | None, exchange: Exchange, config: Config
) -> Json:
    branch, is_fallback = _branch_of(target, exchange, config)
    return {
        "upstream": target.upstream.name,
        "model": target.model or exchange.model.name,
        "weight": target.weight,
        "max_in_flight": next((to.max_in_flight for to in _alike(target, branch)), None),
        "choose": branch.choose.text,
        "fallback": target.exact_entry if is_fallback else "",
        "translation": translation_report(translation),
    }


def _branch_of(
    target: Target, exchange: Exchange, config: Config
) -> tuple[Model | RuleConfig, bool]:
    """The model or rule that has a target of a request, and whether it is only a fallback."""
    model = exchange.model
    entry = config.models[target.entry]
    is_fallback = target.exact_entry not in ("", model.name)
    if model.rule is None or is_fallback:
        return entry, is_fallback
    rule = entry.when[model.rule]
    return (rule, False) if any(_alike(target, rule)) else (entry, True)


def _alike(target: Target, branch: Model | RuleConfig) -> Iterator[TargetConfig]:
    """The targets in the config that a target may be."""
    key = (target.upstream.name, target.configured)
    return (to for to in branch.to if (to.upstream, to.model) == key)


def translation_report(translation: TargetTranslation | None) -> Json | None:
    """The translation of the request for a target; None without one, or if a stage refused it."""
    if translation is None:
        return None
    refusal = translation.refusal
    return {
        "from": translation.caller_language,
        "into": translation.target_language,
        "dropped": list(translation.dropped),
        "refusal": refusal
        and {"code": refusal.code, "message": refusal.message, "param": refusal.param},
    }


def price_report(rehearsal: Rehearsal, plan: Plan) -> Json | None:
    """The `source` of the price, and the `input` and `output` of a million tokens; beside it, what
    the vendor charges if the team has another price. None without a price or a target."""
    exchange = rehearsal.exchange
    if exchange is None or not exchange.model.targets:
        return None
    target, name = exchange.model.targets[0], exchange.model.name
    names = target.exact_entry or name, target.upstream.name, target.model or name
    prices: Prices = prices_of(plan.config)
    team = "" if exchange.caller is None else exchange.caller.team
    vendors, price = prices.find(*names), prices.of(team).find(*names)
    if price is None:
        return None
    is_team_price = price is not vendors
    return {
        **_amounts(price),
        "currency": plan.config.currency,
        "team": team if is_team_price else "",
        "vendor": _amounts(vendors) if is_team_price and vendors is not None else None,
    }


def _amounts(price: Price) -> Json:
    return {
        "source": price.source,
        "input": price.input / _ATTO_PER_MILLION,
        "output": price.output / _ATTO_PER_MILLION,
    }


def region_report(route: Route, rehearsal: Rehearsal, plan: Plan) -> Json | None:
    """What is required, and the upstreams elsewhere that are left out, with their regions; None
    if any region will do."""
    exchange = rehearsal.exchange
    caller = None if exchange is None else exchange.caller
    lists = () if route.regions is None else (route.regions,)
    lists = lists if caller is None else (*lists, *caller.region_lists)
    if not lists:
        return None
    upstreams = plan.config.upstreams
    left_out = {
        name: list(upstreams[name].regions)
        for name in _upstream_names(route, rehearsal, plan)
        if not are_within(upstreams[name].regions, lists)
    }
    return {"required": region_text(lists), "left_out": left_out}


def _upstream_names(route: Route, rehearsal: Rehearsal, plan: Plan) -> dict[str, None]:
    """The upstreams of the targets that a request without a required region could have."""
    if route.model is None or rehearsal.exchange is None:
        return dict.fromkeys(target.upstream for target in route.to)
    exchange, operations = rehearsal.exchange, plan.model_operations()
    name = exchange.model.name or str(route.model.read(exchange))
    entry = ByName(plan.config.models).find(name)
    if entry is None:
        return {}
    targets = (
        *operations.targets(entry.name, route.by_model),
        *operations.rule_targets(entry.name, route.by_model),
    )
    return dict.fromkeys(each.target.upstream for each in targets)


def upstream_report(upstream: UpstreamConfig) -> Json:
    """The timeouts (seconds), retries, breaker, bound of requests in flight, queue and source of
    addresses of an upstream."""
    retry, breaker, queue = upstream.retry, upstream.breaker, upstream.queue
    health = upstream.health
    return {
        "timeouts": Timeouts(**upstream.timeouts)._asdict(),
        "attempts": retry.attempts,
        "retries": sorted(retry.on),
        "breaker": {"failures": breaker.failures, "cooldown": breaker.cooldown},
        "health": health and {"path": health.path, "every": health.every},
        "max_in_flight": upstream.max_in_flight,
        "queue": None if queue is None else {"size": queue.size, "wait": queue.wait},
        "addresses": None if upstream.resolve is None else _addresses(upstream),
    }


def addresses_text(addresses: Json) -> str:
    """The source of an upstream's addresses, in words."""
    if addresses["file"]:
        return f"file {addresses['file']}"
    name = f"service {addresses['srv']}" if addresses["srv"] else addresses["name"]
    server = f" at {addresses['server']}" if addresses["server"] else ""
    return f"{name} in DNS{server}, every {addresses['every']:g}s"


def _addresses(upstream: UpstreamConfig) -> Json:
    """The source of an upstream's addresses: a file, an SRV service, or a DNS name that is looked
    up at least every `every` seconds."""
    resolve = upstream.resolve
    assert resolve is not None
    name = None if resolve.file or resolve.srv else urlsplit(upstream.url).hostname
    return {
        "name": name,
        "srv": resolve.srv or None,
        "file": resolve.file,
        "server": resolve.server or None,
        "every": resolve.every,
    }
