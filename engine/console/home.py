"""The platform's home page, made on the server: it works without any script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from engine.console.asset import Asset, respond
from engine.console.base_url import base_of
from engine.console.chat_formats import Format, formats, models
from engine.console.code_snippets import snippets
from engine.exchange.exchange import Exchange, Handler, Response
from engine.plan.route import Plan

_ADDRESSES = 32
_OPERATIONS = 4
"""How many operations are shown of a model."""

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Modelway</title>
<meta name="description" content="One address for many models.">
<link rel="icon" href="console/page/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="console/page/style.css">
<link rel="stylesheet" href="console/page/home.css">
<script src="console/page/theme.js"></script>
<script type="module" src="console/page/home.js"></script>
</head>
"""


def home(plan: Plan) -> Handler:
    """A handler for the page, made once for each of a few addresses it is reached at."""
    offered = formats(plan)
    known = models(plan, offered)

    @lru_cache(maxsize=_ADDRESSES)
    def made(base: str) -> Asset:
        return Asset(_page(plan, base, offered, known).encode(), "text/html; charset=utf-8")

    def handle(exchange: Exchange) -> Response:
        return respond(made(base_of(exchange, plan.config.server)), exchange)

    return handle


def _page(plan: Plan, base: str, offered: Sequence[Format], known: list[dict[str, Any]]) -> str:
    """The page, as one text."""
    chat = next((one for one in offered if one.name in ("chat", "responses")), None)
    address = base + (chat.prefix if chat is not None else "")
    cards = "".join(_format(one, base, known) for one in offered)
    none = "<p>No chat format is routed here. The reference lists what is.</p>"
    return f"""{_HEAD}<body>
<a class="skip" href="#main">Skip to content</a>
{_header(plan)}
<main id="main">
<section class="hero">
<h1>One address, every model</h1>
<p class="lead">Keep the client you have. Point it at this address and use the token that this
platform gave you as its API key.</p>
<p class="label" id="base-label">Base address</p>
<p class="address"><code id="base" aria-labelledby="base-label">{escape(address)}</code></p>
{_ways(plan)}
</section>
<section aria-labelledby="formats">
<h2 id="formats">Formats</h2>
<p class="muted">Each takes the token where its own SDK puts it. Put yours into the variable
<code>TOKEN</code> first.</p>
{cards or none}
</section>
<section aria-labelledby="models">
<h2 id="models">Models</h2>
{_models(plan, offered, known)}
</section>
</main>
<footer class="foot">Served by Modelway</footer>
</body>
</html>
"""


def _header(plan: Plan) -> str:
    links = ['<a href="./" aria-current="page">Home</a>']
    if plan.config.console.playground:
        links.append('<a href="console/playground">Playground</a>')
    if plan.config.console.docs:
        links.append('<a href="docs">Reference</a>')
    return f"""<header class="bar">
<a class="brand" href="./"><img src="console/page/mark.svg" alt="" width="24" height="24">
<span>Modelway</span></a>
<nav aria-label="Pages">{"".join(links)}</nav>
</header>"""


def _ways(plan: Plan) -> str:
    said = plan.config.console
    ways = []
    if said.playground:
        ways.append('<a class="button main" href="console/playground">Try it in the playground</a>')
    if said.docs:
        ways.append('<a class="button" href="docs">Read the reference</a>')
    return f'<p class="ways">{"".join(ways)}</p>' if ways else ""


def _format(offered: Format, base: str, known: list[dict[str, Any]]) -> str:
    """A format with its snippets behind tabs that are radio buttons: they need no script."""
    serving = (m["id"] for m in known if offered.name in m["formats"] and "*" not in m["id"])
    name = offered.name
    tabs, panels = [], []
    for number, (language, text) in enumerate(snippets(offered, base, next(serving, "MODEL"))):
        tab, chosen = f"{name}-{number}", " checked" if number == 0 else ""
        tabs.append(
            f'<input type="radio" name="{name}" id="{tab}"{chosen}>'
            f'<label for="{tab}">{language}</label>'
        )
        label = escape(f"{offered.title}, {language}")
        panels.append(
            f'<pre class="panel" tabindex="0" role="region" aria-label="{label}">'
            f"<code>{escape(text)}</code></pre>"
        )
    return f"""<article class="card" aria-labelledby="{name}">
<div class="head"><h3 id="{name}">{escape(offered.title)}</h3>
<code class="path"><b>POST</b> {escape(offered.path)}</code></div>
<fieldset class="tabs"><legend class="hidden">Language</legend>
{"".join(tabs)}{"".join(panels)}
</fieldset>
</article>
"""


def _models(plan: Plan, offered: Sequence[Format], known: list[dict[str, Any]]) -> str:
    if not known:
        return '<p class="muted">No models are configured.</p>'
    titles = {one.name: one.title for one in offered}
    priced = any("price" in model for model in known)
    currency = escape(plan.config.currency)
    prices = f'<th scope="col" class="number">{currency} for a million tokens in / out</th>'
    rows = "".join(_row(model, titles, priced) for model in known)
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="List of models"><table>
<thead><tr><th scope="col">Ask for</th><th scope="col">For</th>
{prices if priced else ""}</tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _row(model: dict[str, Any], titles: dict[str, str], priced: bool) -> str:
    chips = "".join(f'<span class="chip">{escape(titles[n])}</span>' for n in model["formats"])
    chips = chips or _operations(model["operations"])
    title = model["title"] if model["title"] != model["id"] else ""
    price = model.get("price")
    said = f"{price['input']:g} / {price['output']:g}" if price else "&ndash;"
    cell = f'<td class="number">{said}</td>' if priced else ""
    words = f' <span class="muted">{escape(title)}</span>' if title else ""
    return (
        f'<tr><th scope="row"><code>{escape(model["id"])}</code>{words}</th>'
        f"<td>{chips}</td>{cell}</tr>"
    )


def _operations(names: Sequence[str]) -> str:
    """What a model can do that has none of the formats."""
    shown = ", ".join(f"<code>{escape(name)}</code>" for name in names[:_OPERATIONS])
    more = f" and {len(names) - _OPERATIONS} more" if len(names) > _OPERATIONS else ""
    return f"{shown}{more}"
