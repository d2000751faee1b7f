"""What a plan offers to a person who chats: the formats it routes, and the models in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.plan.route import Plan, Route
from engine.values.wildcard import ByName

_ATTO_PER_MILLION = 10**12
"""What turns a token's price in atto-units into that of a million tokens in units."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way to say a chat, as it is routed: `path` without the gateway's own address, with
    `{model}` where it names the model, `stream` the path of streams where that is another.
    `prefix` and `version` are what an SDK's base address needs of the path.
    """

    name: str
    title: str
    dialect: str
    operation: str
    path: str
    stream: str
    prefix: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class _Known:
    """How a format is recognised: its dialect, the end of its path, and of its streams' path;
    what of the path an SDK adds by itself."""

    name: str
    title: str
    dialect: str
    ending: str
    added: str
    streams: str = ""


KNOWN = (
    _Known("chat", "Chat completions", "openai", "/chat/completions", "/chat/completions"),
    _Known("messages", "Messages", "anthropic", "/messages", "/v1/messages"),
    _Known(
        "generate",
        "Generate content",
        "gemini",
        ":generateContent",
        "",
        ":streamGenerateContent",
    ),
    _Known("responses", "Responses", "openai", "/responses", "/responses"),
)


def formats(plan: Plan) -> list[Format]:
    """The formats that the plan routes, in the order of the table."""
    posts = [route for route in plan.routes if route.operation.method == "POST"]
    found = ((known, _first(known, known.ending, posts)) for known in KNOWN)
    return [_format(known, route, posts) for known, route in found if route is not None]


def _first(known: _Known, ending: str, routes: Iterable[Route]) -> Route | None:
    for route in routes:
        path = route.operation.path
        if route.dialects[-1].name == known.dialect and path.endswith(ending):
            return route
    return None


def _format(known: _Known, route: Route, posts: Iterable[Route]) -> Format:
    path = _path(route)
    streaming = _first(known, known.streams, posts) if known.streams else None
    prefix, version = path.removesuffix(known.added), ""
    if known.streams:
        mount = path.partition("/models/")[0]
        prefix, _, version = mount.rpartition("/")
    return Format(
        name=known.name,
        title=known.title,
        dialect=known.dialect,
        operation=route.operation.id,
        path=path,
        stream=_path(streaming) if streaming is not None else "" if known.streams else path,
        prefix=prefix,
        version=version,
    )


def _path(route: Route) -> str:
    path = route.templates[0][0]
    for name in route.wide:
        path = path.replace("{" + name + "}", "{model}")
    return path


def models(plan: Plan, offered: Sequence[Format]) -> list[dict[str, Any]]:
    """Every model, wildcards too, with the formats and the other operations that it has, and what a
    million tokens cost where that is known."""
    formatted = {one.operation for one in offered} | set(_streams(plan, offered))
    prices = ByName(plan.config.prices)
    operations = plan.model_operations()
    shown = []
    for model in plan.config.models.values():
        has = [operation.id for operation in operations.of(model.name)]
        spoken = [one.name for one in offered if one.operation in has]
        entry: dict[str, Any] = {
            "id": model.name,
            "title": model.title,
            "formats": spoken,
            "operations": [one for one in has if one not in formatted],
        }
        price = None if "*" in model.name else prices.find(model.name)
        if price is not None:
            entry["price"] = {
                "input": price.input / _ATTO_PER_MILLION,
                "output": price.output / _ATTO_PER_MILLION,
                "cached": price.cached / _ATTO_PER_MILLION,
            }
        shown.append(entry)
    return shown


def _streams(plan: Plan, offered: Sequence[Format]) -> Iterator[str]:
    """The operations that stream a format, where another one than its own does."""
    paths = {one.stream for one in offered}
    for route in plan.routes:
        if route.operation.method == "POST" and _path(route) in paths:
            yield route.operation.id
