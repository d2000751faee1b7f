"""The console: which pages stand on which paths, as a config switches them on."""

from __future__ import annotations

from pathlib import Path

from engine.console.asset import Asset, fixed, read
from engine.console.home import home
from engine.console.playground_api import listing
from engine.console.reference import reference
from engine.exchange.exchange import Handler
from engine.exchange.services import Services
from engine.plan.route import Plan

PAGE = Path(__file__).resolve().parent / "page"
_SHARED = ("style.css", "theme.js", "mark.svg")
_HOME = ("home.css", "home.js")
_DOCS = ("docs.css", "docs.js", "plainer.js")
_TO_DOCS = b'<a href="../docs">Reference</a>'
_TO_PLAYGROUND = b'<a href="console/playground">Playground</a>'


def pages(plan: Plan, services: Services) -> list[tuple[str, Handler]]:
    """Paths with their handlers, for GET and HEAD."""
    said = plan.config.console
    if not said.enabled:
        return []
    made: list[tuple[str, Handler]] = [("/", home(plan))]
    parts = {name: read(PAGE / name) for name in (*_SHARED, *_HOME)}
    if said.playground:
        missing = () if said.docs else (_TO_DOCS,)
        page = without(read(PAGE / "playground.html"), missing)
        made.append(("/console/playground", fixed(page)))
        made.append(("/console/models.json", listing(plan, services)))
        parts |= playground()
    if said.docs:
        missing = () if said.playground else (_TO_PLAYGROUND,)
        made += reference(plan, without(read(PAGE / "docs.html"), missing))
        parts |= {name: read(PAGE / name) for name in _DOCS}
    made += [(f"/console/page/{name}", fixed(part)) for name, part in parts.items()]
    return made


def playground() -> dict[str, Asset]:
    """The playground's own files by name."""
    files = [PAGE / "playground.css", *sorted((PAGE / "playground").glob("*.js"))]
    return {file.relative_to(PAGE).as_posix(): read(file) for file in files}


def without(page: Asset, links: tuple[bytes, ...]) -> Asset:
    """The page without links to what is switched off."""
    content = page.content
    for link in links:
        assert link in content, link
        content = content.replace(link, b"")
    return Asset(content, page.media_type)
