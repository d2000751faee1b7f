"""`/operations` on the telemetry listener: a page, its files, and the data that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from engine.config.telemetry import OPERATIONS, OPERATIONS_DATA
from engine.console.asset import GUARDS, Asset, file, fixed, read
from engine.exchange.exchange import Exchange, Handler, Response

_FILES_PATH = f"{OPERATIONS}/page/"
_FILES = Path(__file__).resolve().parent.parent / "page"
_LOADED = (
    *("style.css", "data.css", "operations.css", "theme.js", "mark.svg"),
    *("playground/dom.js", "data/chart.js", "data/format.js", "data/table.js"),
)
_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]


def operations_pages(report: Callable[[], bytes]) -> Mapping[str, Handler]:
    """The handlers of the page, its data, which `report` makes, and its files, by path."""
    modules = sorted((_FILES / "operations").glob("*.js"))
    files = [*(_FILES / name for name in _LOADED), *modules]

    def data(exchange: Exchange) -> Response:
        return Response(200, list(_HEADERS), report())

    return {
        OPERATIONS: fixed(_page()),
        OPERATIONS_DATA: data,
        **{_FILES_PATH + path.relative_to(_FILES).as_posix(): file(path) for path in files},
    }


def _page() -> Asset:
    return read(_FILES / "operations.html")
