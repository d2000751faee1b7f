"""`console:` of gateway.yaml: which pages are served, at which paths, and how people sign in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from engine.config import keys
from engine.config.keys import default
from engine.values.trees import Section

_DEFAULTS = "console.sign_in"


@dataclass(frozen=True, slots=True)
class SignInConfig:
    """An OpenID provider and this gateway as its client.

    `issuer` is one of `callers.jwt`, whose entries say who a person is here. `client_secret` is ""
    for a public client. `session` is in seconds. `keys` seal the cookies: the first one seals, all
    of them open.
    """

    issuer: str
    client_id: str
    keys: tuple[str, ...] = field(repr=False)
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = field(default_factory=lambda: tuple(default(f"{_DEFAULTS}.scopes")))
    session: float = default(f"{_DEFAULTS}.session")


def read_sign_in(section: Section) -> SignInConfig:
    """`console.sign_in`. An empty key, of a variable that is not set, is none."""
    values: dict[str, Any] = keys.fill(section, _DEFAULTS)
    values["keys"] = tuple(key for key in values["keys"] if key)
    values["scopes"] = tuple(dict.fromkeys(values["scopes"]))
    return SignInConfig(**values)


FILES_PATH = "/console/page/"
"""The path under which the files of all pages are served."""


class ConsolePage(Struct, frozen=True):
    """A page: its title in messages, its label in links ("" without links to it), its path, the
    paths of its data, and the key of `console:` that switches it on."""

    title: str
    label: str
    path: str
    key: str
    data: tuple[str, ...] = ()


HOME = ConsolePage("home page", "Home", "/", "enabled", ("/console/status.json",))
PLAYGROUND = ConsolePage(
    *("playground", "Playground", "/console/playground", "playground"), ("/console/models.json",)
)
TOOLS = ConsolePage("page of tools", "Tools", "/console/tools", "tools", ("/console/tools.json",))
USAGE = ConsolePage("page of usage", "Usage", "/console/usage", "usage", ("/console/usage.json",))
REFERENCE = ConsolePage("reference", "Reference", "/docs", "docs", ("/openapi.json",))
CALLBACK_PATH = "/console/sign-in/callback"
"""Where the provider sends people back to."""
SIGN_IN = ConsolePage(
    *("sign-in", "", "/console/sign-in", "sign_in"), (CALLBACK_PATH, "/console/session")
)
SIGN_OUT_PATH = "/console/sign-out"
"""The path to which a page posts to end the session."""
PAGES = (HOME, PLAYGROUND, TOOLS, USAGE, REFERENCE, SIGN_IN)
"""Every page, in the order of links. `engine/console/pages.py` serves them; no document may use
their paths."""


class Console(Struct, frozen=True):
    """The pages that are served; the home page whenever the console is `enabled`. `sign_in` is None
    where people use the pages with tokens only."""

    enabled: bool = default("console.enabled")
    playground: bool = default("console.playground")
    tools: bool = default("console.tools")
    usage: bool = default("console.usage")
    docs: bool = default("console.docs")
    sign_in: SignInConfig | None = None

    def serves(self, page: ConsolePage) -> bool:
        """Whether the page is switched on."""
        return self.enabled and bool(getattr(self, page.key))

    def page_at(self, path: str) -> str:
        """The title of the page that serves this path; "" if there is none."""
        for page in filter(self.serves, PAGES):
            if path in (page.path, *page.data):
                return page.title
        return "page files" if self.enabled and path.startswith(FILES_PATH) else ""


def read_console(section: Section) -> Console:
    """`console:`."""
    sign_in = section.get("sign_in")
    values = {key: value for key, value in section.items() if key != "sign_in"}
    return Console(**values, sign_in=None if sign_in is None else read_sign_in(sign_in))
