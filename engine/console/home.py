"""The home page, rendered on the server: it works without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape

from engine import dialects
from engine.config.console import HOME
from engine.console.agent_settings import agent_cards
from engine.console.asset import Asset, respond
from engine.console.chat_formats import RoutedFormat, example_model, models, routed_formats
from engine.console.code_snippets import snippets
from engine.console.model_table import model_table
from engine.console.navigation import header
from engine.edge.origin import base_of
from engine.exchange.exchange import Exchange, Handler, Response
from engine.plan.plan import Plan
from engine.values.trees import Json

_MAX_BASES = 32
_AGENTS = """<section aria-labelledby="agents">
<h2 id="agents">Agents and SDKs</h2>
<p class="muted">What each needs to use this address. The settings read the token from the variable
<code>MODELWAY_TOKEN</code>; <code>modelway connect</code> writes them and takes them back.</p>
{}</section>
"""

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
<script type="module" src="console/page/models.js"></script>
</head>
"""


def home(plan: Plan) -> Handler:
    """A handler for the page, which is rendered once for each base URL."""
    formats = routed_formats(plan)

    @lru_cache(maxsize=_MAX_BASES)
    def page(base: str) -> Asset:
        entries = models(plan, formats)
        return Asset(_page(plan, base, formats, entries).encode(), "text/html; charset=utf-8")

    def handle(exchange: Exchange) -> Response:
        return respond(page(base_of(exchange, plan.config.server)), exchange)

    return handle


def _page(plan: Plan, base: str, formats: Sequence[RoutedFormat], entries: list[Json]) -> str:
    """The HTML of the page."""
    default = dialects.default().chat_formats
    chat = next((routed for routed in formats if routed.format in default), None)
    address = base + (chat.prefix if chat is not None else "")
    cards = "".join(_format(routed, base, entries) for routed in formats)
    models_of = {routed.name: example_model(routed.name, entries) for routed in formats}
    agents = agent_cards(formats, base, models_of)
    no_formats = "<p>No chat format is routed here. The reference lists the operations.</p>"
    return f"""{_HEAD}<body>
<a class="skip" href="#main">Skip to content</a>
{header(plan, HOME)}
<main id="main">
<section class="hero">
<h1>One address, every model</h1>
<p class="lead">Keep your client. Set its base URL to this address, and use your token as its
API key.</p>
<p class="label" id="base-label">Base address</p>
<p class="address"><code id="base" aria-labelledby="base-label">{escape(address)}</code></p>
{_buttons(plan)}
</section>
<section aria-labelledby="formats">
<h2 id="formats">Formats</h2>
<p class="muted">Each takes the token where its SDK puts it. The snippets read it from the variable
<code>TOKEN</code>.</p>
{cards or no_formats}
</section>
<section aria-labelledby="models">
<h2 id="models">Models</h2>
{model_table(plan, formats, entries)}
</section>
{_AGENTS.format(agents) if agents else ""}</main>
<footer class="foot">Served by Modelway</footer>
</body>
</html>
"""


def _buttons(plan: Plan) -> str:
    console = plan.config.console
    buttons = []
    if console.playground:
        buttons.append(
            '<a class="button main" href="console/playground">Try it in the playground</a>'
        )
    if console.docs:
        buttons.append('<a class="button" href="docs">Read the reference</a>')
    return f'<p class="buttons">{"".join(buttons)}</p>' if buttons else ""


def _format(routed: RoutedFormat, base: str, entries: list[Json]) -> str:
    """A format with its snippets in tabs that are radio buttons, which need no script."""
    name = routed.name
    model = example_model(name, entries)
    tabs, panels = [], []
    for number, (language, text) in enumerate(snippets(routed, base, model)):
        tab, checked = f"{name}-{number}", " checked" if number == 0 else ""
        tabs.append(
            f'<input type="radio" name="{name}" id="{tab}"{checked}>'
            f'<label for="{tab}">{language}</label>'
        )
        label = escape(f"{routed.title}, {language}")
        panels.append(
            f'<pre class="panel" tabindex="0" role="region" aria-label="{label}">'
            f"<code>{escape(text)}</code></pre>"
        )
    return f"""<article class="card" aria-labelledby="{name}">
<div class="head"><h3 id="{name}">{escape(routed.title)}</h3>
<code class="path"><b>POST</b> {escape(routed.path)}</code></div>
<fieldset class="tabs"><legend class="hidden">Language</legend>
{"".join(tabs)}{"".join(panels)}
</fieldset>
</article>
"""
