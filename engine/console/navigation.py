"""Which pages are served, and the header that all of them share, with its links to the others."""

from __future__ import annotations

from engine.config.console import PAGES, TOOLS, USAGE, ConsolePage
from engine.plan.route import Plan

HEADER = b"<!-- header -->"
"""What an HTML file has in the place of the header."""


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


def header(plan: Plan, page: ConsolePage) -> str:
    """The header of a page, as HTML. Its addresses are relative: a proxy may add a prefix."""
    root = "../" * (page.path.count("/") - 1)
    linked = (other for other in PAGES if other.label and is_served(other, plan))
    links = "".join(_link(other, page, root) for other in linked)
    return f"""<header class="bar">
<a class="brand" href="{root or "./"}"><img src="{root}console/page/mark.svg" alt="" width="24" \
height="24"><span>Modelway</span></a>
<nav aria-label="Pages">{links}</nav>
</header>"""


def _link(page: ConsolePage, current: ConsolePage, root: str) -> str:
    address = root + page.path.removeprefix("/") or "./"
    mark = ' aria-current="page"' if page is current else ""
    return f'<a href="{address}"{mark}>{page.label}</a>'
