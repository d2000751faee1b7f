"""Which pages are served, and the header that all of them share, with its links to the others."""

from __future__ import annotations

from engine.config.console import PAGES, TOOLS, ConsolePage
from engine.plan.route import Plan

HEADER = b"<!-- header -->"
"""What an HTML file has in the place of the header."""


def is_served(page: ConsolePage, plan: Plan) -> bool:
    """Whether a page is switched on, and has something to show."""
    return plan.config.console.serves(page) and (page is not TOOLS or bool(plan.config.mcp))


def header(plan: Plan, page: ConsolePage) -> str:
    """The header of a page, as HTML. Its addresses are relative: a proxy may add a prefix."""
    root = "../" * (page.path.count("/") - 1)
    links = "".join(_link(other, page, root) for other in PAGES if is_served(other, plan))
    return f"""<header class="bar">
<a class="brand" href="{root or "./"}"><img src="{root}console/page/mark.svg" alt="" width="24" \
height="24"><span>Modelway</span></a>
<nav aria-label="Pages">{links}</nav>
</header>"""


def _link(page: ConsolePage, current: ConsolePage, root: str) -> str:
    address = root + page.path.removeprefix("/") or "./"
    mark = ' aria-current="page"' if page is current else ""
    return f'<a href="{address}"{mark}>{page.label}</a>'
