"""The chat formats that a plan routes, and the models in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from engine import dialects
from engine.config.config import Config
from engine.config.listed_models import ListedModel, ListedModels, listed_model
from engine.config.operations_by_model import ModelOperations
from engine.config.prices import prices_of
from engine.dialects.interface.chat_format import ChatFormat
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.values.price import Price
from engine.values.price_list import Prices
from engine.values.trees import Json

_ATTO_PER_MILLION = 10**12
"""A price per token in atto-units, divided by this, is the price per million tokens in units."""


class RoutedFormat(Struct, frozen=True):
    """A chat format that a route of the plan serves: `path` without the gateway's own address, with
    `{model}` where it names the model; `stream_path` for streams, "" where no route serves them.
    `prefix` and `version` are the parts of the path that belong to an SDK's base address.
    """

    format: ChatFormat
    operation: str
    path: str
    stream_path: str
    prefix: str
    version: str = ""

    @property
    def name(self) -> str:
        return self.format.name

    @property
    def title(self) -> str:
        return self.format.title


def routed_formats(plan: Plan) -> list[RoutedFormat]:
    """The chat formats that the plan routes: those of the default dialect, then of the others."""
    posts = [route for route in plan.routes if route.operation.method == "POST"]
    ordered = sorted(dialects.names(), key=lambda name: (name != dialects.DEFAULT, name))
    formats = []
    for dialect in map(dialects.get, ordered):
        candidates = [route for route in posts if route.dialects[-1] is dialect]
        for form in dialect.chat_formats:
            route = _first(form.path_suffix, candidates)
            if route is not None:
                formats.append(_routed(form, route, candidates))
    return formats


def _first(suffix: str, routes: Iterable[Route]) -> Route | None:
    return next((route for route in routes if route.operation.path.endswith(suffix)), None)


def _routed(form: ChatFormat, route: Route, routes: Iterable[Route]) -> RoutedFormat:
    path = stream_path = _path(route)
    prefix, version = path.removesuffix(form.sdk_suffix), ""
    if form.stream_suffix:
        streaming = _first(form.stream_suffix, routes)
        stream_path = _path(streaming) if streaming is not None else ""
        mount = path.partition("/models/")[0]
        prefix, _, version = mount.rpartition("/")
    return RoutedFormat(form, route.operation.id, path, stream_path, prefix, version)


def _path(route: Route) -> str:
    path = route.templates[0][0]
    for name in route.slash_variables:
        path = path.replace("{" + name + "}", "{model}")
    return path


class _CallFormats(Struct, frozen=True):
    """How the models of a group can be called: the names of their formats, of those in which
    requests are translated for at least one target, and of their other operations; and the tasks of
    all their operations."""

    formats: list[str]
    translated: list[str]
    operations: list[str]
    tasks: list[str]


def models(plan: Plan, formats: Sequence[RoutedFormat]) -> list[Json]:
    """Every model and wildcard, and the models of the providers behind wildcards, with the
    entry of `models` that serves it, its tasks, its formats, those in which requests are translated
    for at least one target, its other operations, and, as far as they are known, the media of its
    input and its price for a million tokens. Models with the same operations share their lists."""
    chat_operations = {form.operation for form in formats} | set(_stream_operations(plan, formats))
    prices = prices_of(plan.config)
    operations = plan.model_operations()
    groups: dict[tuple[int, tuple[str, ...] | None], _CallFormats] = {}
    entries = []
    for model in _all_models(plan.config, operations):
        tasks = None if model.provider_model is None else tuple(model.provider_model.tasks)
        key = operations.group(model.entry.name), tasks
        if key not in groups:
            groups[key] = _call_formats(model, operations, formats, chat_operations)
        group = groups[key]
        entry: Json = {
            "id": model.name,
            "title": model.title,
            "entry": model.entry.name,
            "tasks": group.tasks,
            "formats": group.formats,
            "translated": group.translated,
            "operations": group.operations,
        }
        if model.input is not None:
            entry["input"] = model.input
        price = None if "*" in model.name else _price(model, prices)
        if price is not None:
            entry["price"] = {
                "input": price.input / _ATTO_PER_MILLION,
                "output": price.output / _ATTO_PER_MILLION,
                "cached": price.cached_input / _ATTO_PER_MILLION,
            }
        entries.append(entry)
    return entries


def example_model(format_name: str, entries: Sequence[Json], default: str = "MODEL") -> str:
    """The first model that has a format, if possible without a translation."""
    candidates = [m for m in entries if format_name in m["formats"] and "*" not in m["id"]]
    candidates.sort(key=lambda entry: format_name in entry["translated"])
    return str(candidates[0]["id"]) if candidates else default


def _call_formats(
    model: ListedModel,
    operations: ModelOperations,
    formats: Sequence[RoutedFormat],
    chat_operations: Collection[str],
) -> _CallFormats:
    by_id = {operation.id: operation for operation in model.operations(operations)}
    model_formats = [form for form in formats if form.operation in by_id]
    translated = [
        form.name
        for form in model_formats
        if any(
            target.language
            for target in operations.targets(model.entry.name, by_id[form.operation])
        )
    ]
    return _CallFormats(
        [form.name for form in model_formats],
        translated,
        [name for name in by_id if name not in chat_operations],
        sorted({operation.task for operation in by_id.values()} - {""}),
    )


def _price(model: ListedModel, prices: Prices) -> Price | None:
    """The price of a listed model at its first target."""
    target, provider_model = model.entry.to[0], model.provider_model
    upstream_model = provider_model.name if provider_model else target.model or model.name
    return prices.find(model.name, target.upstream, upstream_model)


def _all_models(config: Config, operations: ModelOperations) -> Iterator[ListedModel]:
    """The models and wildcards of the config, then the models that only providers name and that
    can be called."""
    for name, entry in config.models.items():
        yield ListedModel(name, entry) if "*" in name else listed_model(name, entry, config)
    for model in ListedModels(config).values():
        if model.provider_model is not None and model.operations(operations):
            yield model


def _stream_operations(plan: Plan, formats: Sequence[RoutedFormat]) -> Iterator[str]:
    """The operations that only stream a format."""
    paths = {form.stream_path for form in formats}
    for route in plan.routes:
        if route.operation.method == "POST" and _path(route) in paths:
            yield route.operation.id
