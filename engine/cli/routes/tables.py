"""The tables of `modelway routes`, of the values that its JSON has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from engine.source.excerpt import printable

Document = dict[str, Any]

_MARK = "*"
_MAX_LISTED = 5
"""The most names of a provider's models in a row; `--format json` has all."""
_MOST_UPSTREAMS = 20
"""Upstreams of a route that the table names; JSON has all of them."""


def route_table(routes: Sequence[Document]) -> Table:
    """The routes, a line for each path."""
    headings = ("METHOD", "PATH", "OPERATION", "MODEL FROM", "GOES TO", "GUARDS")
    return _table(
        headings,
        (
            (
                route["method"],
                route["path"],
                route["operation"],
                _model_source(route),
                _goes_to(route),
                ", ".join(route["guards"]),
            )
            for route in routes
        ),
    )


def _model_source(route: Document) -> str:
    if route["model"] is None:
        return "-"
    default = f" (default {route['default']})" if route["default"] else ""
    return f"{route['model'].removeprefix('$request.')}{default}"


def _goes_to(route: Document) -> str:
    if route["answer"]:
        return "the gateway itself"
    targets = route["targets"]
    marked = [
        _bounded(_marked(target["upstream"], target["translated"]), target.get("max_in_flight"))
        for target in targets[:_MOST_UPSTREAMS]
    ]
    more = [f"and {len(targets) - len(marked)} more"] if len(targets) > len(marked) else []
    names = ", ".join([*marked, *more])
    if route["model"] is not None:
        return f"by model: {names or 'none'}"
    return names if route["choose"] == "weighted" else f"{names} ({route['choose']})"


def model_table(models: Sequence[Document]) -> Table:
    """The models, with the formats in which each can be called."""
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
    if any(bounds := [_model_bounds(model) for model in models]):
        columns["AT ONE TIME"] = [text or "-" for text in bounds]
    if any(model["listed"] for model in models):
        columns["LISTED MODELS"] = [_shortened(model["listed"]) or "-" for model in models]
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
                _addresses(upstream["addresses"]),
            )
            for upstream in upstreams
        ),
    )


def _queue(queue: Document | None) -> str:
    return "-" if queue is None else f"{queue['size']} for {queue['wait']:g}s each"


def _addresses(addresses: Document | None) -> str:
    """Where the addresses come from, each of which is a target."""
    if addresses is None:
        return "-"
    if addresses["file"]:
        return f"file {addresses['file']}"
    name = f"service {addresses['srv']}" if addresses["srv"] else addresses["name"]
    server = f" at {addresses['server']}" if addresses["server"] else ""
    return f"{name} in DNS{server}, every {addresses['every']:g}s"


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more


def _marked(name: str, translated: bool) -> str:
    return f"{name}{_MARK}" if translated else name


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("METHOD", "PATH"))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # Text: no markup
    return table
