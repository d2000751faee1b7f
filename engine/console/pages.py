"""The pages of the console: what is served at the paths of `engine/config/console.py`.

To add a page: put its HTML, CSS and JavaScript into `page/`, its title and paths into `PAGES` of
`config/console.py` (no document may use these paths, so the config knows them), and its content
into CONTENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from engine.config.console import (
    FILES_PATH,
    HOME,
    PAGES,
    PLAYGROUND,
    REFERENCE,
    SIGN_IN,
    SIGN_OUT_PATH,
    TOOLS,
    USAGE,
    ConsolePage,
)
from engine.console import sign_in
from engine.console.asset import Asset, file, fixed, read
from engine.console.home import home
from engine.console.navigation import is_served, with_navigation
from engine.console.page_data import access, model_status, servers
from engine.console.playground_api import listing
from engine.console.reference import SWAGGER_UI, document
from engine.exchange.exchange import Handler
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan

FILES = Path(__file__).resolve().parent / "page"
_SHARED_FILES = tuple(
    FILES / name for name in ("style.css", "theme.js", "session.js", "token.js", "mark.svg")
)

_READ = ("GET", "HEAD")
Build = Callable[[Plan, Services], Handler]


class PathHandler(NamedTuple):
    """A path of the console, its handler, and the methods that it has."""

    path: str
    handler: Handler
    methods: tuple[str, ...] = _READ


class PageContent(Struct, frozen=True, kw_only=True):
    """The content of a page: the file `html`, or what the handler of `build` returns.

    `files` are loaded by the page. `data` builds a handler for each of its paths of data. `methods`
    are those of its paths, and `posts` has the handlers of POST by path.
    """

    html: str = ""
    build: Build | None = None
    files: tuple[Path, ...] = ()
    data: tuple[Build, ...] = ()
    methods: tuple[str, ...] = _READ
    posts: Mapping[str, Build] = field(default_factory=dict)


CONTENTS: Mapping[ConsolePage, PageContent] = {
    HOME: PageContent(
        build=lambda plan, services: home(plan),
        files=(FILES / "home.css", FILES / "home.js", FILES / "models.js"),
        data=(lambda plan, services: model_status(services),),
    ),
    PLAYGROUND: PageContent(
        html="playground.html",
        files=(FILES / "playground.css", *sorted((FILES / "playground").glob("*.js"))),
        data=(listing,),
    ),
    TOOLS: PageContent(
        html="tools.html",
        files=(
            *(FILES / name for name in ("playground.css", "tools.css")),
            *sorted((FILES / "tools").glob("*.js")),
            *(FILES / "playground" / f"{name}.js" for name in ("call", "dom", "problem", "sse")),
        ),
        data=(servers,),
    ),
    USAGE: PageContent(
        html="usage.html",
        files=(
            *(FILES / name for name in ("data.css", "usage.css")),
            *sorted((FILES / "data").glob("*.js")),
            *sorted((FILES / "usage").glob("*.js")),
            *(FILES / "playground" / f"{name}.js" for name in ("call", "dom", "problem", "sse")),
        ),
        data=(access,),
    ),
    REFERENCE: PageContent(
        html="docs.html",
        files=(
            FILES / "docs.css",
            *sorted((FILES / "docs").glob("*.js")),
            *(FILES / "playground" / f"{name}.js" for name in ("call", "dom", "problem", "sse")),
            *(SWAGGER_UI / name for name in ("swagger-ui.css", "swagger-ui-bundle.js")),
        ),
        data=(lambda plan, services: document(plan),),
    ),
    SIGN_IN: PageContent(
        build=sign_in.begin,
        data=(sign_in.finish, sign_in.session),
        methods=("GET",),  # what begins and ends a sign-in is no HEAD
        posts={SIGN_OUT_PATH: sign_in.sign_out},
    ),
}


def pages(plan: Plan, services: Services) -> list[PathHandler]:
    """The paths of the console with their handlers."""
    enabled = [page for page in PAGES if is_served(page, plan)]
    handlers: list[PathHandler] = []
    files = set(_SHARED_FILES) if enabled else set()
    for page in enabled:
        content = CONTENTS[page]
        if content.build is not None:
            handler = content.build(plan, services)
        else:
            handler = fixed(_with_navigation(plan, page))
        handlers.append(PathHandler(page.path, handler, content.methods))
        for path, build_data in zip(page.data, content.data, strict=True):
            handlers.append(PathHandler(path, build_data(plan, services), content.methods))
        for path, build in content.posts.items():
            handlers.append(PathHandler(path, build(plan, services), ("POST",)))
        files.update(content.files)
    return handlers + [PathHandler(FILES_PATH + _name(path), file(path)) for path in sorted(files)]


def _with_navigation(plan: Plan, page: ConsolePage) -> Asset:
    """The HTML file of a page with what all pages share."""
    asset = read(FILES / CONTENTS[page].html)
    return Asset(with_navigation(asset.content, plan, page), asset.media_type)


def _name(path: Path) -> str:
    """The name under which a file is served: a path in `page/`, or that of Swagger UI's file."""
    return path.relative_to(FILES).as_posix() if path.is_relative_to(FILES) else path.name
