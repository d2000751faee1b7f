"""Which pages are served, and what they share: the header with its links to the others, where they
ask who has signed in, and the fields for a token."""

from __future__ import annotations

from engine.config.console import PAGES, SIGN_IN, TOOLS, USAGE, ConsolePage
from engine.plan.plan import Plan

_HEADER = b"<!-- header -->"
"""What an HTML file has in the place of the header."""

_SIGN_IN = b"<!-- sign-in -->\n"
"""What it has in the place of the address of the session."""

_TOKEN = b"<!-- token -->\n"
"""What it has in the place of the fields for a token."""

_TOKEN_FIELDS = """<div id="session" class="session" hidden></div>
<label for="token">Token</label>
<div class="row"><input id="token" type="password" placeholder="mw-\N{HORIZONTAL ELLIPSIS}" \
aria-describedby="token-status"><button type="button" id="check">Check</button></div>
<label class="tick"><input id="keep" type="checkbox"> Keep until this tab is closed</label>
<div id="token-status" role="status"></div>
""".encode()


def is_served(page: ConsolePage, plan: Plan) -> bool:
    """Whether a page is switched on, and has something to show."""
    if page is TOOLS and not plan.config.mcp:
        return False
    if page is USAGE and usage_path(plan, "usage") is None:
        return False
    return plan.config.console.serves(page)


def usage_path(plan: Plan, answer: str) -> str | None:
    """The path at which an own answer about usage is routed, None where it is not."""
    for route in plan.routes:
        if route.answer is not None and route.answer.name == answer:
            return route.templates[0][0]
    return None


def with_navigation(html: bytes, plan: Plan, page: ConsolePage) -> bytes:
    """The HTML of a page with its header and the fields for a token, and with the address of the
    session if people sign in."""
    session = f'<meta name="sign-in" content="{_root(page)}console/session">\n'
    html = html.replace(_SIGN_IN, session.encode() if is_served(SIGN_IN, plan) else b"")
    html = html.replace(_TOKEN, _TOKEN_FIELDS)
    return html.replace(_HEADER, header(plan, page).encode())


def header(plan: Plan, page: ConsolePage) -> str:
    """The header of a page, as HTML. Its addresses are relative: a proxy may add a prefix."""
    root = _root(page)
    served = (other for other in PAGES if other.label and is_served(other, plan))
    links = "".join(_link(other, page, root) for other in served)
    return f"""<header class="bar">
<a class="brand" href="{root or "./"}"><img src="{root}console/page/mark.svg" alt="" width="24" \
height="24"><span>Modelway</span></a>
<nav aria-label="Pages">{links}</nav>
</header>"""


def _root(page: ConsolePage) -> str:
    """The relative address of the root, "" on the home page."""
    return "../" * (page.path.count("/") - 1)


def _link(page: ConsolePage, current: ConsolePage, root: str) -> str:
    address = root + page.path.removeprefix("/") or "./"
    mark = ' aria-current="page"' if page is current else ""
    return f'<a href="{address}"{mark}>{page.label}</a>'
