"""`console:` of gateway.yaml: which web pages are served, and at which paths."""

from __future__ import annotations

from msgspec import Struct

from engine.config.keys import default

FILES_PATH = "/console/page/"
"""The path under which the files of all pages are served."""


class ConsolePage(Struct, frozen=True):
    """A page: its title in messages, its path, the paths of its data, and the key of `console:`
    that switches it on."""

    title: str
    path: str
    key: str
    data: tuple[str, ...] = ()


HOME = ConsolePage("home page", "/", "enabled")
PLAYGROUND = ConsolePage(
    "playground", "/console/playground", "playground", data=("/console/models.json",)
)
TOOLS = ConsolePage("page of tools", "/console/tools", "tools", data=("/console/tools.json",))
REFERENCE = ConsolePage("reference", "/docs", "docs", data=("/openapi.json",))
PAGES = (HOME, PLAYGROUND, TOOLS, REFERENCE)
"""Every page. `engine/console/pages.py` serves them; no document may use their paths."""


class Console(Struct, frozen=True):
    """The pages that are served; the home page whenever the console is `enabled`."""

    enabled: bool = default("console.enabled")
    playground: bool = default("console.playground")
    tools: bool = default("console.tools")
    docs: bool = default("console.docs")

    def serves(self, page: ConsolePage) -> bool:
        """Whether the page is switched on."""
        return self.enabled and bool(getattr(self, page.key))

    def page_at(self, path: str) -> str:
        """The title of the page that serves this path; "" if there is none."""
        for page in filter(self.serves, PAGES):
            if path in (page.path, *page.data):
                return page.title
        return "page files" if self.enabled and path.startswith(FILES_PATH) else ""
