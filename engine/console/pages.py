"""The pages of the console: what is served at the paths of `engine/config/console.py`.

To add a page: put its HTML, CSS and JavaScript into `page/`, its title and paths into `PAGES` of
`config/console.py`, and its content into CONTENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from engine.config.console import FILES_PATH, HOME, PAGES, PLAYGROUND, REFERENCE, TOOLS, ConsolePage
from engine.console.asset import Asset, file, fixed, read
from engine.console.home import home
from engine.console.playground_api import listing
from engine.console.reference import SWAGGER_UI, document
from engine.console.tools_api import servers
from engine.exchange.exchange import Handler
from engine.exchange.services import Services
from engine.plan.route import Plan

FILES = Path(__file__).resolve().parent / "page"
_SHARED_FILES = (FILES / "style.css", FILES / "theme.js", FILES / "mark.svg")

PathHandler = tuple[str, Handler]
Build = Callable[[Plan, Services], Handler]


class PageContent(Struct, frozen=True, kw_only=True):
    """The content of a page: the file `html`, or what the handler of `build` returns.

    `files` are loaded by the page. `data` builds a handler for each of its paths of data. `links`
    are removed from the HTML of the other pages while this page is switched off.
    """

    html: str = ""
    build: Build | None = None
    files: tuple[Path, ...] = ()
    data: tuple[Build, ...] = ()
    links: tuple[bytes, ...] = ()


CONTENTS: Mapping[ConsolePage, PageContent] = {
    HOME: PageContent(
        build=lambda plan, services: home(plan),
        files=(FILES / "home.css", FILES / "home.js"),
    ),
    PLAYGROUND: PageContent(
        html="playground.html",
        files=(FILES / "playground.css", *sorted((FILES / "playground").glob("*.js"))),
        data=(listing,),
        links=(
            b'<a href="console/playground">Playground</a>',
            b'<a href="playground">Playground</a>',
        ),
    ),
    TOOLS: PageContent(
        html="tools.html",
        files=(
            *(FILES / name for name in ("playground.css", "tools.css")),
            *sorted((FILES / "tools").glob("*.js")),
            *(FILES / "playground" / f"{name}.js" for name in ("call", "dom", "problem", "sse")),
        ),
        data=(servers,),
        links=(b'<a href="console/tools">Tools</a>', b'<a href="tools">Tools</a>'),
    ),
    REFERENCE: PageContent(
        html="docs.html",
        files=(
            *(FILES / name for name in ("docs.css", "docs.js", "openapi30.js")),
            *(SWAGGER_UI / name for name in ("swagger-ui.css", "swagger-ui-bundle.js")),
        ),
        data=(lambda plan, services: document(plan),),
        links=(b'<a href="../docs">Reference</a>',),
    ),
}


def pages(plan: Plan, services: Services) -> list[PathHandler]:
    """The paths of the console with their handlers, for GET and HEAD."""
    enabled = [page for page in PAGES if is_served(page, plan)]
    dead_links = [link for page in PAGES if page not in enabled for link in CONTENTS[page].links]
    handlers: list[PathHandler] = []
    files = set(_SHARED_FILES) if enabled else set()
    for page in enabled:
        content = CONTENTS[page]
        if content.build is not None:
            handlers.append((page.path, content.build(plan, services)))
        else:
            handlers.append((page.path, fixed(_without(dead_links, FILES / content.html))))
        for path, build_data in zip(page.data, content.data, strict=True):
            handlers.append((path, build_data(plan, services)))
        files.update(content.files)
    return handlers + [(FILES_PATH + _name(path), file(path)) for path in sorted(files)]


def is_served(page: ConsolePage, plan: Plan) -> bool:
    """Whether a page is switched on, and has something to show."""
    return plan.config.console.serves(page) and (page is not TOOLS or bool(plan.config.mcp))


def _without(links: list[bytes], html: Path) -> Asset:
    """An HTML file without these links."""
    asset = read(html)
    content = asset.content
    for link in links:
        content = content.replace(link, b"")
    return Asset(content, asset.media_type)


def _name(path: Path) -> str:
    """The name under which a file is served: a path in `page/`, or that of Swagger UI's file."""
    return path.relative_to(FILES).as_posix() if path.is_relative_to(FILES) else path.name
