"""The tables of `modelway routes`, of the values that its JSON has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.cli.text_table import Table
from engine.offline.rehearsal.target_report import addresses_text
from engine.source.excerpt import printable
from engine.values.units import format_names

Document = dict[str, Any]

_MARK = "*"
_MAX_LISTED = 5
"""The most names of a provider's models in a row on a terminal."""
_MAX_UPSTREAMS = 20
"""The most upstreams of a route on a terminal."""


def route_table(routes: Sequence[Document], *, brief: bool) -> Table:
    """The routes, a line for each path; if `brief`, with the first upstreams of each."""
    most = _MAX_UPSTREAMS if brief else None
    columns = {
        "METHOD": [route["method"] for route in routes],
        "PATH": [route["path"] for route in routes],
        "OPERATION": [route["operation"] for route in routes],
        "MODEL FROM": [_model_source(route) for route in routes],
        "GOES TO": [_goes_to(route, most) for route in routes],
        "GUARDS": [", ".join(route["guards"]) for route in routes],
    }
    if any(route["hosts"] for route in routes):
        columns["HOSTS"] = [", ".join(route["hosts"]) or "all others" for route in routes]
    return _table(tuple(columns), zip(*columns.values(), strict=True))


def _model_source(route: Document) -> str:
    if route["model"] is None:
        return "-"
    default = f" (default {route['default']})" if route["default"] else ""
    return f"{route['model'].removeprefix('$request.')}{default}"


def _goes_to(route: Document, most: int | None) -> str:
    if route["answer"]:
        return "the gateway itself"
    if route["status"] is not None:
        return f"the gateway itself: {route['status']}"
    targets = route["targets"]
    marked = [
        _bounded(_marked(target["upstream"], target["translated"]), target.get("max_in_flight"))
        for target in targets
    ]
    names = format_names(marked, most)
    if route["model"] is not None:
        return f"by model: {names or 'none'}"
    return names if route["choose"] == "weighted" else f"{names} ({route['choose']})"


def model_table(models: Sequence[Document], *, brief: bool) -> Table:
    """The models, with the formats in which each can be called; if `brief`, with the first names of
    a provider's models."""
    columns = {
        "MODEL": [model["model"] for model in models],
        "FORMATS": [
            ", ".join(_marked(o["format"], o["translated"]) for o in model["formats"]) or "-"
            for model in models
        ],
        "OTHER OPERATIONS": [", ".join(model["operations"]) or "-" for model in models],
    }
    if any(model["choose"] != "weighted" for model in models):
        columns["CHOOSES"] = [model["choose"] for model in models]
    if any(model["rules"] for model in models):
        columns["RULES"] = ["; ".join(model["rules"]) or "-" for model in models]
    if any(bounds := [_model_bounds(model) for model in models]):
        columns["AT ONE TIME"] = [text or "-" for text in bounds]
    if any(model["listed"] for model in models):
        columns["LISTED MODELS"] = [
            _names(model["listed"], _MAX_LISTED if brief else None) for model in models
        ]
    return _table(tuple(columns), zip(*columns.values(), strict=True))


def _model_bounds(model: Document) -> str:
    """The bounds of a model's own targets; its fallbacks have a row of their own."""
    bounds: dict[str, None] = {}
    for target in (target for entry in model["formats"] for target in entry["targets"]):
        if target["max_in_flight"] and target["entry"] == model["model"]:
            name = "/".join(filter(None, (target["upstream"], target["model"])))
            bounds[_bounded(name, target["max_in_flight"])] = None
    return ", ".join(bounds)


def _bounded(name: str, most: int | None) -> str:
    return f"{name} (at most {most})" if most else name


def upstream_table(upstreams: Sequence[Document]) -> Table:
    """The upstreams at which requests wait, or whose addresses are followed."""
    headings = ("UPSTREAM", "AT ONE TIME", "QUEUE", "EACH ADDRESS OF")
    return _table(
        headings,
        (
            (
                upstream["upstream"],
                f"at most {upstream['max_in_flight']}" if upstream["max_in_flight"] else "-",
                _queue(upstream["queue"]),
                addresses_text(addresses) if (addresses := upstream["addresses"]) else "-",
            )
            for upstream in upstreams
        ),
    )


def team_table(teams: Sequence[Document]) -> Table:
    """The teams, and what their members share."""
    names = ("TEAM", "IN", "MODELS", "OPERATIONS", "REGIONS", "LIMITS", "PRICES")
    headings = (*names, "TOKENS OF THE FILE")
    return _table(
        headings,
        (
            (
                team["team"],
                team["in"] or "-",
                _allowed(team["models"]),
                _allowed(team["operations"]),
                _allowed(team["regions"]),
                ", ".join(team["limits"]) or "-",
                team["prices"] or "-",
                _names(team["tokens"], _MAX_LISTED),
            )
            for team in teams
        ),
    )


def _allowed(names: Sequence[str] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _queue(queue: Document | None) -> str:
    return "-" if queue is None else f"{queue['size']} for {queue['wait']:g}s each"


def _names(names: Sequence[str], most: int | None) -> str:
    return format_names(names, most) or "-"


def _marked(name: str, translated: bool) -> str:
    return f"{name}{_MARK}" if translated else name


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return Table(headings, [tuple(map(printable, row)) for row in rows])
