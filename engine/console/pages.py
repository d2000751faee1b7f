"""The pages of the console: the table PAGES lists them with their paths and files.

To add a page: put its HTML, CSS and JavaScript into `page/` and a row into PAGES; its path must be
known to `config.console.Console.has`, which keeps documents off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.config.console import Console
from engine.console.asset import Asset, fixed, read
from engine.console.home import home
from engine.console.playground_api import listing
from engine.console.reference import SWAGGER_UI, document
from engine.exchange.exchange import Handler
from engine.exchange.services import Services
from engine.plan.route import Plan

FILES = Path(__file__).resolve().parent / "page"
_SHARED_FILES = (FILES / "style.css", FILES / "theme.js", FILES / "mark.svg")

PathHandler = tuple[str, Handler]
Build = Callable[[Plan, Services], Handler]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page that is served at `path`, if `enabled` by the section `console`.

    Its content is the file `html`, or what the handler of `build` returns; `files` are what it
    loads, `data` the paths that its scripts ask for. `links` are the links to it in the HTML of
    other pages, which lose them where it is not served.
    """

    path: str
    html: str = ""
    build: Build | None = None
    files: tuple[Path, ...] = ()
    data: tuple[tuple[str, Build], ...] = ()
    links: tuple[bytes, ...] = ()
    enabled: Callable[[Console], bool] = lambda console: console.enabled


PAGES = (
    Page(
        path="/",
        build=lambda plan, services: home(plan),
        files=(FILES / "home.css", FILES / "home.js"),
    ),
    Page(
        path="/console/playground",
        html="playground.html",
        files=(FILES / "playground.css", *sorted((FILES / "playground").glob("*.js"))),
        data=(("/console/models.json", listing),),
        links=(b'<a href="console/playground">Playground</a>',),
        enabled=lambda console: console.enabled and console.playground,
    ),
    Page(
        path="/docs",
        html="docs.html",
        files=(
            *(FILES / name for name in ("docs.css", "docs.js", "plainer.js")),
            *(SWAGGER_UI / name for name in ("swagger-ui.css", "swagger-ui-bundle.js")),
        ),
        data=(("/openapi.json", lambda plan, services: document(plan)),),
        links=(b'<a href="../docs">Reference</a>',),
        enabled=lambda console: console.enabled and console.docs,
    ),
)


def pages(plan: Plan, services: Services) -> list[PathHandler]:
    """The paths of the console with their handlers, for GET and HEAD."""
    enabled_pages = [page for page in PAGES if page.enabled(plan.config.console)]
    missing = [link for page in PAGES if page not in enabled_pages for link in page.links]
    handlers: list[PathHandler] = []
    for page in enabled_pages:
        build = page.build or _of_file(FILES / page.html, missing)
        handlers.append((page.path, build(plan, services)))
        handlers += [(path, build_data(plan, services)) for path, build_data in page.data]
    files = {file for page in enabled_pages for file in (*_SHARED_FILES, *page.files)}
    handlers += [(f"/console/page/{_name(file)}", fixed(read(file))) for file in sorted(files)]
    return handlers


def _of_file(html: Path, missing: Iterable[bytes]) -> Build:
    """Builds the handler of a page that is a file, without its links to missing pages."""
    asset = read(html)
    content = asset.content
    for link in missing:
        content = content.replace(link, b"")
    return lambda plan, services: fixed(Asset(content, asset.media_type))


def _name(file: Path) -> str:
    """The name under which a file is served: a path in `page/`, or that of Swagger UI's file."""
    return file.relative_to(FILES).as_posix() if file.is_relative_to(FILES) else file.name
